"""A job at every number of calls, shapes and processes that a reader may choose. Pure.

The same figures as those of a plan (``jobs``), for many jobs at once: jobs that pay the same costs
differ only in how often, so that the sums of all rounds are one product of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.contracts.plan import Caches
from coldwarm.stats.plan.costs import FEWEST, STATES
from coldwarm.stats.plan.jobs import Job, bounds, margin_bounds, middle_s, missing, paid, widens
from coldwarm.stats.plan.many import expected_of, margin_lows
from coldwarm.stats.plan.sweep import changes, ladder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.stats.plan.costs import Costs

MOST_CALLS = 1_000_000
SHAPES = (1, 10, 100)
PROCESSES = (1, 10, 100)
CACHES: tuple[Caches, ...] = ("cold", "kept", "warm")


@dataclass(frozen=True)
class Curve:
    """What a candidate costs by the number of calls: expected seconds and their bounds.

    ``None`` in place of bounds where there are too few processes for any.
    """

    total_s: list[float]
    low_s: list[float] | None
    high_s: list[float] | None

    def times(self, number: int) -> Curve:
        """Return the cost of so many alike."""
        low_s, high_s = self.low_s, self.high_s
        return Curve(
            [number * one for one in self.total_s],
            None if low_s is None else [number * one for one in low_s],
            None if high_s is None else [number * one for one in high_s],
        )


@dataclass(frozen=True)
class Setting:
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
    crossings: list[tuple[int, str]]
    """Numbers of calls from which another candidate is the cheapest, and which."""


def grid(
    known: Sequence[Costs],
    asked: set[CacheMode],
    shapes: Sequence[int] = SHAPES,
    processes: Sequence[int] = PROCESSES,
) -> list[Setting]:
    """Cost the jobs of all settings that can be with what was ``asked`` for.

    A candidate is in a setting where it has all costs of it; a setting without any is left out.
    The first of ``processes`` is 1.
    """
    measured = bool(known) and all(one.series.get("empty.new") for one in known)
    found = []
    for caches in CACHES:
        alike = caches != "kept"  # all processes find the same, so that sums are multiples
        for number in processes[:1] if alike else processes[1:]:
            for n_shapes in shapes:
                job = Job(MOST_CALLS, n_shapes, number, caches, measured)
                needed = {STATES[state] for state in job.starts} | {WARM}
                if needed <= asked and (made := _setting(known, job)) is not None:
                    found += [made, *(_times(made, n) for n in processes[1:] if alike)]
    return found


def _times(one: Setting, processes: int) -> Setting:
    """Return what so many processes cost where one costs this."""
    curves = {name: curve.times(processes) for name, curve in one.curves.items()}
    return replace(one, processes=processes, curves=curves)


def _setting(known: Sequence[Costs], largest: Job) -> Setting | None:
    able = [one for one in known if missing(one, largest) is None]
    if not able:
        return None
    calls = sorted({largest.shapes, *(n for n in ladder(MOST_CALLS) if n > largest.shapes)})
    jobs = [replace(largest, calls=n) for n in calls]
    ranked = {one.candidate: [middle_s(one, job) for job in jobs] for one in able}
    cheapest = [
        min(able, key=lambda one, at=at: ranked[one.candidate][at]) for at in range(len(jobs))
    ]
    return Setting(
        caches=largest.caches,
        shapes=largest.shapes,
        processes=largest.processes,
        calls=calls,
        curves={one.candidate: _curve(one, jobs) for one in able},
        cheapest=[one.candidate for one in cheapest],
        told_apart=_told_apart(able, cheapest, jobs),
        crossings=list(_crossings(able, largest, calls)),
    )


def _curve(one: Costs, jobs: Sequence[Job]) -> Curve:
    least = expected_of([paid(one, job) for job in jobs])
    most = expected_of([paid(one, job, 1.0) for job in jobs])
    found = [
        bounds(one, job) if widens(one, job) else (max(0.0, low), high)
        for job, low, high in zip(jobs, least.low, most.high, strict=True)
    ]
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    whole = least.bounded and most.bounded and len(lows) == len(jobs)
    return Curve(least.middle, lows if whole else None, highs if whole else None)


def _told_apart(
    able: Sequence[Costs], cheapest: Sequence[Costs], jobs: Sequence[Job]
) -> list[bool]:
    """Say of each job whether all others are dearer than the cheapest; of one alone, no."""
    told = [len(able) > 1] * len(jobs)
    for best in {one.candidate: one for one in cheapest}.values():
        places = [at for at, one in enumerate(cheapest) if one is best]
        for one in able:
            if one is not best:
                lows = _margins(one, best, [jobs[at] for at in places])
                for at, low in zip(places, lows, strict=True):
                    told[at] = told[at] and low is not None and low > 0
    return told


def _margins(one: Costs, best: Costs, jobs: Sequence[Job]) -> list[float | None]:
    """Return the least by which one is dearer than another, whatever new shapes cost."""
    lows = margin_lows([(paid(one, job), paid(best, job, 1.0)) for job in jobs])
    return [
        margin_bounds(one, best, job)[0] if widens(one, job) or widens(best, job) else low
        for job, low in zip(jobs, lows, strict=True)
    ]


def _crossings(
    able: Sequence[Costs], largest: Job, calls: Sequence[int]
) -> Iterator[tuple[int, str]]:
    """Find where another is the cheapest: beyond the first calls, totals are straight lines."""
    straight = largest.shapes + FEWEST
    at = {n: replace(largest, calls=n) for n in (straight, MOST_CALLS)}
    ends = {one.candidate: [middle_s(one, job) for job in at.values()] for one in able}
    first = {
        n: min(able, key=lambda one, job=replace(largest, calls=n): middle_s(one, job)).candidate
        for n in range(largest.shapes, straight)
    }

    def cheapest(n: int) -> str:
        if n in first:
            return first[n]
        share = (n - straight) / (MOST_CALLS - straight)
        return min(ends, key=lambda name: ends[name][0] + share * (ends[name][1] - ends[name][0]))

    values = sorted({*calls, *chain(first), straight})
    yield from ((n, cheapest(n)) for n in changes(cheapest, values))
