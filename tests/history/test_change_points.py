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


def test_stairs_are_as_many_changes() -> None:
    for lengths in ((20, 20, 20, 4), (20, 20, 10)):
        rng = np.random.default_rng(5)
        values = [
            0.1 * step + float(rng.normal(0, SCATTER))
            for step, length in enumerate(lengths)
            for _ in range(length)
        ]
        assert len(changes(values)) == len(lengths) - 1


def test_a_figure_with_two_modes_does_not_change() -> None:
    n_false = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        values = rng.normal(0, SCATTER, 60) + 0.07 * (rng.random(60) < 0.25)
        n_false += bool(changes(values.tolist()))
    assert n_false <= 5


@pytest.mark.parametrize("n_after", [3, 4, 10])
def test_the_size_of_a_new_step_is_that_of_its_runs(n_after: int) -> None:
    held = 0
    for seed in range(60):
        found = changes(stepped(seed, 40 - n_after, math.log(1.2)))
        held += len(found) == 1 and found[0].low <= math.log(1.2) <= found[0].high
    assert held >= 54


def test_values_that_are_mostly_equal_have_the_scatter_of_the_others() -> None:
    values = [0.0, 0.01, 0.0, 0.0, 0.01, 0.0, 0.0, 0.01] * 5
    assert changes(values) == []
