"""``coldwarm snapshot create``: what is in a snapshot, what is refused, the same bytes again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from tests.contracts import samples
from tests.contracts.samples import index
from tests.publish.conftest import OTHER, QUICK, Call, files, program, write_run
from tests.stats import results

from coldwarm.contracts.codec import decode_as, load_as
from coldwarm.contracts.observation import Gate
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Measured
from coldwarm.contracts.snapshot import SnapshotIndex, SnapshotMade, ValidationReport
from coldwarm.publish import documents, layout
from coldwarm.publish.content import Content, run_of
from coldwarm.publish.storage import sha256_of
from coldwarm.runner import recompute
from coldwarm.runner.recompute import validated

if TYPE_CHECKING:
    from pathlib import Path


_WRONG = Gate(
    passed=False,
    max_abs_error=1.0,
    max_relative_error=1.0,
    tolerance=0.1,
    checked=["first_call"],
)


def edit(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps(document | changes, indent=2))


def test_every_file_has_its_place_and_is_in_the_index(snapshot: Path) -> None:
    found = files(snapshot)
    named = load_as(SnapshotIndex, snapshot / layout.INDEX).artifacts
    assert [one.path for one in named] == sorted(found.keys() - {layout.INDEX})
    for one in named:
        assert (one.bytes, one.sha256) == (len(found[one.path]), sha256_of(found[one.path]))
        part = layout.part_of(one.path)
        assert part is not None, one.path
        if part.contract:
            assert json.loads(found[one.path])["schema_version"] == part.contract
    assert layout.lacking(found) == []


def test_a_run_is_taken_as_it_is(run: Path, snapshot: Path) -> None:
    taken = {p: d for p, d in files(snapshot).items() if p.startswith("results/quick/")}
    assert taken == {f"results/quick/{path}": data for path, data in files(run).items()}


def test_what_is_no_part_of_a_run_is_left_where_it_is(
    run: Path, call: Call, tmp_path: Path
) -> None:
    for name in ("notes.txt", ".lock", "work/cache.bin", "cases/draft.txt"):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).write_text("mine")
    found = files(call.create(run, tmp_path / "s"))
    assert not [path for path, data in found.items() if data == b"mine"]


def test_the_same_results_give_the_same_bytes(run: Path, call: Call, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "elsewhere" / "another name")
    other = write_run(tmp_path / "run2", seed=7)
    one, two = tmp_path / "a" / "one", tmp_path / "b" / "two"
    for out, given in ((one, (run, other)), (two, (other, copy))):
        arguments = ("--id", "s", "--out", out, "--reproducible", *QUICK)
        assert call("create", *given, *arguments)[0] == 0
    assert files(one) == files(two)
    assert {path.parts[1] for path in map(_pure, files(one)) if path.parts[0] == "results"} == {
        "quick",
        "quick-2",
    }


def _pure(path: str) -> Any:
    from pathlib import PurePosixPath

    return PurePosixPath(path)


def test_without_that_a_snapshot_says_when_it_was_made(
    run: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/something")
    made = load_as(SnapshotIndex, call.create(run, tmp_path / "a") / layout.INDEX)
    assert made.generated_at > "2026-01-02T03:05:05+00:00"
    assert made.workflow == {"GITHUB_REPOSITORY": "someone/something"}
    steady = call.create(run, tmp_path / "b", "--reproducible", name="s2")
    again = load_as(SnapshotIndex, steady / layout.INDEX)
    assert (again.generated_at, again.workflow) == ("2026-01-02T03:05:05+00:00", {})


def test_an_id_stands_for_one_content(run: Path, call: Call, tmp_path: Path) -> None:
    folder = call.create(run, tmp_path / "a")
    before = files(folder)
    again = ("create", run, "--id", "s1", *QUICK, "--out")
    assert "already holds a snapshot" in call.refused(*again, folder)
    assert "is taken by another snapshot" in call.refused(*again, tmp_path / "b")
    assert not (tmp_path / "b").exists()
    registry = tmp_path / "all.json"
    assert call("registry", "add", folder, "--registry", registry)[0] == 0
    apart = tmp_path / "apart" / "c"
    assert "is taken by another" in call.refused(*again, apart, "--registry", registry)
    assert files(folder) == before


def test_the_same_content_may_have_its_id_twice(run: Path, call: Call, tmp_path: Path) -> None:
    one = call.create(run, tmp_path / "a", "--reproducible")
    two = call.create(run, tmp_path / "b", "--reproducible")
    assert files(one) == files(two)
    other = write_run(tmp_path / "run2", seed=7)
    refused = call.refused(
        "create", other, "--id", "s1", "--out", tmp_path / "c", *QUICK, "--reproducible"
    )
    assert "is taken by another snapshot" in refused


def test_a_folder_that_holds_anything_is_refused(run: Path, call: Call, tmp_path: Path) -> None:
    again = ("create", run, "--id", "s1", *QUICK, "--out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / ".hidden").touch()
    assert "is not empty" in call.refused(*again, tmp_path / "full")
    (tmp_path / "file").touch()
    assert "is a file or a link" in call.refused(*again, tmp_path / "file")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert "is a file or a link" in call.refused(*again, tmp_path / "link")
    (tmp_path / "empty").mkdir()
    assert call(*again, tmp_path / "empty")[0] == 0


@pytest.mark.parametrize("name", ["", "a b", "../up", ".hidden", "a/b", "x" * 101, "é", "a\nb"])
def test_an_id_is_a_plain_name(run: Path, call: Call, tmp_path: Path, name: str) -> None:
    call.refused("create", run, "--id", name, "--out", tmp_path / "s", *QUICK)
    assert not (tmp_path / "s").exists()


def test_results_that_are_not_valid_are_refused(run: Path, call: Call, tmp_path: Path) -> None:
    line = ("create", run, "--id", "s1", "--out", tmp_path / "s", *QUICK)
    case = run / "cases" / f"{OTHER}.json"
    case.write_text(case.read_text().replace("0.5", "0.4", 1))
    refused = call.refused(*line, code=3)
    assert "not valid, so nothing is published" in refused
    assert OTHER in refused
    index = json.loads((run / "suite.json").read_text())
    index["cases"][1]["sha256"] = sha256_of(case.read_bytes())
    edit(run / "suite.json", cases=index["cases"], n_ok=1, n_warn=1)
    assert "n_ok" in call.refused(*line, code=3)
    assert not (tmp_path / "s").exists()


def test_what_is_no_finished_run_is_refused(run: Path, call: Call, tmp_path: Path) -> None:
    line = ("--id", "s1", "--out", tmp_path / "s", *QUICK)
    assert "holds no run" in call.refused("create", tmp_path, *line)
    assert "holds no run" in call.refused("create", run / "cases" / f"{OTHER}.json", *line)
    assert "is given twice" in call.refused("create", run, run, *line)
    missing = {"finished_at": {"code": "interrupted"}}
    edit(run / "answers.json", complete=False)
    said = hashlib.sha256((run / "answers.json").read_bytes()).hexdigest()
    unfinished = {"complete": False, "finished_at": None, "null_reasons": missing}
    edit(run / "suite.json", answers_sha256=said, **unfinished)
    assert "was interrupted" in call.refused("create", run, *line)


def test_a_snapshot_is_there_whole_or_not_at_all(
    run: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    refused = call.refused(
        "create", run, "--id", "s1", "--out", tmp_path / "in" / "s", *QUICK, code=3
    )
    assert "No space left on device" in refused
    assert list((tmp_path / "in").iterdir()) == []


def test_every_figure_has_its_provenance(snapshot: Path) -> None:
    report = load_as(ValidationReport, snapshot / layout.VALIDATION)
    assert {one.name for one in report.figures} == {"ttfr", "ttfr_process", "call"}
    found = files(snapshot)
    cases = recompute.read(snapshot / "results" / "quick").cases
    for one in report.figures:
        assert one.source.provenance == "measured_here"
        assert one.source.sha256 == sha256_of(found[one.source.path])
        case = cases[one.case]
        kept = [cold.seconds for cold in case.cold if cold.cache_mode == one.cache_mode]
        warm = None if case.warm is None else case.warm.call_s
        summary = kept[0][one.name] if kept else warm
        assert summary is not None
        assert (one.median_s, one.low_s) == (summary.median, summary.low)


def test_gates_and_rejected_processes_are_told() -> None:
    why = because("not_filled")
    made = results.case(1)
    gone = replace(made.observations[0], status="rejected", reason=why, gate=None)
    wrong = replace(made.observations[0], gate=_WRONG)
    case = replace(made, observations=[*made.observations, gone, gone, wrong])
    suite = index()
    path = f"cases/{case.case}.json"
    row = replace(suite.cases[0], case=case.case, path=path)
    measured = Measured(
        "",
        replace(suite, cases=[row]),
        {case.case: case},
        {},
        suite.environment_sha256,
        samples.environment(),
    )
    runs = run_of(measured, "results/quick", {path: b"its file"})
    content = Content(runs, [], [])
    report = documents.validation_report("s1", "2026-01-02T03:05:05+00:00", content)
    assert [(one.reason, one.n_processes) for one in report.rejected] == [(why, 2)]
    assert [(one.passed, one.n_failed) for one in report.gates] == [(False, 1)]


def test_what_was_made_is_told_as_json(run: Path, tmp_path: Path) -> None:
    done = program(
        "create", run, "--id", "s1", "--out", tmp_path / "s", *QUICK, "--json",
        "--author", "A. Person",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = decode_as(SnapshotMade, done.stdout.encode())
    assert told.snapshot_index_sha256 == sha256_of((tmp_path / "s" / layout.INDEX).read_bytes())
    assert told.null_reasons["lock"].code == "no_index_asked"
    fields = {one.field for one in told.identifying}
    assert "CITATION.cff: authors" in fields
    assert "results/quick/environment.json: distributions" in fields


@pytest.mark.slow
def test_the_reports_are_of_the_snapshot_and_the_same_again(
    measured: Path, call: Call, tmp_path: Path
) -> None:
    copy = shutil.copytree(measured, tmp_path / "a-private-name" / "of-a-run")
    made = []
    for given, out in ((measured, tmp_path / "a" / "s"), (copy, tmp_path / "b" / "s")):
        line = ("--id", "s1", "--out", out, "--offline", "--reproducible")
        assert call("create", given, *line)[0] == 0
        made.append(files(out))
    assert made[0] == made[1]
    assert made[0][layout.PAGE].startswith(b"<!doctype html>")
    assert made[0][layout.PDF].startswith(b"%PDF-")
    assert b"a-private-name" not in made[1][layout.PAGE]
    assert call("verify", tmp_path / "a" / "s")[0] == 0


def test_validate_finds_nothing_wrong_in_a_snapshot(snapshot: Path) -> None:
    (snapshot / layout.BUNDLE).write_text("{}")
    found = list(validated(snapshot))
    assert [one.fault for one in found if one.fault] == []
    assert {one.contract for one in found} >= {
        "nextstat.snapshot_index.v1",
        "nextstat.baseline_manifest.v1",
        "coldwarm.validation_report.v1",
    }
