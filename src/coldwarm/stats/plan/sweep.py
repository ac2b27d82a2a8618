"""A job at many values of one of its numbers, and where another candidate becomes the cheapest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.answer import Crossing, Sweep, SweepRow
from coldwarm.stats.plan.jobs import middle_s, missing, new_shapes_s, total_s
from coldwarm.stats.plan.ladder import changes, ladder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Sweepable
    from coldwarm.stats.plan.costs import Costs
    from coldwarm.stats.plan.jobs import Job

_BEYOND = 10
"""How far a sweep goes beyond the number that was planned, as a factor."""
_LEAST_SWEPT = 1000


def largest(job: Job, over: Sweepable) -> Job:
    """Return the largest job of a sweep, which needs all that any of them does."""
    return _at(job, over, _swept(job, over)[-1])


def sweep(known: Sequence[Costs], job: Job, over: Sweepable) -> Sweep | None:
    """Cost the job at 1, 2, 5, 10, … of one of its numbers, and find what becomes cheapest.

    ``None``: no candidate has the costs of all of these jobs.
    """
    at = {value: _at(job, over, value) for value in _swept(job, over)}
    able = [one for one in known if all(missing(one, each) is None for each in at.values())]
    if not able:
        return None

    def cheapest(value: int) -> str:
        there = _at(job, over, value)
        return min(able, key=lambda one: middle_s(one, there)).candidate

    rows = [
        SweepRow(
            value=value,
            total_s={one.candidate: total_s(one, there) for one in able},
            new_shapes_s={one.candidate: new_shapes_s(one, there) for one in able},
            ranked_s={one.candidate: middle_s(one, there) for one in able},
            cheapest=cheapest(value),
        )
        for value, there in at.items()
    ]
    crossings = [Crossing(value=v, cheapest=cheapest(v)) for v in changes(cheapest, list(at))]
    return Sweep(over=over, rows=rows, crossings=crossings)


def _at(job: Job, over: Sweepable, value: int) -> Job:
    change: dict[str, Any] = {over: value}
    return replace(job, **change)


def _swept(job: Job, over: Sweepable) -> list[int]:
    """Return the values of a sweep: every shape needs a call of its own."""
    if over == "shapes":
        return sorted({*(value for value in ladder(job.calls) if value < job.calls), job.calls})
    planned = job.calls if over == "calls" else job.processes
    fewest = job.shapes if over == "calls" else 1
    values = ladder(max(_BEYOND * planned, _LEAST_SWEPT))
    return sorted({*(value for value in values if value > fewest), fewest, planned})
