"""Planning: when to stop, and how many more processes to expect."""

from __future__ import annotations

import numpy as np
import pytest

from coldwarm.stats.intervals import assess, expected_half_width, precision_of, summary


def cold(n: int, spread: float = 0.03, seed: int = 0) -> list[float]:
    rng = np.random.default_rng(seed)
    return [float(value) for value in np.exp(spread * rng.standard_normal(n))]


def reached(values: list[float]) -> float | None:
    return precision_of(summary([[value] for value in values]))


def test_the_fewest_processes_come_first() -> None:
    for n in (0, 1, 2):
        found = assess(cold(n), target=0.5, fewest=3, most=10)
        assert not found.met
        assert found.more == 3 - n


def test_met_means_that_the_published_interval_is_narrow_enough() -> None:
    values = cold(5, 0.001)
    found = assess(values, target=0.02, fewest=3, most=10)
    assert found.met
    assert found.more == 0
    assert found.reached == pytest.approx(reached(values))


@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_stops_as_precise_enough_publishes_that(seed: int) -> None:
    values = cold(8, 0.05, seed)
    found = assess(values, target=0.05, fewest=5, most=10)
    assert found.reached == pytest.approx(reached(values), rel=1e-12)


def test_more_processes_are_asked_for_within_the_limit() -> None:
    found = assess(cold(4, 0.05), target=0.01, fewest=3, most=100)
    assert 10 <= found.more + 4 <= 100
    bounded = assess(cold(4, 0.05), target=0.002, fewest=3, most=8)
    assert bounded.more == 4
    at_limit = assess(cold(8, 0.05), target=0.002, fewest=3, most=8)
    assert (at_limit.met, at_limit.more) == (False, 0)


def test_one_process_needs_a_second_one() -> None:
    found = assess(cold(1), target=0.1, fewest=1, most=5)
    assert found.reached is None
    assert found.more == 4


def test_the_plan_comes_true_on_average() -> None:
    for n in (5, 8, 16, 30):
        reached = [
            assess(cold(n, 0.02, seed), target=0.0, fewest=2, most=99).reached
            for seed in range(150)
        ]
        assert np.mean([r for r in reached if r]) / 0.02 == pytest.approx(
            expected_half_width(n), rel=0.3
        )


def test_fewer_than_five_processes_are_never_precise_enough() -> None:
    found = assess([1.0, 1.0, 1.0, 1.0], target=0.5, fewest=1, most=9)
    assert (found.reached, found.met) == (None, False)
    assert reached([1.0, 1.0, 1.0, 1.0]) is None
