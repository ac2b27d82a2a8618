"""Percentiles are guarded by their count, and a summary says why a figure is missing."""

from __future__ import annotations

import pytest

from coldwarm.contracts.reasons import because
from coldwarm.stats import intervals
from coldwarm.stats.intervals import summary


def test_a_percentile_needs_a_value_beyond_it() -> None:
    assert summary([[1.0] * 20]).p95 == 1.0
    few = summary([[1.0] * 19])
    assert few.p95 is None
    assert few.null_reasons["p95"] == because("few_values", n_values=19, n_needed=20)


def test_the_median_gives_every_process_the_same_weight() -> None:
    found = summary([[1.0] * 100, [2.0] * 3, [3.0]])
    assert found.median == 2.0
    assert (found.n_processes, found.n_samples) == (3, 104)
    assert (found.minimum, found.maximum) == (1.0, 3.0)
    assert found.p95 == 1.0


def test_one_process_has_no_interval_and_says_why() -> None:
    found = summary([[1.0, 2.0]])
    assert found.low is None
    assert found.high is None
    assert found.p95 is None
    assert set(found.null_reasons) == {"low", "high", "p95"}
    assert found.null_reasons["low"].code == "few_processes"


def test_no_values_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        summary([])
    with pytest.raises(ValueError, match="at least one value"):
        summary([[1.0], []])


@pytest.mark.parametrize(("q", "needed"), [(0.5, 2), (0.95, 20), (0.05, 20), (0.99, 100)])
def test_any_percentile_needs_a_value_beyond_it(q: float, needed: int) -> None:
    assert intervals._values_needed(q) == needed
    assert intervals._quantile([1.0] * needed, q) == (1.0, None)
    value, reason = intervals._quantile([1.0] * (needed - 1), q)
    assert value is None
    assert reason == because("few_values", n_values=needed - 1, n_needed=needed)
