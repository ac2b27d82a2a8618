"""Runs whose time is too short for all that they were asked for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import GOOD, Lab, install, shown

if TYPE_CHECKING:
    from tests.faults.lab import Done

MODE = ("--cache-mode", "cold_process_cold_cache")
PLAN = ("--backend", "numpy,hang", *MODE)
QUICK = ("--backend", "numpy", *MODE)
SLOW = GOOD.replace("numpy", "hang")


@pytest.fixture
def sleepy(bench: Lab) -> Lab:
    """Return a laboratory with a candidate that never answers."""
    points = {"coldwarm.backends": {"hang": "faulty_backend:Hang"}}
    bench.sites.append(install(bench.path / "more", "more_faults", points))
    return bench


def timed(bench: Lab, *arguments: str) -> tuple[Done, float]:
    began_s = time.monotonic()
    done = bench.run(*arguments)
    return done, time.monotonic() - began_s


@pytest.mark.slow
def test_what_the_time_does_not_reach_has_not_failed_and_can_be_gone_on_with(sleepy: Lab) -> None:
    done, wall_s = timed(sleepy, *PLAN, "--time-budget", "6s")
    assert done.code == 0, done.err
    assert sleepy.suite()["wall_s"] <= 6.6
    assert wall_s <= 6.6 + 4.0, "with the start and the end of the command"
    assert sleepy.case(GOOD)["status"] == "ok"
    missed = sleepy.case(SLOW)
    assert missed["status"] == "warn"
    assert shown(missed["reason"]) == "not_measured: cold_process_cold_cache"
    assert missed["observations"] == []
    assert "The time budget ended before 1 cases were measured" in done.out
    assert f"the time budget ended while {SLOW} cold_process_cold_cache round 0 ran" in done.err
    sleepy.assert_clean()

    counted = sleepy.case(GOOD)["cold"][0]["n_ok"]
    out = ("--out", str(sleepy.out))
    again = sleepy.command("run", *out, "--resume", "--time-budget", "4s")
    assert again.code == 0, again.err
    assert sleepy.case(GOOD)["cold"][0]["n_ok"] == counted
    assert sleepy.case(SLOW)["status"] == "warn"
    budget_s = sleepy.case(GOOD)["protocol"]["effort"]["time_budget_s"]
    assert 4.0 < budget_s < 10.0, "what was used, and what was given besides"
    sleepy.assert_clean()


def test_no_time_at_all_measures_nothing_and_says_so(sleepy: Lab) -> None:
    done, _ = timed(sleepy, *PLAN, "--time-budget", "0.01s")
    assert done.code == 4, done.err
    assert sleepy.suite()["n_warn"] == 2
    sleepy.assert_clean()


def test_another_budget_is_no_changed_option(sleepy: Lab) -> None:
    assert timed(sleepy, *QUICK, "--time-budget", "0.01s")[0].code == 4
    done, _ = timed(sleepy, *QUICK, "--time-budget", "20s", "--resume")
    assert done.code == 0, done.err
    assert sleepy.case(GOOD)["status"] == "ok"
    sleepy.assert_clean()
