"""A job of many calls, and what it costs with one candidate: sums of what its processes cost.

A total is the expected sum of its costs, each taken as many times as the job has it, from the sums
of rounds (``expected``). Two candidates are compared by the differences of these sums.

What a new shape costs is a cost like the others where it was measured, as a bench does with empty
caches. Else a candidate that compiles may have to do all of its first call again, or nothing: the
total lies between the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.stats.bounded import Bounded, difference, estimate, widened
from coldwarm.stats.intervals import CONFIDENCE, FEWEST_FOR_INTERVAL
from coldwarm.stats.plan.costs import FEWEST, WARM_CALL
from coldwarm.stats.plan.expected import expected, left_out, margin, one_process, whole_rounds
from coldwarm.stats.plan.expected import middle_s as expected_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.answer import Caches
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.plan.costs import Costs
    from coldwarm.stats.plan.expected import Term


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

    @property
    def of_one(self) -> Job:
        """The job of one process, as most of them are: not the first where caches are kept."""
        later = self.caches == "kept" and self.processes > 1
        return Job(self.calls, self.shapes, 1, "warm" if later else self.caches, self.new_measured)


def missing(one: Costs, job: Job) -> Reason | None:
    """Say which cost of the job the candidate lacks, also those of a new shape."""
    extra = [*(f"{state}.call" for state in job.bounded), WARM_CALL]
    return one.missing([*job.terms(), *(extra if _recompiles(one, job) else ())])


def _recompiles(one: Costs, job: Job) -> bool:
    return one.compiles and bool(job.bounded)


def paid(one: Costs, job: Job, share: float = 0.0) -> list[Term]:
    """Return what a candidate pays for a job, and how many times.

    ``share``: which part of the most that new shapes may cost is paid where it was not measured:
    each a whole first call instead of a warm one.
    """
    terms = [(float(number), one.series[name]) for name, number in job.terms().items()]
    if one.later is not None and (warm := job.terms().get(WARM_CALL)):
        # Processes whose new shapes were measured make fewer warm calls than the others.
        terms.append((float(job.processes), one.later.beyond(warm // job.processes)))
    if share:
        for series, number in _new_shapes(one, job):
            terms += [(share * number, series), (-share * number, one.series[WARM_CALL])]
    return terms


def _new_shapes(one: Costs, job: Job) -> list[tuple[Mapping[str, float], int]]:
    """Return the first calls that take longer than a warm one, and how many there may be."""
    if not _recompiles(one, job):
        return []
    warm_s = expected_s([(1.0, one.series[WARM_CALL])])
    calls = [
        (one.series[f"{state}.call"], n * (job.shapes - 1)) for state, n in job.bounded.items()
    ]
    return [(series, n) for series, n in calls if expected_s([(1.0, series)]) > warm_s]


def total_s(one: Costs, job: Job) -> float:
    """Return the seconds of a job; new shapes that were not measured cost as a warm call does."""
    return expected_s(paid(one, job))


def new_shapes_s(one: Costs, job: Job) -> float:
    """Return the most that new shapes cost besides: each a whole first call, not a warm one."""
    warm = one.series.get(WARM_CALL, {})
    return sum(
        number * (expected_s([(1.0, series)]) - expected_s([(1.0, warm)]))
        for series, number in _new_shapes(one, job)
    )


def middle_s(one: Costs, job: Job) -> float:
    """Return the total by which candidates are ranked: new shapes at half of their most."""
    return total_s(one, job) + new_shapes_s(one, job) / 2


def _others(name: str, job: Job, *candidates: Costs) -> int:
    """Return how many new shapes a cost stands for, where these are more than were measured.

    Then it is bounded over those, too, because shapes differ in what they cost; a single one
    tells nothing of that.
    """
    n_measured = min(len(one.by_shape) for one in candidates)
    more = job.shapes - 1 > n_measured >= FEWEST_FOR_INTERVAL
    return job.terms()[name] if more and name.endswith(".new") else 0


def widens(one: Costs, job: Job) -> bool:
    """Say whether bounds are widened by what other shapes may cost than those measured."""
    if job.shapes == 1 or not job.new_measured:
        return False
    return any(_others(name, job, one) for name in job.terms())


def bounds(one: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Bound the total, whatever new shapes cost; by nothing where there are too few processes."""
    found = _between(expected(paid(one, job)), expected(paid(one, job, 1.0)))
    for name in job.terms():
        if number := _others(name, job, one):
            middle = expected_s([(1.0, one.series[name])])
            found = widened(found, number, middle, estimate(one.by_shape, CONFIDENCE))
    low_s, high_s = _ends(found)
    return (None, None) if low_s is None or high_s is None else (max(0.0, low_s), high_s)


def margin_s(one: Costs, best: Costs, job: Job) -> float:
    """Return by how much one is dearer than the cheapest, from the rounds that they share.

    New shapes that were not measured are taken at half of their most.
    """
    return 0.0 if one is best else margin(paid(one, job, 0.5), paid(best, job, 0.5)).middle


def margin_bounds(one: Costs, best: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Bound by how much one is dearer than the cheapest, whatever new shapes cost."""
    if one is best:
        return 0.0, 0.0
    least = margin(paid(one, job), paid(best, job, 1.0))
    found = _between(least, margin(paid(one, job, 1.0), paid(best, job)))
    for name in job.terms():
        if number := _others(name, job, one, best):
            sides = [(1.0, one.series[name])], [(1.0, best.series[name])]
            among = difference(one.by_shape, best.by_shape, CONFIDENCE)
            found = widened(found, number, margin(*sides).middle, among)
    return _ends(found)


def _between(least: Bounded, most: Bounded) -> Bounded:
    return Bounded(least.middle, least.low, most.high)


def _ends(found: Bounded) -> tuple[float, float] | tuple[None, None]:
    if found.low is None or found.high is None:
        return None, None
    return found.low, found.high


def process_bounds(one: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Return where one process of the job will lie, whatever new shapes cost."""
    least, most = (one_process(paid(one, job.of_one, share)) for share in (0.0, 1.0))
    return (None, None) if least is None or most is None else (least[0], most[1])


def rounds_of(one: Costs, job: Job) -> tuple[int, int]:
    """Return how many rounds have all costs of a job, 0 where too few, and how many only some."""
    terms = paid(one, job)
    return len(whole_rounds(terms)), left_out(terms)
