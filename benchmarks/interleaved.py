"""Measures several things in turns, so that the machine's drift falls on all of them alike."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")


def measure(
    candidates: Mapping[str, Callable[[], T]], rounds: int, *, discard: int = 1
) -> dict[str, list[T]]:
    """Call every candidate once a round, in an order drawn anew each time.

    Returns what each returned, round by round. The first ``discard`` rounds are thrown away:
    they read files that later ones find in memory.
    """
    order = random.Random(rounds)  # noqa: S311 - an order, not a secret
    found: dict[str, list[T]] = {name: [] for name in candidates}
    for _ in range(rounds + discard):
        for name in order.sample(sorted(candidates), len(candidates)):
            found[name].append(candidates[name]())
    return {name: values[discard:] for name, values in found.items()}
