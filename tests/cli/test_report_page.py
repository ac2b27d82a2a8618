"""``coldwarm report``: which format is written where, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.stats import results

from coldwarm.cli.main import cli
from coldwarm.errors import ColdwarmError, UsageError
from coldwarm.report.page import template

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(template, "script", lambda: "")  # bundling takes a second
    monkeypatch.setattr(template, "begun", lambda: None)
    return results.write(tmp_path / "run", [results.case()])


def reported(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


def test_a_page_lies_beside_its_result(run: Path) -> None:
    found = reported(run)
    assert (found.exit_code, found.output) == (0, f"{run / 'report.html'}\n")
    text = (run / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "Content-Security-Policy" in text
    assert not list(run.glob(".*unfinished"))


def test_the_file_of_a_case_has_a_page_too(run: Path, tmp_path: Path) -> None:
    file = next(run.glob("cases/*.json"))
    out = tmp_path / "deep" / "page.html"
    assert reported(file, "--out", out).output == f"{out}\n"
    assert results.NAME in out.read_text(encoding="utf-8")


def test_the_ending_says_which_format(run: Path, tmp_path: Path) -> None:
    assert reported(run, "--out", tmp_path / "report.md").exit_code == 0
    assert "<html" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_figures_are_many_files(run: Path, tmp_path: Path) -> None:
    found = reported(run, "--out", tmp_path / "figure.svg")
    assert found.exit_code == 2
    assert "--format svg" in found.output


def test_a_place_that_cannot_be_written_is_named(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    found = reported(run, "--out", tmp_path / "file" / "page.html")
    assert isinstance(found.exception, UsageError)
    assert "name another place with --out" in str(found.exception)


def test_nothing_is_written_of_a_result_that_is_refused(run: Path) -> None:
    case = next(run.glob("cases/*.json"))
    case.write_bytes(case.read_bytes() + b" ")
    assert isinstance(reported(run).exception, ColdwarmError)
    assert not (run / "report.html").exists()


def test_a_page_says_the_same_each_time(run: Path) -> None:
    reported(run)
    first = (run / "report.html").read_bytes()
    reported(run)
    assert (run / "report.html").read_bytes() == first


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_alone(run: Path) -> None:
    reported(run)
    text = (run / "report.html").read_text(encoding="utf-8")
    policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert " onclick" not in text
    assert " style=" not in text.partition("<script>")[0]
