"""The options of ``coldwarm run``, and the code it ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import rich_click as click
from click.testing import CliRunner

from coldwarm.cli import _options, run
from coldwarm.cli.main import cli
from coldwarm.errors import UsageError
from coldwarm.runner import case_list
from coldwarm.runner.case_list import DEFAULT_MODES

if TYPE_CHECKING:
    from coldwarm.runner.case_list import Options


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90.0), ("90s", 90.0), ("2.5m", 150.0), ("1h", 3600.0), ("1e-3", 0.001)],
)
def test_a_duration(text: str, seconds: float) -> None:
    assert _options._seconds(text) == seconds


@pytest.mark.parametrize(
    "text", ["soon", "-5", "0", "0s", "nan", "inf", "1e999h", "5d", "s", "", "5 m s"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is no duration; write 90, 90s, 2\.5m or 1h"):
        _options._seconds(text)


def options(*arguments: str) -> Options:
    """Return what the command makes of arguments."""
    with run._command.make_context("run", list(arguments)) as context:
        given: dict[str, Any] = context.params
    return run._asked(given, {})


def test_the_suite_sets_the_effort_and_the_options_change_it() -> None:
    quick = options()
    assert (quick.suite, quick.min_runs, quick.max_runs, quick.time_budget_s) == (
        "quick",
        case_list.SUITES["quick"].min_runs,
        case_list.SUITES["quick"].max_runs,
        case_list.SUITES["quick"].time_budget_s,
    )
    assert quick.cache_modes == DEFAULT_MODES
    few = options("--max-rounds", "1")
    assert (few.min_runs, few.max_runs) == (1, 1)
    many = options("--rounds", "90")
    assert (many.min_runs, many.max_runs) == (90, 90)
    assert options("--time-budget", "2m", "--timeout", "5").timeout_s == 5.0


def test_lists_come_repeated_or_with_commas() -> None:
    made = options("--case", "a,b", "--case", "c", "--backend", "numpy,numba")
    assert made.cases == ("a", "b", "c")
    assert made.backends == ("numpy", "numba")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--precision", "0"],
        ["--precision", "nan"],
        ["--rounds", "0"],
        ["--rounds", "5", "--max-rounds", "2"],
        ["--seed", "-1"],
        ["--threads", "0"],
        ["--timeout", "never"],
        ["--resume"],
        ["--no-such-option"],
    ],
)
def test_options_that_make_no_sense_are_named(arguments: list[str]) -> None:
    done = CliRunner().invoke(cli, ["run", *arguments])
    assert done.exit_code == 2
    assert arguments[0] in done.output


def test_an_unknown_suite_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean full"):
        options("--suite", "ful")
