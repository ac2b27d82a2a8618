"""Plans: what a job of many calls costs with each candidate, and which is the cheapest. Pure.

A total is the expected sum of its costs, each taken as many times as the job has it, from the sums
of rounds (``expected``). Two candidates are compared by the differences of these sums.

What a new shape costs is a cost like the others where it was measured, as a bench does with empty
caches. Else a candidate that compiles may have to do all of its first call again, or nothing: the
total lies between the two.

Who reads a report chooses among jobs of any number of calls, shapes and processes: a ``grid`` has
what a plan would say of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from coldwarm.contracts.answer import Crossing, Plan, PlanTotal, Sweep, SweepRow
from coldwarm.contracts.base import FILLED, READINGS, WARM
from coldwarm.contracts.reasons import because, distinct
from coldwarm.stats.breakeven import break_even
from coldwarm.stats.cautions import held_back
from coldwarm.stats.costs import FEWEST, STATES, WARM_CALL, gather
from coldwarm.stats.expected import (
    FEWEST_BY_ORDER,
    expected,
    left_out,
    margin,
    one_process,
    seen,
    whole_rounds,
)
from coldwarm.stats.expected import middle_s as expected_s
from coldwarm.stats.intervals import (
    CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    Interval,
    difference,
    paired,
    widened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from coldwarm.contracts.answer import BreakEven, Caches, Sweepable
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.costs import CostGroup, Costs
    from coldwarm.stats.expected import Term


_Verdict = Literal["told_apart", "extrapolated", "undecided"]
_FIGURES = tuple(name for name in PlanTotal.__struct_fields__ if name.endswith("_s"))


def plan(group: CostGroup, job: Job, over: Sweepable | None = None) -> Plan:
    """Return what a job costs with each candidate of a group, and which pays off from when.

    With ``over``, also the totals over a range of that number.
    """
    known = group.known
    measured = bool(known) and all(one.series.get("empty.new") for one in known)
    job = replace(job, new_measured=measured)
    ready = [one for one in known if _missing(one, job) is None]
    held = {case.candidate: why for case in group.cases if (why := held_back(case)) is not None}
    free = [one for one in ready if one.candidate not in held]
    best = min(free, key=lambda one: _middle_s(one, job), default=None)
    if best is not None:  # candidates that differ in their rounds are ranked by those they share
        first = best
        best = min(free, key=lambda one: _margin_s(one, first, job))
    totals = [_total(one, job, best) for one in known]
    verdict, reason = _verdict(best, [one for one in totals if one.candidate not in held], job)
    if best is None and held:
        verdict, reason = "undecided", next(iter(held.values()))
    swept = _sweep(free, job, over) if over else None
    return Plan(
        group=group.name,
        calls=job.calls,
        shapes=job.shapes,
        processes=job.processes,
        caches=job.caches,
        new_shapes_measured=job.shapes > 1 and not job.bounded,
        totals=sorted(totals, key=lambda it: (it.margin_s is None, it.margin_s or 0.0)),
        cheapest=best.candidate if best else None,
        cheapest_with_making=_with_making(free, job),
        verdict=verdict,
        reason=reason,
        baseline=next((one.candidate for one in _baseline_first(known)), None),
        break_even=_pairs(known),
        sweep=swept,
        not_measured=dict(group.not_measured),
        not_steady=dict(group.not_steady),
        **_settings(group.cases, filled=bool(job.starts.get("filled"))),
        null_reasons=_reasons(reason if best is None else None, free)
        | ({"sweep": because("not_swept")} if over and swept is None else {}),
    )


def _reasons(no_best: Reason | None, ready: Sequence[Costs]) -> dict[str, Reason]:
    """Return why a plan has no cheapest candidate, or none with making paid for."""
    if no_best is not None:
        return dict.fromkeys(("cheapest", "cheapest_with_making", "sweep"), no_best)
    made = any(one.made_s is not None for one in ready)
    return {} if made else {"cheapest_with_making": because("nothing_made")}


def _with_making(ready: Sequence[Costs], job: Job) -> str | None:
    """Return the cheapest where compiling ahead of time is paid for, once for each shape."""
    if all(one.made_s is None for one in ready):
        return None
    best = min(ready, key=lambda one: _middle_s(one, job) + (one.made_s or 0.0) * job.shapes)
    return best.candidate


def _total(one: Costs, job: Job, best: Costs | None) -> PlanTotal:
    fault = _missing(one, job)
    if fault is not None or best is None:
        nothing: dict[str, Any] = dict.fromkeys(_FIGURES)
        absent = (*_FIGURES, "n_rounds", "rests_on", "process_rests_on")
        reasons = dict.fromkeys(absent, fault or because("no_total"))
        return PlanTotal(candidate=one.candidate, case=one.case, null_reasons=reasons, **nothing)
    made_s = None if one.made_s is None else one.made_s * job.shapes
    low_s, high_s = _bounds(one, job)
    margin_low_s, margin_high_s = _margin_bounds(one, best, job)
    reasons = {}
    few = because("few_processes_each", n_needed=FEWEST_FOR_INTERVAL)
    if made_s is None:
        reasons["made_s"] = because("nothing_made")
    if low_s is None:
        reasons |= dict.fromkeys(("low_s", "high_s"), few)
    if margin_low_s is None:
        reasons |= dict.fromkeys(("margin_low_s", "margin_high_s"), few)
    process_low_s, process_high_s = _process_bounds(one, job)
    n_rounds, n_left_out = _rounds_of(one, job)
    n_of_one, _ = _rounds_of(one, job.of_one)
    if not n_rounds:
        reasons["n_rounds"] = few if low_s is None else because("separate_costs")
    if process_low_s is None:
        why = few if low_s is None else because("separate_costs")
        reasons |= dict.fromkeys(("process_low_s", "process_high_s", "process_rests_on"), why)
    return PlanTotal(
        candidate=one.candidate,
        case=one.case,
        total_s=_total_s(one, job),
        new_shapes_s=_new_shapes_s(one, job),
        low_s=low_s,
        high_s=high_s,
        margin_s=_margin_s(one, best, job),
        margin_low_s=margin_low_s,
        margin_high_s=margin_high_s,
        made_s=made_s,
        process_low_s=process_low_s,
        process_high_s=process_high_s,
        n_rounds=n_rounds or None,
        measured_calls=one.measured_calls,
        rests_on=_basis(n_rounds, n_left_out),
        process_rests_on=None if process_low_s is None else _basis_of_one(n_of_one),
        null_reasons=reasons,
    )


def _basis(n_rounds: int, n_left_out: int) -> Reason:
    """Say from which rounds a total is bounded."""
    if not n_rounds:
        return because("separate_costs")
    whole = because("whole_rounds", n_rounds=n_rounds)
    if not n_left_out:
        return whole
    return because("several", whole, because("rounds_left_out", n_rounds=n_left_out))


def _basis_of_one(n_rounds: int) -> Reason:
    """Say what the range of one process is from."""
    by_order = n_rounds >= FEWEST_BY_ORDER
    return because("by_order" if by_order else "by_student", n_rounds=n_rounds)


def _verdict(best: Costs | None, totals: Sequence[PlanTotal], job: Job) -> tuple[_Verdict, Reason]:
    """Say whether the cheapest is distinguished from all others, and why or why not."""
    if best is None:
        lacking = distinct(total.null_reasons["total_s"] for total in totals)
        return "undecided", lacking[0] if len(lacking) == 1 else because("several", *lacking)
    others = [t for t in totals if t.candidate != best.candidate and t.total_s is not None]
    if not others:
        return "undecided", because("no_other_total")
    near = [t.candidate for t in others if t.margin_low_s is None or t.margin_low_s <= 0]
    if near:
        return "undecided", because("indistinguishable", candidate_names=near)
    dearer = because("all_dearer", confidence_share=CONFIDENCE)
    measured = [
        (one.measured_calls, one.candidate)
        for one in totals
        if one.total_s is not None and one.measured_calls is not None
    ]
    n_calls, least = min(measured, default=(job.calls, ""))
    if job.calls <= n_calls:
        return "told_apart", dearer
    reason = because("extrapolated", dearer, candidate=least, n_calls=n_calls)
    return "extrapolated", reason


def _baseline_first(known: Iterable[Costs]) -> list[Costs]:
    return sorted(known, key=lambda one: not one.baseline)


def _pairs(known: Iterable[Costs]) -> list[BreakEven]:
    ordered = _baseline_first(known)
    return [
        break_even(ours, theirs, reading)
        for place, theirs in enumerate(ordered)
        for ours in ordered[place + 1 :]
        for reading in READINGS
    ]


CACHES: dict[str, Caches] = {"empty": "cold", "filled": "warm", "kept": "kept"}
"""By the words for a user, those of the record."""


@dataclass(frozen=True)
class Job:
    """Job to plan: ``calls`` in each process, among them ``shapes`` different ones.

    ``caches``: ``cold`` has every process find them empty, ``warm`` filled, ``kept`` has the
    first one find them empty and the others what it left.
    """

    calls: int
    shapes: int
    processes: int
    caches: Caches
    new_measured: bool = False
    """Whether each candidate's call with a new shape was measured, in empty caches."""

    @cached_property
    def starts(self) -> dict[str, int]:
        """How many processes find their caches ``empty``, and how many ``filled``."""
        empty = {"cold": self.processes, "warm": 0, "kept": 1}[self.caches]
        counted = {"empty": empty, "filled": self.processes - empty}
        return {state: number for state, number in counted.items() if number}

    @cached_property
    def terms(self) -> Mapping[str, int]:
        """How often the job has each cost; new shapes only where they were measured."""
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

    @cached_property
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


