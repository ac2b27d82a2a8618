"""Borders between sizes: where the cheapest candidate changes, and which size is measured next."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from msgspec.structs import replace
from tests.stats.sizes import Pair, swept

from coldwarm.stats import sweeps
from coldwarm.stats.sweeps import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

WARM = Measure(None, None)
LOW, HIGH = 100, 1_000_000


def test_a_border_lies_between_the_last_sizes_that_surely_differ() -> None:
    points = swept(Pair.crossing(3_000), LOW, HIGH, np.random.default_rng(0))
    found = sweeps.by_size(points, WARM)
    [border] = found.borders
    assert (border.below, border.above) == ("a", "b")
    assert border.low <= 3_000 <= border.high
    assert border.half_width <= 0.1
    assert border.estimate == pytest.approx(3_000, rel=0.1)
    assert [one.cheapest for one in found.ranges if one.cheapest] == ["a", "b"]


def test_there_is_no_border_where_one_is_the_cheapest_at_every_size() -> None:
    points = swept(Pair.without(), LOW, HIGH, np.random.default_rng(1))
    found = sweeps.by_size(points, WARM)
    assert not found.borders
    assert [one.cheapest for one in found.ranges] == ["a"]
    assert found.never == ["b"]


def test_two_borders_within_one_step_of_the_grid_are_found() -> None:
    points = swept(Pair.twice(1_500, 6_000), LOW, HIGH, np.random.default_rng(2))
    found = sweeps.by_size(points, WARM)
    assert [(one.below, one.above) for one in found.borders] == [("a", "b"), ("b", "a")]
    for border, true in zip(found.borders, (1_500, 6_000), strict=True):
        assert border.low <= true <= border.high


def test_equal_candidates_have_no_border_and_come_to_an_end() -> None:
    points = swept(Pair(lambda n: 1.0 + n, lambda n: 1.0 + n), LOW, HIGH, np.random.default_rng(3))
    found = sweeps.by_size(points, WARM)
    assert not found.borders
    assert found.never == []


def test_small_sizes_are_tried_one_by_one() -> None:
    points = swept(Pair.crossing(2.5), 1, 20, np.random.default_rng(6))
    [border] = sweeps.by_size(points, WARM).borders
    assert (border.low, border.high) == (2, 3)


def test_a_size_of_which_nothing_is_known_ends_a_range() -> None:
    points = swept(Pair.without(), LOW, HIGH, np.random.default_rng(7))
    lost = [replace(one, answer=None, call={}) if one.size == 10_000 else one for one in points]
    found = sweeps.by_size(lost, WARM)
    ends = [(one.from_size, one.to_size) for one in found.ranges]
    assert len(ends) == 2
    assert ends[0][1] < 10_000 < ends[1][0]


def test_one_that_was_not_compared_everywhere_is_not_called_never() -> None:
    points = swept(Pair.without(), LOW, HIGH, np.random.default_rng(8))
    assert points[0].answer is not None
    alone = replace(points[0], answer=replace(points[0].answer, leads=[]))
    assert sweeps.by_size([alone, *points[1:]], WARM).never == ["b"]
    [lead] = points[0].answer.leads
    held = replace(lead, judged=[replace(lead.judged[0], candidate="c")], fastest="a")
    other = replace(points[0], answer=replace(points[0].answer, leads=[held]))
    assert sweeps.by_size([other, *points[1:]], WARM).never == []


@pytest.mark.parametrize("true", [1_000, 30_000, 1_000_000 / 3])
def test_intervals_of_borders_hold_them(true: float) -> None:
    held = []
    for seed in range(60):
        points = swept(Pair.crossing(true), LOW, HIGH, np.random.default_rng(seed), most=10)
        borders = sweeps.by_size(points, WARM).borders
        held.append(any(one.low <= true <= one.high for one in borders))
    assert np.mean(held) >= 0.93


@pytest.mark.parametrize(
    ("low", "high", "n"),
    [(100, 1_000_000, 5), (1, 2, 2), (3, 2_000, 4), (10, 100, 2), (8, 4096, 4), (1024, 65536, 3)],
)
def test_the_grid_has_both_ends_first_and_no_step_of_more_than_ten(
    low: int, high: int, n: int
) -> None:
    sizes = sweeps.grid(low, high)
    assert sizes[:2] == [low, high]
    assert all(low <= one <= high for one in sizes)
    assert len(sizes) == n
    ordered = sorted(sizes)
    assert all(b / a <= 10.01 for a, b in pairwise(ordered))


@pytest.mark.parametrize(
    ("cost", "exponent"), [(lambda n: 2.0 * n, 1.0), (lambda n: 3.0 * n**1.5, 1.5)]
)
def test_growth_is_the_power_of_the_size(cost: Callable[[float], float], exponent: float) -> None:
    points = swept(Pair(cost, lambda n: 9.0 * cost(n)), LOW, HIGH, np.random.default_rng(4))
    found = sweeps.growth(points, "a")
    assert found.exponent == pytest.approx(exponent, abs=0.03)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= exponent <= found.high


def test_growth_of_two_sizes_is_not_told() -> None:
    points = swept(Pair.without(), 100, 200, np.random.default_rng(5))[:2]
    found = sweeps.growth(points, "a")
    assert found.exponent is None
    assert found.null_reasons["exponent"].code == "few_sizes"


@pytest.mark.parametrize("size", [1.0, 9.99, 1234.4, 99_960.0])
def test_sizes_have_three_digits(size: float) -> None:
    found = sweeps.rounded(size)
    assert math.isclose(found, size, rel_tol=0.006)
    assert len(str(found).rstrip("0")) <= 3
