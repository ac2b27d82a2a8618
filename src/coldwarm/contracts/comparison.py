"""Two results held against each other: what was judged, what differs, what was left out."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.answer import CountVerdict
from coldwarm.contracts.base import Count, Difference, MetricKind, Positive, Record, Seconds, Sha256
from coldwarm.contracts.reasons import Reason

ComparedVerdict = Literal["faster", "slower", "less", "more", "same", "undecided"]


class ComparedSide(Record, frozen=True, kw_only=True):
    """One of the two results, as it was given."""

    path: str
    run_id: str | None
    """``None`` for the file of a single case, which is no run."""
    started_at: str | None
    environment_sha256: Sha256 | None
    """``None`` for a file of another tool."""
    n_cases: Count
    """Number of cases; of another tool's file, of benchmarks."""
    tool: str | None = None
    """The tool that measured it; ``None``: coldwarm."""


class ComparedMetric(Record, frozen=True, kw_only=True):
    """One metric of one case: B over A, judged.

    ``a`` and ``b`` are medians over processes, or geometric means over runs; ``ratio`` is B over
    A, with its interval at ``confidence``. ``threshold`` is the relative difference that matters,
    ``smallest_detectable`` the smallest relative difference that these data could have shown.
    """

    case: str
    metric: str
    """``<cache mode>.ttfr_s``, ``.ttfr_process_s`` or ``.peak_rss_bytes``, or ``warm.call_s``.
    Where a side is of another tool, ``elsewhere.time_s`` or ``elsewhere.memory_bytes``: the name of
    the case says what was measured."""
    kind: MetricKind
    unit: Literal["s", "bytes"]
    a: float | None
    b: float | None
    n_a: Count
    """Valid processes in A; runs, where the run is the unit."""
    n_b: Count
    ratio: Positive | None
    low: float | None
    high: float | None
    confidence: float
    threshold: float
    smallest_detectable: float | None
    p_value: float | None = None
    verdict: ComparedVerdict
    """``less`` and ``more`` are said of memory, ``faster`` and ``slower`` of time."""
    reason: Reason
    fails_beyond: float | None = None
    """The relative difference that was not to be exceeded, where this verdict's interval lies
    beyond it; ``None``: this figure fails nothing."""


class KnownNoise(Record, frozen=True, kw_only=True):
    """By how much two equal runs differ on the machine of A and B, from its noise reports."""

    n_reports: Count
    shares: dict[MetricKind, float]
    """The relative difference that they exceed in 3 of 100 cases; only of the kinds known."""


class UnshownLimit(Record, frozen=True, kw_only=True):
    """A limit of ``--fail-on`` of which it is open on which side of it a figure lies."""

    case: str
    """Case; in a bench, the candidate."""
    metric: str
    limit: float
    """The relative difference; the threshold, where the limit was below it."""
    not_excluded: float | None
    """The largest relative difference, in the direction of the limit, that is not excluded."""
    n_further: Count
    """Rounds, or of two results processes of either side, that it is expected to need besides."""
    further_s: Seconds | None
    """Time of these."""
    null_reasons: dict[str, Reason] = {}


class SideDifference(Record, frozen=True, kw_only=True):
    """A field that differs between A and B although it must not; it was allowed to."""

    field: str
    """The name that ``--allow`` takes."""
    name: str
    """Part that differs, where the field holds several things; else the field's own name."""
    a: str
    b: str
    of_a: str = "A"
    """The result that has ``a``; of several a side with its number, ``A1``, maybe of one side."""
    of_b: str = "B"
    cases: list[str]
    """Empty where it concerns all of them."""


class LeftOutCase(Record, frozen=True, kw_only=True):
    """A case that was not compared."""

    case: str
    side: Literal["A", "B", "both"]
    """Where it is missing, was not measured, or failed."""
    reason: Reason
    failed: bool = False
    """Whether it has no valid answer, rather than none at all."""


class RunComparison(Record, frozen=True, kw_only=True):
    """Everything that a comparison of two results says."""

    schema_version: Literal["coldwarm.run_comparison.v2"] = "coldwarm.run_comparison.v2"
    a: ComparedSide
    """The first run of it, where there are several."""
    b: ComparedSide
    a_runs: list[ComparedSide] = []
    """All runs of A, where either side has several."""
    b_runs: list[ComparedSide] = []
    unit: Literal["process", "run"] = "process"
    """Unit that is counted, and varies."""
    noise: KnownNoise | None = None
    """Known noise, which raises the thresholds; ``None``: runs are the unit, and show by how much
    they vary."""
    unshown: list[UnshownLimit] = []
    """Limits that these data could not have shown."""
    metrics: list[ComparedMetric]
    counts: list[CountVerdict] = []
    allowed: list[SideDifference]
    software: list[Difference]
    """Other differences: libraries, interpreter, kernel, variables. Often it is what is being
    compared, so it is told and never refused."""
    left_out: list[LeftOutCase]
    warnings: list[Reason]
    n_failing: Count
    """Metrics and counts beyond a limit of ``--fail-on`` or of the policy."""
