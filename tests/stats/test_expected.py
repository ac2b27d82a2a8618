"""Expected sums, their intervals, and where a single process lies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks import coverage_plan
from benchmarks.coverage import NOISE

from coldwarm.stats.expected import (
    expected,
    margin,
    middle_s,
    one_process,
)

START = {"0": 1.0, "1": 1.1, "2": 0.9, "3": 5.0}
CALL = {"0": 0.010, "1": 0.011, "2": 0.009}


def test_a_sum_is_that_of_the_rounds_that_have_all_of_it() -> None:
    found = expected([(2.0, START), (100.0, CALL)])
    assert found.middle == pytest.approx(3.0)
    assert math.isfinite(found.low)
    assert math.isfinite(found.high)
    assert found.low < 3.0 < found.high


def test_a_slow_process_is_paid_for() -> None:
    series = {str(n): 1.0 for n in range(9)} | {"9": 11.0}
    assert middle_s([(10.0, series)]) == pytest.approx(20.0), "means add up, medians do not"


def test_costs_of_different_rounds_are_bounded_one_by_one() -> None:
    apart = {f"9{key}": value for key, value in CALL.items()}
    found, together = expected([(1.0, START), (100.0, apart)]), expected([(1.0, START)])
    assert found.middle == pytest.approx(2.0 + 1.0)
    assert math.isfinite(found.high)
    assert math.isfinite(together.high)
    assert found.high > together.high + 1.0
    assert one_process([(1.0, START), (100.0, apart)]) is None


def test_one_process_has_a_sum_without_bounds() -> None:
    found = expected([(1.0, {"0": 2.0})])
    assert (found.middle, found.low, found.high) == (2.0, -math.inf, math.inf)


def test_bursts_that_nobody_met_extend_the_interval_upwards() -> None:
    values = {str(n): value for n, value in enumerate([1.0, 1.02, 0.98, 1.01, 0.99])}
    plain = margin([(1.0, values)], [(1.0, dict.fromkeys(values, 0.0))])
    wide = expected([(1.0, values)])
    assert wide.low == plain.low
    assert math.isfinite(wide.high)
    assert math.isfinite(plain.high)
    assert plain.high < wide.high < plain.high + 2 * 0.04


def test_one_process_scatters_more_than_the_mean() -> None:
    values = {str(n): value for n, value in enumerate([1.0, 1.02, 0.98, 1.01, 0.99, 1.03])}
    found, bounds = expected([(1.0, values)]), one_process([(1.0, values)])
    assert bounds is not None
    assert math.isfinite(found.low)
    assert bounds[0] < min(values.values()) < found.low
    assert bounds[1] > max(values.values())


def test_many_processes_are_told_by_their_order() -> None:
    for n, among in ((39, (1, 39)), (999, (25, 975))):
        values = {str(value): float(value) for value in range(1, n + 1)}
        assert one_process([(1.0, values)]) == pytest.approx(among)


def test_what_a_round_has_in_common_cancels_in_a_margin() -> None:
    slow = np.exp(0.3 * np.random.default_rng(0).standard_normal(8))
    theirs = {str(n): float(value) for n, value in enumerate(slow)}
    ours = {key: value + 0.5 for key, value in theirs.items()}
    paired = margin([(1.0, ours)], [(1.0, theirs)])
    assert paired.low == pytest.approx(0.5)
    assert paired.high == pytest.approx(0.5)
    apart = margin([(1.0, {f"9{key}": value for key, value in ours.items()})], [(1.0, theirs)])
    assert apart.middle == pytest.approx(0.5)
    assert math.isfinite(apart.low)
    assert apart.low < 0.3


@pytest.mark.parametrize("kind", NOISE)
def test_a_total_holds_what_processes_cost_on_average(kind: str) -> None:
    """GIVEN bursts, where sums of medians hold in a third of cases, THEN as stated."""
    assert coverage_plan.totals(NOISE[kind], 20, 200) > 0.92


@pytest.mark.parametrize("kind", NOISE)
def test_a_further_process_lies_in_its_range(kind: str) -> None:
    assert coverage_plan.processes(NOISE[kind], 10, 200) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("n", [3, 10])
def test_a_break_even_lies_in_its_interval(kind: str, n: int) -> None:
    assert coverage_plan.meeting(NOISE[kind], n, 200) > 0.9
