"""Intervals hold the median as often as they say, and are the same every time."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldwarm.contracts.reasons import because
from coldwarm.stats.bootstrap import (
    by_range,
    centre,
    extension,
    median_interval,
    resampled_medians,
    student_quantile,
)

SERIES = st.lists(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=6), min_size=2, max_size=8)


def held(n: int, trials: int, samples: int) -> float:
    """Return how often the interval of n processes holds the true median of 1."""
    rng = np.random.default_rng([n, samples])
    hits = 0
    for _ in range(trials):
        levels = np.exp(0.03 * rng.standard_normal((n, 1)))
        noise = 1 + 0.02 * (rng.random((n, samples)) - 0.5) * (samples > 1)
        interval = median_interval((levels * noise).tolist(), resamples=500)
        hits += (interval.low or 0) <= 1 <= (interval.high or 0)
    return hits / trials


@pytest.mark.parametrize("samples", [1, 10])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 10, 20])
def test_coverage_is_what_it_says(n: int, samples: int) -> None:
    assert held(n, 400, samples) >= 0.925


@pytest.mark.parametrize(("n", "confidence"), [(6, 0.97), (6, 0.999), (8, 0.999), (10, 0.999)])
def test_a_strict_interval_is_wider_than_the_range_of_few_values(n: int, confidence: float) -> None:
    """Resampled values cannot leave their range, which six hold the median with 96.9 % only."""
    rng = np.random.default_rng(n)
    hits = 0
    for _ in range(2000):
        values = np.exp(0.2 * rng.standard_normal(n))
        found = median_interval(values[:, None].tolist(), confidence=confidence)
        assert by_range(n, confidence)
        hits += (found.low or 0) <= 1 <= (found.high or 0)
    assert hits / 2000 >= confidence - 0.012


def test_the_extension_is_exact_for_values_spread_evenly() -> None:
    rng = np.random.default_rng(5)
    for n in (2, 3, 4, 5):
        values = rng.random((20000, n))
        width = np.ptp(values, axis=1) * extension(n, 0.95)
        hits = (values.min(1) - width <= 0.5) & (values.max(1) + width >= 0.5)
        assert hits.mean() == pytest.approx(0.95, abs=0.006)


def test_fewer_than_two_processes_have_no_interval() -> None:
    interval = median_interval([[1.0, 2.0, 3.0]])
    assert (interval.low, interval.high) == (None, None)
    assert interval.reason == because("few_processes", n_processes=1, n_needed=2)


def test_no_resample_is_thinned_out() -> None:
    """The one draw for a resample has the distribution of the median of a real resample."""
    rng = np.random.default_rng(1)
    for m in (2, 3, 8, 25):
        values = np.exp(rng.standard_normal(m))
        real = np.median(rng.choice(values, size=(20000, m)), axis=1)
        drawn = resampled_medians([values.tolist()], np.zeros((20000, 1), dtype=np.int64), rng)
        for q in (0.1, 0.5, 0.9):
            below = (real <= np.quantile(real, q)).mean()
            assert (drawn <= np.quantile(real, q)).mean() == pytest.approx(below, abs=0.02)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(SERIES, st.floats(1e-6, 1e6))
def test_intervals_keep_the_unit_and_the_order(groups: list[list[float]], scale: float) -> None:
    interval = median_interval(groups, resamples=200)
    again = median_interval(groups, resamples=200)
    scaled = median_interval([[v * scale for v in g] for g in groups], resamples=200)
    assert interval == again
    assert interval.low is not None
    assert interval.high is not None
    assert scaled.low == pytest.approx(interval.low * scale, abs=1e-9 * scale)
    assert scaled.high == pytest.approx(interval.high * scale, abs=1e-9 * scale)
    assert 0 <= interval.low <= interval.high
    if len(groups) <= 5:
        assert interval.low <= centre(groups) <= interval.high


def test_a_large_case_is_quick() -> None:
    rng = np.random.default_rng(0)
    groups = rng.lognormal(size=(5 + 1, 4000)).tolist()
    median_interval(groups)
    start = time.process_time()
    median_interval(groups)
    assert time.process_time() - start < 0.05


@pytest.mark.parametrize(
    ("probability", "freedom", "exact"),
    [(0.975, 5, 2.5706), (0.975, 10, 2.2281), (0.985, 5, 3.0029), (0.985, 30, 2.2783)],
)
def test_student_quantiles(probability: float, freedom: int, exact: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(exact, rel=0.01)
