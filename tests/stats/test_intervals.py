"""Intervals hold what they bound as often as they say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import (
    apart,
    centre,
    median_interval,
    paired,
    paired_rows,
    student,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

SERIES = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=14)
DIFFERENCES = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=14)
SKEWED: dict[str, Draw] = {
    "log-normal": lambda rng, n: np.exp(0.3 * rng.standard_normal(n)),
    "one-sided": lambda rng, n: rng.exponential(size=n) / math.log(2),
}


def _one_sided(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return np.asarray(rng.exponential(size=n) * (rng.random(n) < 0.2))


@pytest.mark.parametrize("kind", SKEWED)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 10, 20])
def test_a_median_is_held_as_often_as_the_interval_says(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    found = [median_interval(SKEWED[kind](rng, n).tolist()) for _ in range(2000)]
    hits = sum((one.low or 0) <= 1 <= (one.high or 0) for one in found)
    expected = 0.95 if n > 5 else 1 - 2.0 ** (1 - n)
    assert {one.confidence for one in found} == {expected}
    assert hits / 2000 >= expected - 0.02


@pytest.mark.parametrize(("n", "confidence"), [(5, 0.97), (6, 0.999), (8, 0.999), (12, 0.97)])
def test_a_confidence_is_kept_whatever_the_number(n: int, confidence: float) -> None:
    rng = np.random.default_rng(n)
    hits = 0
    for _ in range(2000):
        found = paired(SKEWED["log-normal"](rng, n).tolist(), confidence)
        hits += found.low <= 1 <= found.high
    assert hits / 2000 >= confidence - 0.012


@pytest.mark.parametrize("n", [5, 6, 9, 10, 15, 20])
@pytest.mark.parametrize("burst", [False, True])
def test_pairs_hold_their_centre(n: int, *, burst: bool) -> None:
    rng = np.random.default_rng([n, burst])
    hits = 0
    for _ in range(1000):
        values = 0.01 * rng.standard_normal(n)
        if burst:
            values = values + _one_sided(rng, n) - _one_sided(rng, n)
        found = paired(values.tolist(), 0.97)
        assert found.low <= found.middle <= found.high
        hits += found.low <= 0 <= found.high
    assert hits / 1000 >= 0.95


def test_a_burst_in_a_few_of_many_rounds_does_not_widen_the_interval() -> None:
    rng = np.random.default_rng(3)
    calm = 0.01 * rng.standard_normal(20)
    struck = calm + np.array([1.0, -2.0, 3.0] + [0.0] * 17)
    quiet, loud = (paired(values.tolist(), 0.97) for values in (calm, struck))
    assert loud.high - loud.low < 3 * (quiet.high - quiet.low)


@pytest.mark.parametrize("n", [6, 9, 10, 14, 40, 1500])
def test_bounds_stand_at_the_places_of_the_sign_test(n: int) -> None:
    values = np.random.default_rng(0).normal(0.3, 1, n)
    for depth in (1, n // 4, n // 3):
        sure = 1 - 2 * float(stats.binom.cdf(depth - 1, n, 0.5))
        if not 0.0 < sure < 1 - 1e-9:
            continue
        found = paired(values.tolist(), sure - 1e-12)
        ordered = np.sort(values)
        assert (found.low, found.high) == pytest.approx((ordered[depth - 1], ordered[n - depth]))


def test_the_extension_is_exact_for_values_spread_evenly() -> None:
    rng = np.random.default_rng(5)
    for n in (2, 3, 4, 5):
        values = rng.random((20000, n))
        _, low, high = paired_rows(values, 0.95)
        assert ((low <= 0.5) & (high >= 0.5)).mean() == pytest.approx(0.95, abs=0.006)
        assert (low < values.min(1)).all()
        assert (high > values.max(1)).all()


def test_fewer_than_two_processes_have_no_interval() -> None:
    interval = median_interval([1.0])
    assert (interval.low, interval.high) == (None, None)
    assert interval.reason == because("few_processes", n_processes=1, n_needed=2)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(SERIES, st.floats(1e-6, 1e6))
def test_intervals_keep_the_unit_and_the_order(values: list[float], scale: float) -> None:
    interval = median_interval(values)
    scaled = median_interval([value * scale for value in values])
    assert interval.low is not None
    assert interval.high is not None
    assert scaled.low == pytest.approx(interval.low * scale, abs=1e-9 * scale)
    assert scaled.high == pytest.approx(interval.high * scale, abs=1e-9 * scale)
    assert min(values) <= interval.low <= centre([[v] for v in values]) <= interval.high


@settings(max_examples=60, deadline=None, derandomize=True)
@given(DIFFERENCES, DIFFERENCES)
def test_exchanging_the_sides_changes_the_sign(ours: list[float], theirs: list[float]) -> None:
    one, other = paired(ours, 0.97), paired([-value for value in ours], 0.97)
    assert one.low == pytest.approx(-other.high)
    assert one.middle == pytest.approx(-other.middle)
    one, other = apart(ours, theirs, 0.97), apart(theirs, ours, 0.97)
    assert one.low == pytest.approx(-other.high)


@given(st.floats(0.51, 0.9999), st.integers(1, 2000))
def test_students_t_is_as_scipy_has_it(probability: float, freedom: int) -> None:
    assert student(probability, freedom) == pytest.approx(
        stats.t.ppf(probability, freedom), rel=1e-9
    )
