"""Changes of level are found soon, and no others: stray runs, drifts and noise are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.stats.change_points import FEWEST, changes

SCATTER = 0.0075


def series(seed: int, n: int = 40, *, scatter: float = SCATTER) -> list[float]:
    return list(np.random.default_rng(seed).normal(0.0, scatter, n))


def stepped(seed: int, at: int, size: float, n: int = 40) -> list[float]:
    return [value + size * (place >= at) for place, value in enumerate(series(seed, n))]


def test_a_step_is_found_with_its_place_and_size() -> None:
    (found,) = changes(stepped(1, 25, math.log(1.1)))
    assert found.earliest <= found.at <= found.latest
    assert found.earliest <= 25 <= found.latest
    assert found.low < math.log(1.1) < found.high
    assert (found.n_before, found.n_after) == (found.at, 40 - found.at)


def test_a_step_of_five_per_cent_is_found_within_three_runs() -> None:
    n_found = sum(bool(changes(stepped(seed, 37, math.log(1.05)))) for seed in range(200))
    assert n_found >= 180


def test_equal_runs_have_no_change() -> None:
    n_points, n_false = 0, 0
    for seed in range(100):
        values = series(seed, 60)
        for end in range(FEWEST, 61):
            n_points += 1
            n_false += bool([one for one in changes(values[:end]) if one.at >= end - 3])
    assert n_false <= n_points / 1000


def test_one_stray_run_is_no_change() -> None:
    for seed in range(100):
        for place in (3, 20, 38, 39):
            values = series(seed)
            values[place] += math.log(1.4)
            assert changes(values) == []


def test_a_drift_is_no_change() -> None:
    for seed in range(50):
        values = [value + 0.004 * place for place, value in enumerate(series(seed))]
        assert changes(values) == []


def test_two_steps_are_two_changes() -> None:
    values = [
        value + 0.1 * (place >= 20) - 0.1 * (place >= 40)
        for place, value in enumerate(series(2, 60))
    ]
    first, second = changes(values)
    assert abs(first.at - 20) <= 1
    assert abs(second.at - 40) <= 1
    assert first.size > 0 > second.size


def test_a_run_that_is_unsure_of_itself_counts_for_less() -> None:
    values = stepped(3, 37, math.log(1.05))
    assert changes(values)
    assert changes(values, [0.0] * 37 + [0.2] * 3) == []


@given(st.lists(st.floats(-5, 5), max_size=60))
def test_whatever_the_values_are(values: list[float]) -> None:
    found = changes(values)
    assert [one.at for one in found] == sorted({one.at for one in found})
    for one in found:
        assert 2 <= one.at <= len(values) - 2
        assert one.low <= one.size <= one.high


@pytest.mark.parametrize("n", [0, 1, FEWEST - 1])
def test_too_few_runs_show_nothing(n: int) -> None:
    assert changes([0.0] * (n // 2) + [1.0] * (n - n // 2)) == []


def test_what_is_shifted_or_scaled_changes_at_the_same_places() -> None:
    values = stepped(4, 22, 0.1)
    for other in ([one + 3.0 for one in values], [-one for one in values]):
        assert [one.at for one in changes(other)] == [one.at for one in changes(values)]
