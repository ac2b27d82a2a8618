"""Totals of a job at every number of calls, shapes and processes that a reader may choose. Pure.

The same figures as those of a plan (``jobs``), for many jobs at once: jobs that pay the same costs
differ only in how often, so that the sums of all rounds are one product of matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coldwarm.contracts.base import WARM
from coldwarm.stats.costs import FEWEST, STATES, gather
from coldwarm.stats.expected import Curve, expected_of, margin_lows
from coldwarm.stats.planning import (
    Job,
    bounds,
    changes,
    ladder,
    margin_bounds,
    middle_s,
    missing,
    new_shapes_s,
    paid,
    widens,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Caches
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.costs import Costs
    from coldwarm.stats.expected import Term


MOST_CALLS = 1_000_000
_STEP = 1.2
"""Between numbers of measured calls at which a change is looked for."""
_SHAPES = (1, 10, 100)
_PROCESSES = (1, 10, 100)
_CACHES: tuple[Caches, ...] = ("cold", "kept", "warm")


@dataclass(frozen=True)
class JobSetting:
    """A job but for its number of calls, and what it costs at each of ``calls``.

    ``cheapest`` has the lowest total at each number, new shapes that were not measured at half of
    their most; ``told_apart`` says whether every other candidate is dearer with confidence.
    """

    caches: Caches
    shapes: int
    processes: int
    calls: list[int]
    curves: Mapping[str, Curve]
    cheapest: list[str]
    told_apart: list[bool]
    measured: Mapping[str, int]
    """By candidate, the calls of a process up to which its total is measured; beyond them it is
    extrapolated. Without an entry: nothing is known of it."""
    crossings: list[tuple[int, str]]
    """Numbers of calls from which another candidate is the cheapest, and which."""


def grid(
    known: Sequence[Costs],
    asked: set[CacheMode],
    shapes: Sequence[int] = _SHAPES,
    processes: Sequence[int] = _PROCESSES,
) -> list[JobSetting]:
    """Cost the jobs of all settings that can be with what was ``asked`` for.

    A candidate is in a setting where it has all costs of it; a setting without any is left out.
    The first of ``processes`` is 1.
    """
    measured = bool(known) and all(one.series.get("empty.new") for one in known)
    found = []
    for caches in _CACHES:
        alike = caches != "kept"  # all processes find the same, so that sums are multiples
        for number in processes[:1] if alike else processes[1:]:
            for n_shapes in shapes:
                job = Job(MOST_CALLS, n_shapes, number, caches, measured)
                needed = {STATES[state] for state in job.starts} | {WARM}
                if needed <= asked and (made := _setting(known, job)) is not None:
                    found += [made, *(_times(made, n) for n in processes[1:] if alike)]
    return found


def _times(one: JobSetting, processes: int) -> JobSetting:
    """Return what so many processes cost where one costs this."""
    curves = {name: curve.times(processes) for name, curve in one.curves.items()}
    return replace(one, processes=processes, curves=curves)


@dataclass(frozen=True)
class _Paid:
    """What a candidate pays for jobs that differ in their calls alone, ``most`` with new shapes."""

    one: Costs
    least: list[list[Term]]
    most: list[list[Term]]
    expected: Curve
    half_s: float
    """Half of the most that new shapes may cost, at any number of calls."""


def _paid(one: Costs, jobs: Sequence[Job]) -> _Paid:
    least = [paid(one, job) for job in jobs]
    # New shapes are as many whatever the number of calls.
    more = paid(one, jobs[0], 1.0)[len(least[0]) :]
    most = [[*terms, *more] for terms in least] if more else least
    return _Paid(one, least, most, expected_of(least), new_shapes_s(one, jobs[0]) / 2)


def _setting(known: Sequence[Costs], largest: Job) -> JobSetting | None:
    able = [one for one in known if missing(one, largest) is None]
    if not able:
        return None
    calls = sorted({n for n in _numbers(able) if n > largest.shapes} | {largest.shapes})
    jobs = [replace(largest, calls=n) for n in calls]
    every = [_paid(one, jobs) for one in able]
    cheapest = [
        min(every, key=lambda each, at=at: each.expected.total_s[at] + each.half_s)  # type: ignore[misc]
        for at in range(len(jobs))
    ]
    return JobSetting(
        caches=largest.caches,
        shapes=largest.shapes,
        processes=largest.processes,
        calls=calls,
        curves={each.one.candidate: _curve(each, jobs) for each in every},
        cheapest=[each.one.candidate for each in cheapest],
        told_apart=_told_apart(every, cheapest, jobs),
        measured={one.candidate: n for one in able if (n := one.measured_calls) is not None},
        crossings=list(_crossings(able, largest, calls)),
    )


def _numbers(able: Sequence[Costs]) -> set[int]:
    """Return the numbers of calls that are costed: rounded ones, and where measuring ended."""
    ends = (one.measured_calls for one in able)
    return {*ladder(MOST_CALLS), *(n for n in ends if n is not None and n < MOST_CALLS)}


def _curve(each: _Paid, jobs: Sequence[Job]) -> Curve:
    least = each.expected
    most = least if each.most is each.least else expected_of(each.most)
    lows, highs = least.low_s, most.high_s
    if lows is None or highs is None:
        return Curve(least.total_s, None, None)
    if any(widens(each.one, job) for job in jobs):
        found = [bounds(each.one, job) for job in jobs]
        lows = [low for low, _ in found if low is not None]
        highs = [high for _, high in found if high is not None]
        if len(lows) < len(jobs):
            return Curve(least.total_s, None, None)
    return Curve(least.total_s, lows, highs)


def _told_apart(
    every: Sequence[_Paid], cheapest: Sequence[_Paid], jobs: Sequence[Job]
) -> list[bool]:
    """Say of each job whether all others are dearer than the cheapest; of one alone, no."""
    told = [len(every) > 1] * len(jobs)
    for best in {each.one.candidate: each for each in cheapest}.values():
        places = [at for at, each in enumerate(cheapest) if each is best]
        for other in every:
            if other is not best:
                lows = _margins(other, best, jobs, places)
                for at, low in zip(places, lows, strict=True):
                    told[at] = told[at] and low is not None and low > 0
    return told


def _margins(
    other: _Paid, best: _Paid, jobs: Sequence[Job], places: Sequence[int]
) -> list[float | None]:
    """Return the least by which one is dearer than another, whatever new shapes cost."""
    if any(widens(each.one, jobs[at]) for each in (other, best) for at in places):
        return [margin_bounds(other.one, best.one, jobs[at])[0] for at in places]
    return margin_lows([(other.least[at], best.most[at]) for at in places])


def _crossings(
    able: Sequence[Costs], largest: Job, calls: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Find where another is the cheapest: beyond what was measured, totals are straight lines."""
    straight = largest.shapes + FEWEST
    ends = max([straight, *(one.measured_calls or 0 for one in able)]) + largest.shapes
    near = {math.ceil(straight * _STEP**power) for power in range(200)}
    first = range(largest.shapes, straight + 1)
    at = sorted({*first, *(n for n in near if n < ends), *calls, ends, MOST_CALLS})
    jobs = [replace(largest, calls=n) for n in at]
    known = {one.candidate: [middle_s(one, job) for job in jobs] for one in able}

    def cheapest(n: int) -> str:
        return min(known, key=lambda name: float(np.interp(n, at, known[name])))

    yield from ((n, cheapest(n)) for n in changes(cheapest, at))


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


def settings(cases: Sequence[CaseResult]) -> list[JobSetting]:
    """Return the settings of one process and one shape; none of scenarios."""
    if not cases or cases[0].scenario:
        return []
    group = gather(cases[0].group, cases)
    asked = set(cases[0].protocol.cache_modes)
    if not asked >= {WARM} or not asked & set(STATES.values()):
        return []
    return grid(group.known, asked, shapes=(1,), processes=(1,))


def totals(found: Sequence[JobSetting]) -> list[_Total]:
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


def crossings(found: Sequence[JobSetting]) -> list[_Crossing]:
    """Return from where on another candidate is the cheapest, by the expected totals."""
    return [
        _Crossing(one.caches, calls, name, _between(one, name, calls))
        for one in found
        for calls, name in one.crossings
    ]


def _between(one: JobSetting, name: str, calls: int) -> float:
    """Return a total at a number of calls; between two that are there it is a straight line."""
    return float(np.interp(calls, one.calls, one.curves[name].total_s))
