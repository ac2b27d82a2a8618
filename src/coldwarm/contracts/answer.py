"""Statements on several processes: distributions, differences, cautions, answers, and plans.

The answer is which candidate is the cheapest, from how many calls, how surely.
``coldwarm.stats.answers`` computes it from the cases of a run and from nothing else, so that
whoever has these can compute it again. Every view shows what stands here and adds nothing.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import msgspec

from coldwarm.contracts.base import (
    WARM,
    CacheMode,
    Count,
    Dtype,
    NotNegative,
    Positive,
    Reading,
    Record,
    Seconds,
)
from coldwarm.contracts.reasons import Reason

_VariableName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$(?!\n)")]
"""Name of a variable of the environment, as every shell takes one."""


Verdict = Literal["faster", "slower", "same", "undecided"]


class Summary(Record, frozen=True, kw_only=True):
    """A distribution in few numbers; seconds, bytes or a ratio as its key says.

    ``low`` and ``high`` bound the median of the processes' medians at ``confidence``: by two of
    them in their order from six on, by all of them below, which hold it with that confidence alone.
    ``p95`` is ``None`` below the 20 values it needs.
    """

    n_processes: Count
    n_samples: Count
    median: NotNegative
    minimum: NotNegative
    maximum: NotNegative
    low: NotNegative | None = None
    high: NotNegative | None = None
    confidence: float = 0.95
    p95: NotNegative | None = None
    null_reasons: dict[str, Reason] = {}


class Comparison(Record, frozen=True, kw_only=True):
    """A judged difference of this case from its workload's baseline.

    ``ratio`` is this case over the baseline, so below 1 is faster. ``threshold`` is the
    relative difference that matters; ``smallest_detectable`` the smallest relative
    difference that this run could have shown. From fewer than five rounds, ``low`` and ``high``
    are the range of what was seen.
    """

    metric: str
    baseline: str
    ratio: Positive | None
    low: float | None
    high: float | None
    confidence: float = 0.97
    """Confidence of the bounds."""
    threshold: float
    smallest_detectable: float | None
    verdict: Verdict
    p_value: float | None = None
    """How often chance would give a verdict like it where it is wrong; ``None``: there is none, or
    it was told from the range."""
    reason: Reason


CautionKind = Literal[
    "rejected",
    "failed",
    "few",
    "precision",
    "noisy",
    "unsteady",
    "bimodal",
    "second_call",
    "uneven",
    "compiled",
    "settings",
    "bytecode",
    "kept",
    "allocator",
    "other_calls",
    "untried",
    "counts",
]


class Caution(Record, frozen=True, kw_only=True):
    """Something to know before trusting a case, such that many can be summed up as one."""

    kind: CautionKind
    cache_mode: CacheMode | None = None
    """The mode it is about; ``None``: the case as a whole."""
    n_processes: Count
    """Processes it was seen in."""
    of_processes: Count
    """Processes that could have shown it."""
    reason: Reason
    """Observation behind it, with its figures: of several processes the worst, or the most
    common."""


_CountName = Literal[
    "programs",
    "equations",
    "instructions",
    "graphs",
    "graph_breaks",
    "kernels",
    "signatures",
    "llvm_lines",
]
COUNT_NAMES: tuple[_CountName, ...] = get_args(_CountName)
"""Counts of JAX: programs compiled or read, equations traced in them, instructions after XLA's
optimisations. Of ``torch.compile``: graphs, graph breaks, kernels that the graphs call. Of Numba:
signatures compiled, and their lines of optimised LLVM."""


class CountVerdict(Record, frozen=True, kw_only=True):
    """One count held against the same count of what it is compared with."""

    case: str
    """In a bench, the candidate."""
    name: str
    reference: Count | None
    """Count of A, or of the candidate that others are compared with."""
    count: Count | None
    verdict: Literal["more", "less", "same", "undecided"]
    """``undecided``: it is not known on both sides."""
    reason: Reason | None = None
    """Why it is undecided."""
    guarded: bool = False
    """Whether ``--fail-on`` names it."""
    fails_beyond: Count | None = None
    """The most that was allowed, where there are more; ``None``: this count fails nothing."""


class DefaultSettings(Record, frozen=True, kw_only=True):
    """Starts with caches that the framework filled with its own settings, a directory set alone."""

    n_ok: Count
    n_rejected: Count
    seconds: dict[str, Summary]
    """As in ``ColdSummary``."""


class KeptMemory(Record, frozen=True, kw_only=True):
    """Warm calls of processes whose C allocator keeps what they free, beside those as they come."""

    n_processes: Count
    call_s: Summary
    page_faults: NotNegative | None = None
    """Pages that the kernel handed out for one call; the median of the processes."""
    comparison: Comparison
    """Comparison of these calls with those of the processes as they come, of the same rounds."""


class CacheSetting(Record, frozen=True, kw_only=True):
    """Settings with which a program finds the caches filled as those of a filled cache's figure."""

    owner: str
    variables: dict[_VariableName, str] = {}
    """Environment variables; ``DIR`` stands for a folder of one's own."""
    code: str | None = None
    """Code that the program needs besides."""


