"""What another version has stored is computed again, or called not proved wherever it is shown."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

import pytest
from tests.publish import forgeries, forging, judged

from coldwarm.cli.snapshot import views as views_of
from coldwarm.contracts.reasons import because
from coldwarm.publish import collect, create, layout, verify
from coldwarm.report import provenance

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Command

    from coldwarm.contracts.catalogue import PatternResult

OTHER = "1" * 64
LIE = judged.pattern(verdict="opposite", reason=because("facts_otherwise"))
"""A pattern whose evidence says that it is as stated."""
HONEST = judged.pattern(
    verdict="opposite",
    reason=because("facts_otherwise"),
    sheets=[judged.sheet(side, {"equal": True}) for side in ("do", "dont")],
)
STRANGE = judged.pattern(sha256=OTHER)
"""One that this version has in another file."""


def test_verdicts_are_compared_as_they_are_judged_now(command: Command, tmp_path: Path) -> None:
    """GIVEN a verdict stored otherwise by another version THEN it is neither shown nor believed."""
    first = judged.write_patterns(tmp_path / "a")
    second = judged.write_patterns(tmp_path / "b", LIE, harness_sha256=OTHER)
    code, out, err = command("patterns", "compare", first, second)
    assert (code, out) == (0, "no verdict changed\n")
    assert " differently, and shows its own" in err
    assert "results[0].verdict" in err
    code, out, _ = command("patterns", "compare", first, second, "--json")
    assert (code, json.loads(out)) == (0, [])


def test_what_changed_in_evidence_is_still_told(command: Command, tmp_path: Path) -> None:
    first = judged.write_patterns(tmp_path / "a")
    second = judged.write_patterns(tmp_path / "b", HONEST)
    code, out, err = command("patterns", "compare", first, second)
    assert (code, err) == (1, "")
    assert "opposite" in out
    assert "not proved" not in out


@pytest.mark.parametrize("result", [LIE, judged.pattern(ratio=3.0), judged.pattern(versions={})])
def test_a_lie_of_this_version_is_not_compared(
    command: Command, tmp_path: Path, result: PatternResult
) -> None:
    first = judged.write_patterns(tmp_path / "a")
    second = judged.write_patterns(tmp_path / "b", result)
    for pair in ((first, second), (second, first)):
        code, out, err = command("patterns", "compare", *pair)
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert "results[0]" in err


@pytest.mark.parametrize("side", ["A", "B"])
def test_what_is_not_judged_again_is_not_proved_beside_its_verdict(
    command: Command, tmp_path: Path, side: str
) -> None:
    strange = judged.write_patterns(tmp_path / "a", STRANGE)
    other = judged.write_patterns(tmp_path / "b", HONEST)
    pair = (strange, other) if side == "A" else (other, strange)
    code, out, _ = command("patterns", "compare", *pair)
    assert code == 1
    assert f"{judged.PATTERN} of {side}: not judged again, its file is not the one" in out
    assert "as stated, not proved" in out
    assert "opposite, not proved" not in out
    _, out, _ = command("patterns", "compare", *pair, "--json")
    [row] = json.loads(out)
    assert row["not_proved"] == [side.lower()]


def test_claims_are_compared_as_they_are_judged_now(command: Command, tmp_path: Path) -> None:
    first = judged.write_claims(tmp_path / "a")
    lie = judged.claim(verdict="confirmed", reason=None)
    second = judged.write_claims(tmp_path / "b", lie, harness_sha256=OTHER)
    code, out, err = command("claims", "compare", first, second)
    assert (code, out) == (0, "no verdict changed\n")
    assert "differently, and shows its own" in err
    wrong = judged.write_claims(tmp_path / "c", lie)
    assert command("claims", "compare", first, wrong)[0] == 3


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_a_report_of_verdicts_shows_today_s_and_says_so(
    command: Command, tmp_path: Path, name: str
) -> None:
    folder = judged.write_patterns(tmp_path / "a", LIE, harness_sha256=OTHER)
    code, _, err = command("report", folder, "--out", tmp_path / name)
    assert code == 0, err
    text = (tmp_path / name).read_text()
    assert provenance._TERM in text
    assert "differently, and shows its own" in text
    assert ">opposite<" not in text
    assert "**opposite**" not in text
    strange = judged.write_patterns(tmp_path / "b", STRANGE)
    assert command("report", strange, "--out", tmp_path / name)[0] == 0
    assert "not proved: not judged again" in (tmp_path / name).read_text()


@pytest.fixture(scope="session")
def of_another(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of another version, which has stored a ratio that today's rules do not make."""
    run = forgeries.of_mode(measured, tmp_path_factory.mktemp("other") / "run", "other_harness")
    file = min(run.glob("cases/honest*.json"))
    document = json.loads(file.read_bytes())
    document["comparisons"][0]["ratio"] *= 2
    forging.write(file, document)
    forging.rows(run / "suite.json")
    return run


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_a_report_of_a_run_says_what_is_not_proved(
    of_another: Path, measured: Path, command: Command, tmp_path: Path, name: str
) -> None:
    code, _, err = command("report", of_another, "--out", tmp_path / name)
    assert code == 0, err
    assert provenance.sentence(1) in err
    assert provenance.sentence(1) in html.unescape((tmp_path / name).read_text())
    assert command("report", measured, "--out", tmp_path / name)[0] == 0
    assert provenance._TERM not in (tmp_path / name).read_text()


def test_the_page_of_a_snapshot_says_it_too_and_is_made_again(
    of_another: Path, tmp_path: Path
) -> None:
    views = {
        path: view for path, view in views_of(skip_missing=True).items() if path == layout.PAGE
    }
    request = create.SnapshotRequest(
        "s1", collect.collect((of_another,)), deterministic=True, sources=None, views=views
    )
    create.create(request, tmp_path / "s1")
    page = (tmp_path / "s1" / layout.PAGE).read_text()
    assert provenance.sentence(1) in html.unescape(page)
    found = verify.verify(tmp_path / "s1", views=views).told(tmp_path / "s1")
    assert not found.faults
    [why] = [one.reason for one in found.files if one.path == layout.PAGE]
    assert why == because("of_other_rules")  # and it is the page that this version makes
