"""Numbers to look at over a geometric range, and where something changes between them. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_STEPS = (1, 2, 5)


def ladder(most: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, … up to the first that is at least ``most``."""
    values: list[int] = []
    power = 1
    while True:
        for step in _STEPS:
            values.append(step * power)
            if values[-1] >= most:
                return values
        power *= 10


def changes(cheapest: Callable[[int], str], values: Sequence[int]) -> list[int]:
    """Return each number, between the first and last value, from which another one is cheapest.

    Totals are straight lines, of which each is the lowest on one stretch only: between two
    values with the same answer nothing changes.
    """
    numbers = []
    for left, right in pairwise(values):
        numbers += _between(cheapest, left, right)
    return numbers


def _between(cheapest: Callable[[int], str], left: int, right: int) -> list[int]:
    if cheapest(left) == cheapest(right):
        return []
    if right - left == 1:
        return [right]
    middle = (left + right) // 2
    return _between(cheapest, left, middle) + _between(cheapest, middle, right)