Provenance = Literal["measured_here", "replicated", "quoted"]
"""Where figures come from: measured by this run, by another that repeats it, or told by a source.
"""


class Judged(Record, frozen=True, kw_only=True):
    """A candidate and its verdict against the baseline; the rest is as in ``Comparison``."""

    candidate: str
    verdict: Verdict
    ratio: Positive | None
    low: float | None
    high: float | None
    confidence: float
    threshold: float
    reason: Reason


class Lead(Record, frozen=True, kw_only=True):
    """Summary of the verdicts on one figure: of the warm call, or of a cold cache mode.

    ``fastest`` is the candidate whose figure is told apart from those of all others, the baseline
    among them; ``None``: the data cannot tell. ``judged`` has the verdicts, the fastest first.
    """

    mode: CacheMode
    baseline: str
    fastest: str | None
    judged: list[Judged]
    held_back: dict[str, Reason] = {}
    """By candidate, why nothing is told of it here: it was not tried with other data, or it keeps
    answers. Where it is the baseline, nothing is told at all."""
    untried: list[Judged] = []
    """Of those that were measured, but not tried with other data: how far from the baseline."""

    @property
    def faster(self) -> list[Judged]:
        """The candidates that are faster than the baseline."""
        return self._of("faster")

    @property
    def same(self) -> list[Judged]:
        """The candidates that are as fast."""
        return self._of("same")

    @property
    def slower(self) -> list[Judged]:
        """The candidates that are slower."""
        return self._of("slower")

    @property
    def undecided(self) -> list[Judged]:
        """The candidates of which the data cannot tell."""
        return self._of("undecided")

    def _of(self, verdict: Verdict) -> list[Judged]:
        return [one for one in self.judged if one.verdict == verdict]


class Crossing(Record, frozen=True, kw_only=True):
    """The first number, of calls or of what is swept, from which another one is the cheapest."""

    value: Count
    cheapest: str


class CallRange(Record, frozen=True, kw_only=True):
    """Numbers of calls of one process, and which candidate is the cheapest there.

    ``among`` are the candidates that may be the cheapest somewhere in the range: every other one is
    dearer than one of them. ``cheapest`` is the only one of these; ``None``: several are left.
    Where all of them cost the same within a relative difference, ``same_within`` is that
    difference; else this run cannot tell.
    """

    from_calls: Count
    """The first number of the range, from 1."""
    to_calls: Count | None
    """The last one; ``None``: the range has no end."""
    cheapest: str | None
    among: list[str]
    same_within: Positive | None = None


class ByCalls(Record, frozen=True, kw_only=True):
    """Which candidate is the cheapest by the number of calls of a process, in one reading.

    ``ranges`` go from 1 call upwards without a gap, and no two that are next to each other say the
    same. That every one of them is true of what the candidates cost in the middle of their rounds
    holds with ``confidence``, for all ranges of this reading together. ``estimates`` are what the
    costs say without their scatter: the first number of calls from which a candidate has the lowest
    cost, beginning with 1.
    """

    reading: Reading
    ranges: list[CallRange]
    """Empty where ``reason`` says why no candidate can be told."""
    estimates: list[Crossing] = []
    candidates: list[str] = []
    """Candidates that were compared."""
    left_out: dict[str, Reason] = {}
    """By candidate, why it was not compared: the ranges say nothing of it."""
    confidence: float = 0.95
    n_rounds: Count | None = None
    """Rounds that the pair of candidates with the fewest has in common; where none are common,
    processes of the side that has fewer."""
    measured_calls: Count | None = None
    """Calls of a process up to which the costs of all compared are measured. What is said beyond
    holds if later calls cost what the last ones did: it is extrapolated."""
    reason: Reason | None = None
    null_reasons: dict[str, Reason] = {}

    def is_extrapolated(self, calls: int) -> bool:
        """Say whether the costs of so many calls lie beyond what was measured of all compared."""
        return self.measured_calls is not None and calls > self.measured_calls

    @property
    def told(self) -> list[CallRange]:
        """The ranges that tell something of their own, without those in which nobody can tell.

        They name one candidate, or several of which none was the cheapest in the one before.
        """
        found: list[CallRange] = []
        for one in self.ranges:
            last = set(found[-1].among) if found else set(self.candidates) - set(one.among)
            if one.cheapest is not None or (last and last.isdisjoint(one.among)):
                found.append(one)
        return found

    def cheapest_at(self, calls: int) -> str | None:
        """Return the cheapest candidate at a number of calls; ``None``: this run cannot tell."""
        found = self.range_at(calls)
        return found.cheapest if found else None

    def range_at(self, calls: int) -> CallRange | None:
        """Return the range that holds a number of calls; ``None``: there are no ranges."""
        found = (one for one in self.ranges if one.to_calls is None or calls <= one.to_calls)
        return next(found, None)


