"""Judged statements about candidates: from how many calls one pays off, what a plan costs."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.answer import Answer, Crossing
from coldwarm.contracts.base import Count, NotNegative, Reading, Record, Seconds
from coldwarm.contracts.reasons import Reason
from coldwarm.contracts.summary import CacheSetting

Caches = Literal["cold", "warm", "kept"]
Sweepable = Literal["calls", "shapes", "processes"]


class BreakEven(Record, frozen=True, kw_only=True):
    """From how many calls a candidate costs no more than another, in one reading.

    ``process`` counts from the start of a process with empty caches, ``imported`` only wrapping
    and calling there, ``cached`` from the start of a process with filled caches.

    ``from``: no dearer from ``calls`` calls on. ``until``: no dearer up to ``calls`` calls, and
    dearer after them. ``at_once``: no dearer at any number, so that ``calls`` is 1. ``never``:
    dearer at every number. ``low`` and ``high`` bound ``calls`` at ``confidence``; a bound that
    is ``None`` has its reason. ``rests_on`` says which rounds or processes they are from, and
    ``n_rounds`` how many rounds or, where none are common, processes of the side that has fewer.
    """

    candidate: str
    baseline: str
    reading: Reading
    verdict: Literal["from", "until", "at_once", "never", "undecided"]
    calls: Count | None
    low: Count | None
    high: Count | None
    confidence: float = 0.95
    reason: Reason
    n_rounds: Count | None = None
    measured_calls: Count | None = None
    """Calls of a process up to which both totals are measured; beyond, they are extrapolated."""
    rests_on: Reason | None = None
    null_reasons: dict[str, Reason] = {}

    @property
    def extrapolated(self) -> bool:
        """Whether one of its numbers lies beyond what was measured."""
        numbers = [n for n in (self.calls, self.low, self.high) if n is not None]
        return self.measured_calls is not None and max(numbers, default=0) > self.measured_calls


class PlanTotal(Record, frozen=True, kw_only=True):
    """What a plan costs with one candidate, in seconds of all its processes together.

    ``total_s`` is the expected sum, from means, and has new shapes cost nothing more than a warm
    call; ``new_shapes_s`` is what they cost besides where each is a whole first call. ``low_s`` and
    ``high_s`` bound the expected total at ``confidence`` whatever new shapes cost; ``rests_on``
    says from which rounds, and ``n_rounds`` from how many. ``process_low_s`` and
    ``process_high_s`` are where a single process lies, with the same confidence, whatever new
    shapes cost: where caches are kept, a later one than the first. ``margin_s`` is how much dearer
    it is than the cheapest, from the differences within rounds, with new shapes at half of their
    most; its bounds cover all that they may cost.

    ``made_s`` is what making ahead of time took, once for each shape. The total has none of it:
    the processes of the plan find what was made, as with filled caches.
    """

    candidate: str
    case: str
    total_s: NotNegative | None
    new_shapes_s: NotNegative | None
    low_s: NotNegative | None
    high_s: NotNegative | None
    margin_s: float | None
    margin_low_s: float | None
    margin_high_s: float | None
    made_s: NotNegative | None = None
    process_low_s: NotNegative | None = None
    process_high_s: NotNegative | None = None
    n_rounds: Count | None = None
    measured_calls: Count | None = None
    """Calls of a process up to which the total is measured; beyond, it is extrapolated."""
    rests_on: Reason | None = None
    process_rests_on: Reason | None = None
    confidence: float = 0.95
    null_reasons: dict[str, Reason] = {}


class SweepRow(Record, frozen=True, kw_only=True):
    """The plan at one value of what is swept: by candidate, seconds as in ``PlanTotal``.

    ``ranked_s`` is what decides on ``cheapest``: the total with half of what new shapes may cost.
    """

    value: Count
    total_s: dict[str, NotNegative]
    new_shapes_s: dict[str, NotNegative]
    ranked_s: dict[str, NotNegative]
    cheapest: str


class Sweep(Record, frozen=True, kw_only=True):
    """A plan over a geometric range of one of its numbers, the others as they are."""

    over: Sweepable
    rows: list[SweepRow]
    crossings: list[Crossing]


class Plan(Record, frozen=True, kw_only=True):
    """What is planned with a group's candidates, what each costs, and which is the cheapest.

    ``cheapest`` has the lowest total, new shapes at half of the most that they may cost.
    ``verdict`` is ``told_apart`` where every other one is dearer with ``confidence``, and
    ``extrapolated`` where that holds if calls beyond those measured cost what the last ones did.
    """

    group: str
    calls: Count
    """In each process."""
    shapes: Count
    """Different ones in each process."""
    processes: Count
    caches: Caches
    new_shapes_measured: bool = False
    """Whether totals hold what new shapes cost, as measured; else it is bounded beside them."""
    totals: list[PlanTotal]
    cheapest: str | None
    cheapest_with_making: str | None = None
    """The cheapest where ``made_s`` is paid for as well; ``None``: nothing was made ahead."""
    verdict: Literal["told_apart", "extrapolated", "undecided"]
    reason: Reason
    baseline: str | None
    """Of ``break_even`` as it is shown: the workload's own, where it was measured."""
    break_even: list[BreakEven]
    """Each pair of candidates in each reading, those with the baseline first."""
    sweep: Sweep | None = None
    not_measured: dict[str, Reason] = {}
    """By candidate, why the run has nothing of it."""
    not_steady: dict[str, Reason] = {}
    """By candidate, why its warm calls may not stand for later ones."""
    memory_returned: dict[str, Reason] = {}
    """By candidate, what its warm calls would gain if the C allocator kept what they free. The
    totals are of programs as they come."""
    filled_by: dict[str, list[CacheSetting]] = {}
    """By candidate, what a program must set for the filled caches that the totals have."""
    filled_by_default_s: dict[str, Seconds] = {}
    """By candidate, where that is not set: seconds from the start of a process to its first
    result, caches filled with the framework's own settings."""
    filled_s: dict[str, Seconds] = {}
    """The same with what must be set, as in the totals."""
    null_reasons: dict[str, Reason] = {}


class PlanReport(Record, frozen=True, kw_only=True):
    """The plans of the groups of one run."""

    schema_version: Literal["coldwarm.plan_report.v2"] = "coldwarm.plan_report.v2"
    run_id: str
    suite: str
    plans: list[Plan]
    answers: list[Answer] = []
    """What the run says of the same groups at any number of calls."""
