"""A job of many calls, and what it costs with one candidate: sums of what its processes cost.

A total is a sum of medians, each taken as many times as the job has it. The interval of each term
is held with 1 - 5 %/k for k terms, and all are added, so that the total's holds with 95 % whatever
the terms have to do with each other. Two candidates are compared term by term, by the differences
within rounds.

What a new shape costs is a term like the others where it was measured, as a bench does with empty
caches. Else a candidate that compiles may have to do all of its first call again, or nothing: the
total lies between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.stats.bounded import difference, estimate, hull, median
from coldwarm.stats.intervals import CONFIDENCE, FEWEST_FOR_INTERVAL
from coldwarm.stats.plan.costs import WARM_CALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.plan import Caches
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.plan.costs import Costs

FEWEST = 2
"""Calls from which all further ones are warm."""


@dataclass(frozen=True)
class Job:
    """What is planned: ``calls`` in each process, among them ``shapes`` different ones.

    ``caches``: ``cold`` has every process find them empty, ``warm`` filled, ``kept`` has the
    first one find them empty and the others what it left.
    """

    calls: int
    shapes: int
    processes: int
    caches: Caches
    new_measured: bool = False
    """Whether each candidate's call with a new shape was measured, in empty caches."""

    @property
    def starts(self) -> dict[str, int]:
        """How many processes find their caches ``empty``, and how many ``filled``."""
        empty = {"cold": self.processes, "warm": 0, "kept": 1}[self.caches]
        counted = {"empty": empty, "filled": self.processes - empty}
        return {state: number for state, number in counted.items() if number}

    def terms(self) -> Mapping[str, int]:
        """Return how often the job has each cost; new shapes only where they were measured."""
        if self.calls < FEWEST:
            return {f"{state}.first": number for state, number in self.starts.items()}
        starts = {f"{state}.two": number for state, number in self.starts.items()}
        more = self.shapes - 1
        new = {f"{s}.new": n * more for s, n in self.starts.items() if more and self.measures(s)}
        # Where every call has a shape of its own, the second one is counted besides.
        warm = max(0, self.processes * (self.calls - FEWEST) - sum(new.values()))
        return starts | new | ({WARM_CALL: warm} if warm else {})

    def measures(self, state: str) -> bool:
        """Say whether a new shape's cost was measured with the caches in this state."""
        return self.new_measured and state == "empty"

    @property
    def bounded(self) -> dict[str, int]:
        """Processes by the state of caches in which a new shape's cost is only bounded."""
        if self.shapes == 1:
            return {}
        return {s: n for s, n in self.starts.items() if not self.measures(s)}


def missing(one: Costs, job: Job) -> Reason | None:
    """Say which cost of the job the candidate lacks, also those of a new shape."""
    extra = [*(f"{state}.call" for state in job.bounded), WARM_CALL]
    return one.missing([*job.terms(), *(extra if _recompiles(one, job) else ())])


def _recompiles(one: Costs, job: Job) -> bool:
    return one.compiles and bool(job.bounded)


def total_s(one: Costs, job: Job) -> float:
    """Return the seconds of a job; new shapes that were not measured cost as a warm call does."""
    return sum(number * median(one.series[name]) for name, number in job.terms().items())


def new_shapes_s(one: Costs, job: Job, confidence: float | None = None) -> float:
    """Return the most that new shapes cost: each a whole first call instead of a warm one.

    With a confidence, what this is at most: the upper bound of each first call is taken.
    """
    if not _recompiles(one, job):
        return 0.0
    warm_s = median(one.series[WARM_CALL])
    whole_s = 0.0
    for state, number in job.bounded.items():
        series = one.series[f"{state}.call"]
        high_s = estimate(series, confidence).high if confidence else None
        call_s = median(series) if high_s is None else high_s
        whole_s += number * (job.shapes - 1) * max(0.0, call_s - warm_s)
    return whole_s


def middle_s(one: Costs, job: Job) -> float:
    """Return the total by which candidates are ranked: new shapes at half of their most."""
    return total_s(one, job) + new_shapes_s(one, job) / 2


def _each(job: Job) -> float:
    """Return the confidence with which each term must hold for the sum to do so with 95 %."""
    parts = len(job.terms()) + len(job.bounded)
    return 1 - (1 - CONFIDENCE) / parts


def _of_others(name: str, job: Job, *candidates: Costs) -> bool:
    """Say whether a cost stands for more new shapes than were measured.

    Then it is bounded over those, too, because shapes differ in what they cost; a single one
    tells nothing of that.
    """
    n_measured = min(len(one.by_shape) for one in candidates)
    return name.endswith(".new") and job.shapes - 1 > n_measured >= FEWEST_FOR_INTERVAL


def bounds(one: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Bound the total, whatever new shapes cost; by nothing where there are too few processes."""
    each = _each(job)
    low_s, high_s = 0.0, new_shapes_s(one, job, each)
    for name, number in job.terms().items():
        term = estimate(one.series[name], each)
        if _of_others(name, job, one):
            term = hull(term, estimate(one.by_shape, each))
        if term.low is None or term.high is None:
            return None, None
        low_s, high_s = low_s + number * term.low, high_s + number * term.high
    return low_s, high_s


def margin_s(one: Costs, best: Costs, job: Job) -> float:
    """Return by how much one is dearer than the cheapest, from the rounds that they share.

    New shapes that were not measured are taken at half of their most.
    """
    if one is best:
        return 0.0
    new_s = (new_shapes_s(one, job) - new_shapes_s(best, job)) / 2
    return new_s + sum(
        number * difference(one.series[name], best.series[name], CONFIDENCE).middle
        for name, number in job.terms().items()
    )


def margin_bounds(one: Costs, best: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Bound by how much one is dearer than the cheapest, whatever new shapes cost."""
    if one is best:
        return 0.0, 0.0
    each = _each(job)
    low_s, high_s = -new_shapes_s(best, job, each), new_shapes_s(one, job, each)
    for name, number in job.terms().items():
        term = difference(one.series[name], best.series[name], each)
        if _of_others(name, job, one, best):
            term = hull(term, difference(one.by_shape, best.by_shape, each))
        if term.low is None or term.high is None:
            return None, None
        low_s, high_s = low_s + number * term.low, high_s + number * term.high
    return low_s, high_s