class Answer(Record, frozen=True, kw_only=True):
    """Answer of a run about one group: of a workload at one size and dtype."""

    group: str
    """As cases have it, such as ``matmul_512_f32``."""
    workload: str
    size: Count
    dtype: Dtype
    scenario: bool = False
    """Whether a call is a whole loop: then nothing is told by the number of calls."""
    own: bool = False
    """Whether the candidates are functions of the user's own."""
    baseline: str | None
    """The candidate that verdicts are against; ``None``: it was not measured."""
    candidates: list[str]
    """Candidates with any valid process."""
    leads: list[Lead] = []
    """Summaries of the verdicts, the warm call first, then the cold cache modes."""
    by_calls: list[ByCalls] = []
    """One for each reading that was measured."""
    changes: list[Reason] = []
    """Conditions that would change the answer: filled caches, a longer process, more shapes."""
    not_measured: dict[str, Reason] = {}
    """By candidate, why nothing is known of it: it failed, or was not measured."""
    not_steady: dict[str, Reason] = {}
    """By candidate, why its warm calls may not stand for later ones."""
    n_processes: Count
    """Valid ones of all candidates, which the answer rests on."""
    n_rounds: Count
    """Rounds that they were measured in."""
    measured_s: NotNegative = 0.0
    """Seconds of all its processes together."""
    provenance: Provenance = "measured_here"
    null_reasons: dict[str, Reason] = {}
    """Reason for an empty ``by_calls``."""

    @property
    def warm(self) -> Lead | None:
        """Who leads the warm call; ``None``: no verdict was asked for."""
        return self.lead(WARM)

    @property
    def cold(self) -> Lead | None:
        """Who leads the first result with empty caches; ``None``: no verdict was asked for."""
        return self.lead("cold_process_cold_cache")

    def lead(self, mode: CacheMode) -> Lead | None:
        """Return what the verdicts on the figure of a cache mode say."""
        return next((one for one in self.leads if one.mode == mode), None)

    def reading(self, name: Reading) -> ByCalls | None:
        """Return the ranges of a reading; ``None``: it was not measured."""
        return next((one for one in self.by_calls if one.reading == name), None)


class Answers(Record, frozen=True, kw_only=True):
    """The answers of one run: ``answers.json`` beside its index."""

    schema_version: Literal["coldwarm.answers.v1"] = "coldwarm.answers.v1"
    run_id: str
    suite: str
    complete: bool
    """False where the run was interrupted: more measuring may tell more."""
    answers: list[Answer]


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
        """Say whether one of its numbers lies beyond what was measured."""
        numbers = [n for n in (self.calls, self.low, self.high) if n is not None]
        return self.measured_calls is not None and max(numbers, default=0) > self.measured_calls


class PlanTotal(Record, frozen=True, kw_only=True):
    """Cost of a plan with one candidate, in seconds of all its processes together.

    ``total_s`` is the expected sum, from means, and has new shapes cost nothing more than a warm
    call; ``new_shapes_s`` is what they cost besides where each is a whole first call. ``low_s`` and
    ``high_s`` bound the expected total at ``confidence`` whatever new shapes cost, and whether the
    C allocator keeps freed memory or not; of fewer than five rounds they are the least and the
    largest sum that was seen. ``rests_on`` says from which rounds, and ``n_rounds`` from how many.
    ``process_low_s`` and ``process_high_s`` are where a single process lies, with the same
    confidence, whatever new shapes cost: where caches are kept, a later one than the first.
    ``margin_s`` is how much dearer it is than the cheapest, from the differences within rounds,
    with new shapes at half of their most; its bounds cover all that they may cost.

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
    """Plan for a group's candidates: the job, the cost of each, and the cheapest.

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
    """Baseline of ``break_even`` as it is shown: the workload's own, where it was measured."""
    break_even: list[BreakEven]
    """Each pair of candidates in each reading, those with the baseline first."""
    sweep: Sweep | None = None
    not_measured: dict[str, Reason] = {}
    """By candidate, why the run has nothing of it."""
    not_steady: dict[str, Reason] = {}
    """By candidate, why its warm calls may not stand for later ones."""
    memory_returned: dict[str, Reason] = {}
    """By candidate, what its warm calls would gain if the C allocator kept what they free. The
    totals are of programs as they come; their bounds reach to those that keep it."""
    filled_by: dict[str, list[CacheSetting]] = {}
    """By candidate, what a program must set for the filled caches that the totals have."""
    filled_by_default_s: dict[str, Seconds] = {}
    """By candidate, where that is not set: seconds from the start of a process to its first
    result, caches filled with the framework's own settings."""
    filled_s: dict[str, Seconds] = {}
    """The same with what must be set, as in the totals."""
    null_reasons: dict[str, Reason] = {}


class PlanReport(Record, frozen=True, kw_only=True):
    """The plans of the groups of one run, or of the sizes of a sweep."""

    schema_version: Literal["coldwarm.plan_report.v2"] = "coldwarm.plan_report.v2"
    run_id: str | None
    """``None``: of a sweep, which has a run for each size."""
    suite: str
    plans: list[Plan]
    answers: list[Answer] = []
    """Answers of the run about the same groups at any number of calls."""
    null_reasons: dict[str, Reason] = {}
