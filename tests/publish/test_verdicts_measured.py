"""Real evidence of patterns and claims: it holds, and whoever changes it is found out."""

from __future__ import annotations

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.publish import forging
from tests.publish.conftest import program

from coldwarm.catalogue.measure import Session
from coldwarm.catalogue.spec import claims, patterns
from coldwarm.publish import verify
from coldwarm.publish.archive import package
from coldwarm.publish.verify import exit_code
from coldwarm.runner.functions import bench

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.publish.conftest import Call, Command

    from coldwarm.runner.functions.targets import Request
    from coldwarm.runner.suite import Outcome

pytestmark = pytest.mark.slow
PATTERNS, CLAIMS = "patterns/patterns.json", "claims/claims.json"
BENCH = "jit-outermost"
POINT = f"{BENCH}/width_8"
"""The run of one point of its grid."""
CLAIM = "checkpoint-costs-20-30"
PLANTED = "Zx9-secret-of-mine"


def _short(what: Request, folder: Path) -> Outcome:
    """Measure a few processes only, however long a busy machine takes for these."""
    options = replace(what.options, time_budget_s=600.0, min_runs=2, max_runs=2)
    return bench.run(replace(what, options=options), folder)


@pytest.fixture(scope="session")
def measured_verdicts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of patterns and one of claims: facts, a bench, and claims that rest on both."""
    pytest.importorskip("jax")
    top = tmp_path_factory.mktemp("verdicts")
    for_patterns = Session(top / "p", "patterns", _short)
    found = [patterns()["key-reuse"], patterns()[BENCH]]
    assert not for_patterns.measure(found, resume=False)[1]
    for_claims = Session(top / "c", "claims", _short)
    named = [claims()[n] for n in ("second-call-instant", "rule-split-keys", CLAIM)]
    assert not for_claims.measure(named, resume=False)[1]
    return top / "p", top / "c"


@pytest.fixture(scope="session")
def judged(measured_verdicts: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of them, which is copied and never changed."""
    folder = tmp_path_factory.mktemp("judged") / "s"
    done = program("create", *measured_verdicts, "--id", "s", "--out", folder, "--offline")
    assert done.returncode == 0, done.stderr
    return folder


def test_it_holds_with_a_page_and_without_journals(judged: Path, call: Call) -> None:
    assert not list(judged.rglob("journal.jsonl"))
    page = (judged / "report.html").read_text()
    assert "second-call-instant" in page
    assert "DON’T" in page
    code, out, err = call("verify", judged)
    assert code == 0, err
    n_cases = 2 * len(patterns()[BENCH].benches) + 2
    assert f"{n_cases} cases computed again" in out
    assert "5 verdicts on patterns and claims judged again" in out


