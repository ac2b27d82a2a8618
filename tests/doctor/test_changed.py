"""Two reports side by side: what is new stands first and ends with 1, and lines may move."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests.doctor.reports import finding, report, worded

from coldwarm.cli.doctor import _command
from coldwarm.contracts import codec
from coldwarm.doctor.changed_findings import document, new, pairs
from coldwarm.errors import UsageError
from coldwarm.report import sarif, terminal

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.doctor import DoctorReport, Finding
    from coldwarm.report.document import Document


def of(*found: Finding) -> DoctorReport:
    made = report(found)
    return replace(made, account=replace(made.account, total_s=10.0))


def said(before: DoctorReport, after: DoctorReport) -> Document:
    return document(before, after, pairs(before, after))


SHAPES = worded(finding("shape-change", 2.0))
CLOCK = worded(finding("missing-sync-timing", None))


def test_what_is_new_and_what_is_gone_is_told() -> None:
    before, after = of(SHAPES), of(CLOCK)
    assert new(pairs(before, after)) == [CLOCK]
    lines = terminal.text(said(before, after), 80).splitlines()
    assert lines[0].startswith("1 finding new, 1 gone, 0 as before;")
    rows = [line.split() for line in lines if "-" in line]
    assert [rows[0][0], rows[1][0]] == [CLOCK.pattern, SHAPES.pattern]


def test_a_line_that_moved_is_the_same_finding() -> None:
    moved = replace(SHAPES, line=SHAPES.line + 30, cost_s=1.0)
    assert pairs(of(SHAPES), of(moved)) == [(SHAPES, moved)]
    assert new(pairs(of(SHAPES), of(replace(moved, function="other")))) != []
    twice = of(SHAPES, moved)
    assert pairs(twice, of(moved)) == [(moved, None), (SHAPES, moved)]


def test_what_does_not_matter_is_nothing_new() -> None:
    assert pairs(of(), of(finding("shape-change", 1e-6))) == []


@pytest.mark.parametrize(("swapped", "status"), [(False, 1), (True, 0)])
def test_the_command_ends_with_one_where_something_is_new(
    tmp_path: Path, *, swapped: bool, status: int
) -> None:
    names = ["before.json", "after.json"]
    for name, one in zip(names, (of(), of(SHAPES)), strict=True):
        (tmp_path / name).write_bytes(codec.encode(one))
    paths = [str(tmp_path / name) for name in (names[::-1] if swapped else names)]
    done = CliRunner().invoke(_command, ["--diff", *paths])
    assert done.exit_code == status, done.output
    refused = CliRunner().invoke(_command, ["--diff", *paths, "--format", "json"])
    assert isinstance(refused.exception, UsageError)


def test_findings_are_results_of_sarif() -> None:
    told = json.loads(sarif.text(said(of(), of(SHAPES, CLOCK))))
    (run,) = told["runs"]
    assert told["version"] == "2.1.0"
    ids = [one["id"] for one in run["tool"]["driver"]["rules"]]
    assert ids == [SHAPES.pattern, CLOCK.pattern]
    for one in run["results"]:
        assert ids[one["ruleIndex"]] == one["ruleId"]
        place = one["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] >= 1
        assert place["artifactLocation"]["uri"]
        assert one["message"]["text"]
