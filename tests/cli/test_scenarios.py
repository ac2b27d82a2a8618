"""A scenario, measured and shown as a user does it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from coldwarm.cli import main
from coldwarm.contracts import codec
from coldwarm.contracts.result import CaseResult
from coldwarm.report import loop_shares
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from pathlib import Path

CASE = "numpy_variable_length_bucketed_64_f32"


def command(*arguments: str) -> str:
    """Run a command of coldwarm that ends well; return what it printed."""
    done = CliRunner().invoke(main.cli, arguments)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a small run."""
    folder = tmp_path_factory.mktemp("scenario") / "out"
    effort = ("--deterministic", "--rounds", "2", "--max-rounds", "2")
    command("run", "--case", CASE, *effort, "--out", str(folder))
    return folder


def test_the_whole_loop_is_in_the_result(result: Path) -> None:
    case = codec.load_as(CaseResult, result / "cases" / f"{CASE}.json")
    assert (case.status, case.scenario) == ("ok", True)
    assert "remaining_calls" in case.protocol.windows
    for seen in case.observations:
        assert seen.loop is not None
        assert len(seen.loop.steps_s) == 20
        assert seen.ttfr_process_s is not None
        assert seen.ttfr_process_s < seen.loop.total_s < seen.wall_s
        assert {block.batch for block in seen.blocks} <= {1}
    for cold in case.cold:
        assert cold.seconds["total"].median > cold.seconds["ttfr"].median
        assert words(cold.null_reasons["compiling_share"]) == "numpy has no such step"


def test_its_artifacts_are_valid_and_it_is_shown(result: Path) -> None:
    command("validate", str(result))
    assert loop_shares.LOOPS_TITLE in command("show", str(result))
    assert "variable_length_bucketed 64 f32" in command("show", str(result), "--format", "markdown")


def test_a_plan_takes_the_whole_loop_for_a_call(result: Path) -> None:
    case = codec.load_as(CaseResult, result / "cases" / f"{CASE}.json")
    empty = next(cold for cold in case.cold if cold.cache_mode == "cold_process_cold_cache")
    report = json.loads(command("plan", str(result), "--calls", "1", "--caches", "empty", "--json"))
    (total,) = report["plans"][0]["totals"]
    assert total["total_s"] == pytest.approx(empty.seconds["total"].median)