def _set(place: int, field: str, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        document["results"][place][field] = value

    return change


def _facts(document: Any) -> None:
    document["results"][0]["sheets"][0]["facts"]["equal"] = True


def _figure(document: Any) -> None:
    document["results"][0]["figures"][0]["value"] *= 2


def _beside(document: Any) -> None:
    document["results"][1]["patterns"][0]["verdict"] = "opposite"


def _pointing(document: Any) -> None:
    document["results"][2]["paths"]["gradient"] = f"../patterns/{POINT}"


def _figure_of_a_point(document: Any) -> None:
    document["results"][1]["points"][0]["ratio"] = 1234.5


def _another_point(document: Any) -> None:
    points = document["results"][1]["points"]
    points[0]["given"], points[1]["given"] = points[1]["given"], points[0]["given"]


def _without_run(document: Any) -> None:
    document["results"].pop()


def _of_another(document: Any) -> None:
    other = patterns()["jit-hot-loop"]
    document["results"][1] |= {"pattern": other.id, "pattern_sha256": other.sha256}


def _twice(document: Any) -> None:
    document["results"].append(document["results"][0])


def _without_evidence(document: Any) -> None:
    reason = {"code": "gpu_unavailable"}
    bare: dict[str, Any] = {"sheets": [], "figures": [], "paths": {}, "versions": {}}
    document["results"][0] |= {"verdict": "not_tested", "reason": reason, **bare}


CHANGES = {
    "that it needs a GPU": (CLAIMS, _without_evidence, CLAIMS),
    "whose run it is": (PATTERNS, _of_another, PATTERNS),
    "a result that is there twice": (PATTERNS, _twice, PATTERNS),
    "the verdict of a claim": (CLAIMS, _set(0, "verdict", "not_tested"), CLAIMS),
    "the figure of a claim": (CLAIMS, _figure, CLAIMS),
    "the versions of a claim": (CLAIMS, _set(0, "versions", {"jax": "9.9"}), CLAIMS),
    "a pattern that a claim rests on": (CLAIMS, _beside, CLAIMS),
    "a run that is elsewhere": (CLAIMS, _pointing, f"claims/../patterns/{POINT}/"),
    "a run that nothing points to": (CLAIMS, _without_run, f"claims/{CLAIM}/"),
    "the verdict of a pattern": (PATTERNS, _set(0, "verdict", "opposite"), PATTERNS),
    "what a pattern measures": (PATTERNS, _set(1, "measures", "programs"), PATTERNS),
    "what was seen": (PATTERNS, _facts, PATTERNS),
    "the ratio of a pattern": (PATTERNS, _figure_of_a_point, PATTERNS),
    "the point of a ratio": (PATTERNS, _another_point, PATTERNS),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whoever_changes_it_and_makes_the_hashes_anew_is_found_out(
    judged: Path, tmp_path: Path, change: str
) -> None:
    path, edit, named = CHANGES[change]
    folder = forging.copy(judged, tmp_path / "s")
    forging.edit(folder, path, edit)
    found = verify.verify(folder).told(folder)
    assert exit_code(found) == 5, found.faults[:1]
    assert found.faults[0].path.startswith(named), found.faults[0]


def test_a_sample_that_was_changed_is_found_out(judged: Path, tmp_path: Path) -> None:
    folder = forging.copy(judged, tmp_path / "s")
    path = f"patterns/{POINT}/cases/do.json"

    def slower(document: Any) -> None:
        for seen in document["observations"]:
            for block in seen["blocks"]:
                block["samples_s"] = [2 * sample for sample in block["samples_s"]]

    forging.edit(folder, path, slower)
    found = verify.verify(folder).told(folder)
    assert exit_code(found) == 5
    assert found.faults[0].path.startswith(f"patterns/{POINT}/")


def test_what_the_report_says_of_verdicts_has_to_follow(judged: Path, tmp_path: Path) -> None:
    folder = forging.copy(judged, tmp_path / "s")

    file = folder / "validation_report.json"
    document = json.loads(file.read_bytes())
    document["verdicts"][0]["verdicts"]["key-reuse"] = "opposite"
    file.write_text(json.dumps(document))
    forging.of_index(folder)
    found = verify.verify(folder).told(folder)
    assert exit_code(found) == 5
    assert found.faults[0].path == "validation_report.json"


def test_bytes_that_are_not_the_named_ones_are_found_first(judged: Path, tmp_path: Path) -> None:
    folder = forging.copy(judged, tmp_path / "s")
    file = folder / CLAIMS
    file.write_bytes(file.read_bytes() + b"\n")
    found = verify.verify(folder).told(folder)
    assert (exit_code(found), found.faults[0].path) == (3, CLAIMS)


def test_a_folder_a_snapshot_and_its_archive_are_judged_alike(
    judged: Path, measured_verdicts: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    archive = Path(package(judged, tmp_path / "s.tar.gz").path)
    for place in (measured_verdicts[1], judged, archive):
        code, out, err = command("claims", "judge", place)
        assert (code, err) == (0, "")
        assert "no verdict changed" in out
        assert command("claims", "compare", measured_verdicts[1], place)[0] == 0
    for place in (measured_verdicts[0], judged, archive):
        code, out, err = command("claims", "pool", measured_verdicts[1], place)
        assert (code, err) == (0, "")
        assert "in 2 of 2" in out
        assert command("patterns", "judge", place)[0] == 0
        assert command("patterns", "compare", place, archive)[0] == 0


def test_a_changed_verdict_is_told(
    measured_verdicts: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    folder = tmp_path / "c"
    shutil.copytree(measured_verdicts[1], folder)
    index = folder / "claims.json"
    document = json.loads(index.read_bytes())
    said = document["results"][0]["verdict"]
    document["results"][0]["verdict"] = "outdated"
    index.write_text(json.dumps(document))
    code, out, _ = command("claims", "judge", folder, "--json")
    changed = [{"claim": "second-call-instant", "stored": "outdated", "judged": said}]
    assert (code, json.loads(out)) == (3, changed)
    for line in (("claims", "compare", measured_verdicts[1], folder), ("report", folder)):
        code, out, err = command(*line)
        assert (code, out) == (3, "")
        assert "results[0].verdict" in err


def test_a_report_of_it_is_one_file_without_network(
    judged: Path, measured_verdicts: tuple[Path, Path], tmp_path: Path, command: Command
) -> None:
    assert command("report", *measured_verdicts, "--out", tmp_path / "r.html")[0] == 0
    page = html.unescape((tmp_path / "r.html").read_text())
    assert "default-src 'none'" in page
    assert not re.findall(r'\b(?:src|href)="(?!#|data:)', page)
    assert page.count("<table") == page.count('scope="col" data-sort="text">Verdict') == 2
    code, out, _ = command("report", judged, "--format", "markdown")
    assert code == 0
    written = judged.with_name("s-report.md")
    assert str(written) in out
    assert "| `second-call-instant`<br>" in written.read_text()
    written.unlink()
    code, _, err = command("report", judged, "--format", "svg", "--out", tmp_path / "figures")
    assert code == 2
    assert "--format html, markdown" in err
    assert command("snapshot", "verify", judged)[0] == 0


def test_a_resumed_folder_shows_what_is_left(tmp_path: Path) -> None:
    begun: list[tuple[str, int, int]] = []
    names = ("key-reuse", "key-constant-in-loop")
    specs = [patterns()[name] for name in names]
    for found in (specs[:1], specs):
        session = Session(
            tmp_path / "p",
            "patterns",
            _short,
            begun=lambda name, number, of, _: begun.append((name, number, of)),
        )
        session.measure(found, resume=found == specs)
    assert begun == [(names[0], 1, 1), (names[1], 2, 2)]
    assert (tmp_path / "p" / "environment.json").is_file()


def test_what_is_private_in_a_run_is_masked_with_its_hashes_anew(
    measured_verdicts: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: Call,
) -> None:
    folder = tmp_path / "p"
    shutil.copytree(measured_verdicts[0], folder)
    run = folder / POINT
    (run / "journal.jsonl").unlink()
    case = run / "cases" / "do.json"
    document = json.loads(case.read_bytes())
    document["observations"][0]["stderr_tail"] = f"no file /srv/{PLANTED}/x"
    document["observations"][0]["null_reasons"].pop("stderr_tail", None)
    case.write_text(json.dumps(document))
    forging.rows(run / "suite.json")
    monkeypatch.setenv("ACME_TOKEN", PLANTED)
    snapshot = call.create(folder, tmp_path / "s")
    assert not [path for path in snapshot.rglob("*.*") if PLANTED in path.read_text()]
    assert "/srv/***/x" in (snapshot / "patterns" / POINT / "cases" / "do.json").read_text()
    code, _, err = call("verify", snapshot)
    assert code == 0, err