def _missing(one: Costs, job: Job) -> Reason | None:
    """Say which cost of the job the candidate lacks, also those of a new shape."""
    extra = [*(f"{state}.call" for state in job.bounded), WARM_CALL]
    return one.missing([*job.terms, *(extra if _recompiles(one, job) else ())])


def _recompiles(one: Costs, job: Job) -> bool:
    return one.compiles and bool(job.bounded)


def _paid(one: Costs, job: Job, share: float = 0.0) -> list[Term]:
    """Return what a candidate pays for a job, and how many times.

    ``share``: which part of the most that new shapes may cost is paid where it was not measured:
    each a whole first call instead of a warm one.
    """
    terms = [(float(number), one.series[name]) for name, number in job.terms.items()]
    if one.later is not None and (warm := job.terms.get(WARM_CALL)):
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


def _total_s(one: Costs, job: Job) -> float:
    """Return the seconds of a job; new shapes that were not measured cost as a warm call does."""
    return expected_s(_paid(one, job))


def _new_shapes_s(one: Costs, job: Job) -> float:
    """Return the most that new shapes cost besides: each a whole first call, not a warm one."""
    warm = one.series.get(WARM_CALL, {})
    return sum(
        number * (expected_s([(1.0, series)]) - expected_s([(1.0, warm)]))
        for series, number in _new_shapes(one, job)
    )


