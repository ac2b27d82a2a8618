"""What a job takes in all by its number of calls: one process, one shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coldwarm.contracts.base import WARM
from coldwarm.stats.plan.costs import STATES
from coldwarm.stats.plan.gathering import gather
from coldwarm.stats.plan.grid import grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Caches
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.plan.grid import Setting


class _Total(NamedTuple):
    """The expected total of a candidate at a number of calls, with its bounds."""

    candidate: str
    caches: Caches
    calls: int
    total_s: float
    low_s: float | None
    high_s: float | None
    extrapolated: bool
    """Whether a process made fewer calls: later ones are taken to cost what the last ones did."""


class _Crossing(NamedTuple):
    """A number of calls from which another candidate is the cheapest, and what it costs there."""

    caches: Caches
    calls: int
    candidate: str
    total_s: float


def settings(cases: Sequence[CaseResult]) -> list[Setting]:
    """Return the settings of one process and one shape; none of scenarios."""
    if not cases or cases[0].scenario:
        return []
    group = gather(cases[0].group, cases)
    asked = set(cases[0].protocol.cache_modes)
    if not asked >= {WARM} or not asked & set(STATES.values()):
        return []
    return grid(group.known, asked, shapes=(1,), processes=(1,))


def totals(found: Sequence[Setting]) -> list[_Total]:
    """Return the totals of settings, a row for each candidate and number of calls."""
    return [
        _Total(
            name,
            one.caches,
            calls,
            curve.total_s[at],
            None if curve.low_s is None else curve.low_s[at],
            None if curve.high_s is None else curve.high_s[at],
            calls > one.measured.get(name, calls),
        )
        for one in found
        for name, curve in one.curves.items()
        for at, calls in enumerate(one.calls)
    ]


def crossings(found: Sequence[Setting]) -> list[_Crossing]:
    """Return from where on another candidate is the cheapest, by the expected totals."""
    return [
        _Crossing(one.caches, calls, name, _between(one, name, calls))
        for one in found
        for calls, name in one.crossings
    ]


def _between(one: Setting, name: str, calls: int) -> float:
    """Return a total at a number of calls; between two that are there it is a straight line."""
    return float(np.interp(calls, one.calls, one.curves[name].total_s))