def _middle_s(one: Costs, job: Job) -> float:
    """Return the total by which candidates are ranked: new shapes at half of their most."""
    return _total_s(one, job) + _new_shapes_s(one, job) / 2


def _others(name: str, job: Job, *candidates: Costs) -> int:
    """Return how many new shapes a cost stands for, where these are more than were measured.

    Then it is bounded over those, too, because shapes differ in what they cost; a single one
    tells nothing of that.
    """
    n_measured = min(len(one.by_shape) for one in candidates)
    more = job.shapes - 1 > n_measured >= FEWEST_FOR_INTERVAL
    return job.terms[name] if more and name.endswith(".new") else 0


def _bounds(one: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Bound the total, whatever new shapes cost and wherever freed memory goes.

    By nothing where there are too few processes, and of few rounds by what was seen.
    """
    least, most = (
        seen(terms) or expected(terms) for terms in (_paid(one, job), _paid(one, job, 1.0))
    )
    found = _between(least, most)
    for name in job.terms:
        if number := _others(name, job, one):
            middle = expected_s([(1.0, one.series[name])])
            among = paired(list(one.by_shape.values()), CONFIDENCE).not_negative
            found = widened(found, number, middle, among)
    low = max(found.low - _kept_s(one, job), _starts_low_s(one, job))
    return Interval(found.middle, low, found.high).not_negative.ends


def _starts_low_s(one: Costs, job: Job) -> float:
    """Return the lower bound of what a job costs before its warm calls, which it is at least."""
    terms = [
        (float(number), one.series[name])
        for name, number in job.terms.items()
        if name != WARM_CALL and number > 0
    ]
    return (seen(terms) or expected(terms)).low if terms else 0.0


def _kept_s(one: Costs, job: Job) -> float:
    """Return the most that a job saves where a program's allocator keeps freed memory."""
    return one.kept_s * job.terms.get(WARM_CALL, 0)


def _margin_s(one: Costs, best: Costs, job: Job) -> float:
    """Return by how much one is dearer than the cheapest, from the rounds that they share.

    New shapes that were not measured are taken at half of their most.
    """
    return 0.0 if one is best else margin(_paid(one, job, 0.5), _paid(best, job, 0.5)).middle


def _margin_bounds(one: Costs, best: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Bound by how much one is dearer than the cheapest, whatever new shapes cost."""
    if one is best:
        return 0.0, 0.0
    least = margin(_paid(one, job), _paid(best, job, 1.0))
    found = _between(least, margin(_paid(one, job, 1.0), _paid(best, job)))
    for name in job.terms:
        if number := _others(name, job, one, best):
            sides = [(1.0, one.series[name])], [(1.0, best.series[name])]
            among = difference(one.by_shape, best.by_shape, CONFIDENCE)
            found = widened(found, number, margin(*sides).middle, among)
    return found.ends


def _between(least: Interval, most: Interval) -> Interval:
    return Interval(least.middle, least.low, most.high)


def _process_bounds(one: Costs, job: Job) -> tuple[float, float] | tuple[None, None]:
    """Return where one process of the job will lie, whatever new shapes cost."""
    least, most = (one_process(_paid(one, job.of_one, share)) for share in (0.0, 1.0))
    if least is None or most is None:
        return None, None
    return max(0.0, least[0] - _kept_s(one, job.of_one)), most[1]


def _rounds_of(one: Costs, job: Job) -> tuple[int, int]:
    """Return how many rounds have all costs of a job, 0 where too few, and how many only some."""
    terms = _paid(one, job)
    return len(whole_rounds(terms)), left_out(terms)


_BEYOND = 10
"""How far a sweep goes beyond the number that was planned, as a factor."""
_LEAST_SWEPT = 1000


def largest(job: Job, over: Sweepable) -> Job:
    """Return the largest job of a sweep, which needs all that any of them does."""
    return _at(job, over, _swept(job, over)[-1])


def _sweep(known: Sequence[Costs], job: Job, over: Sweepable) -> Sweep | None:
    """Cost the job at 1, 2, 5, 10, … of one of its numbers, and find what becomes cheapest.

    ``None``: no candidate has the costs of all of these jobs.
    """
    at = {value: _at(job, over, value) for value in _swept(job, over)}
    able = [one for one in known if all(_missing(one, each) is None for each in at.values())]
    if not able:
        return None

    def cheapest(value: int) -> str:
        there = _at(job, over, value)
        return min(able, key=lambda one: _middle_s(one, there)).candidate

    rows = [
        SweepRow(
            value=value,
            total_s={one.candidate: _total_s(one, there) for one in able},
            new_shapes_s={one.candidate: _new_shapes_s(one, there) for one in able},
            ranked_s={one.candidate: _middle_s(one, there) for one in able},
            cheapest=cheapest(value),
        )
        for value, there in at.items()
    ]
    crossings = [Crossing(value=v, cheapest=cheapest(v)) for v in _changes(cheapest, list(at))]
    return Sweep(over=over, rows=rows, crossings=crossings)


def _at(job: Job, over: Sweepable, value: int) -> Job:
    change: dict[str, Any] = {over: value}
    return replace(job, **change)


def _swept(job: Job, over: Sweepable) -> list[int]:
    """Return the values of a sweep: every shape needs a call of its own."""
    if over == "shapes":
        return sorted({*(value for value in _ladder(job.calls) if value < job.calls), job.calls})
    planned = job.calls if over == "calls" else job.processes
    fewest = job.shapes if over == "calls" else 1
    values = _ladder(max(_BEYOND * planned, _LEAST_SWEPT))
    return sorted({*(value for value in values if value > fewest), fewest, planned})


_STEPS = (1, 2, 5)


def _ladder(most: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, … up to the first that is at least ``most``."""
    values: list[int] = []
    power = 1
    while True:
        for step in _STEPS:
            values.append(step * power)
            if values[-1] >= most:
                return values
        power *= 10


def _changes(cheapest: Callable[[int], str], values: Sequence[int]) -> list[int]:
    """Return each number, between the first and last value, from which another one is cheapest.

    Totals are straight lines, of which each is the lowest on one stretch only: between two
    values with the same answer nothing changes.
    """
    numbers = []
    for left, right in pairwise(values):
        numbers += _changes_between(cheapest, left, right)
    return numbers


def _changes_between(cheapest: Callable[[int], str], left: int, right: int) -> list[int]:
    if cheapest(left) == cheapest(right):
        return []
    if right - left == 1:
        return [right]
    middle = (left + right) // 2
    return _changes_between(cheapest, left, middle) + _changes_between(cheapest, middle, right)


_START = "ttfr_process"


def _settings(cases: Sequence[CaseResult], *, filled: bool) -> dict[str, Any]:
    """Return the fields of a plan that say so, by candidate.

    ``filled``: whether a process of the plan finds its caches filled.
    """
    returned = {
        case.candidate: caution.reason
        for case in cases
        for caution in case.warnings
        if caution.kind == "allocator"
    }
    if not filled:
        return {"memory_returned": returned}
    ours, by_default = {}, {}
    for case in cases:
        for cold in case.cold:
            other = cold.framework_default
            if cold.cache_mode == FILLED and other is not None and _START in other.seconds:
                ours[case.candidate] = cold.seconds[_START].median
                by_default[case.candidate] = other.seconds[_START].median
    return {
        "memory_returned": returned,
        "filled_by": {case.candidate: case.filled_by for case in cases if case.filled_by},
        "filled_s": ours,
        "filled_by_default_s": by_default,
    }


MOST_CALLS = 1_000_000
"""The largest number of calls that a reader may choose."""
_STEP = 1.2
"""Between numbers of measured calls at which a change is looked for."""
_SHAPES = (1, 10, 100)
_PROCESSES = (1, 10, 100)
_CACHES: tuple[Caches, ...] = ("cold", "kept", "warm")


@dataclass(frozen=True)
class _Curve:
    """Expected totals in seconds and their bounds, one for each number of calls.

    ``None`` in place of bounds where there are too few processes for any of them.
    """

    total_s: list[float]
    low_s: list[float] | None
    high_s: list[float] | None

    def times(self, number: int) -> _Curve:
        """Return the cost of so many processes alike."""
        low_s, high_s = self.low_s, self.high_s
        return _Curve(
            [number * one for one in self.total_s],
            None if low_s is None else [number * one for one in low_s],
            None if high_s is None else [number * one for one in high_s],
        )


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
    curves: Mapping[str, _Curve]
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


def _setting(known: Sequence[Costs], most: Job) -> JobSetting | None:
    able = [one for one in known if _missing(one, most) is None]
    if not able:
        return None
    calls = sorted({n for n in _numbers(able) if n > most.shapes} | {most.shapes})
    jobs = [replace(most, calls=n) for n in calls]
    ranked = _Ranked(able, most, calls)
    named = {one.candidate: one for one in able}
    cheapest = [named[ranked(n)] for n in calls]
    return JobSetting(
        caches=most.caches,
        shapes=most.shapes,
        processes=most.processes,
        calls=calls,
        curves={one.candidate: _curve(one, jobs) for one in able},
        cheapest=[one.candidate for one in cheapest],
        told_apart=[_told_apart(able, *each) for each in zip(cheapest, jobs, strict=True)],
        measured={one.candidate: n for one in able if (n := one.measured_calls) is not None},
        crossings=[(n, ranked(n)) for n in _changes(ranked, ranked.at)],
    )


def _numbers(able: Sequence[Costs]) -> set[int]:
    """Return the numbers of calls that are costed: rounded ones, and where measuring ended."""
    ends = (one.measured_calls for one in able)
    return {*_ladder(MOST_CALLS), *(n for n in ends if n is not None and n < MOST_CALLS)}


def _curve(one: Costs, jobs: Sequence[Job]) -> _Curve:
    totals = [_total_s(one, job) for job in jobs]
    found = [_bounds(one, job) for job in jobs]
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    return _Curve(totals, lows, highs) if len(lows) == len(jobs) else _Curve(totals, None, None)


def _told_apart(able: Sequence[Costs], best: Costs, job: Job) -> bool:
    """Say whether all others are dearer than the cheapest; of one alone, no."""
    lows = [_margin_bounds(one, best, job)[0] for one in able if one is not best]
    return bool(lows) and all(low is not None and low > 0 for low in lows)


class _Ranked:
    """The cheapest at any number of calls: beyond what was measured, totals are straight lines."""

    def __init__(self, able: Sequence[Costs], most: Job, calls: Sequence[int]) -> None:
        """Cost each candidate once at each number at which its line may bend."""
        straight = most.shapes + FEWEST
        ends = max([straight, *(one.measured_calls or 0 for one in able)]) + most.shapes
        near = {math.ceil(straight * _STEP**power) for power in range(200)}
        first = range(most.shapes, straight + 1)
        self.at = sorted({*first, *(n for n in near if n < ends), *calls, ends, MOST_CALLS})
        jobs = [replace(most, calls=n) for n in self.at]
        self._known = {one.candidate: [_middle_s(one, job) for job in jobs] for one in able}

    def __call__(self, n: int) -> str:
        """Return the name of the cheapest."""
        return min(self._known, key=lambda name: float(np.interp(n, self.at, self._known[name])))


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
        _Crossing(one.caches, calls, name, _on_curve(one, name, calls))
        for one in found
        for calls, name in one.crossings
    ]


def _on_curve(one: JobSetting, name: str, calls: int) -> float:
    """Return a total at a number of calls; between two that are there it is a straight line."""
    return float(np.interp(calls, one.calls, one.curves[name].total_s))
