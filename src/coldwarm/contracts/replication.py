"""Whether a run that repeats another one agrees with it, case by case."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import Count, Difference, NotNegative, Positive, Record, Sha256
from coldwarm.contracts.comparison import LeftOutCase, MetricKind, SideDifference
from coldwarm.contracts.reasons import Reason
from coldwarm.contracts.snapshot import SnapshotName

Agreement = Literal["agrees", "disagrees", "undecided"]


class RepeatedFigure(Record, frozen=True, kw_only=True):
    """One figure of a case, as it was published and as it was measured again.

    ``original`` and ``replica`` are medians in seconds; where ``basis`` is ``baseline``, they are
    ratios of the case to its baseline, each within its own run. ``ratio`` is replica over
    original, with its interval.
    """

    metric: str
    """As in a comparison: ``warm.call_s``, ``cold_process_cold_cache.ttfr_s`` and so on."""
    kind: MetricKind
    basis: Literal["seconds", "baseline"]
    original: NotNegative | None
    original_low: NotNegative | None = None
    """The interval that the original states, in which the replica is looked for."""
    original_high: NotNegative | None = None
    replica: NotNegative | None
    ratio: Positive | None
    low: float | None
    high: float | None
    threshold: float
    """The relative difference that matters."""
    smallest_detectable: float | None
    """The smallest relative difference that the two could have shown."""
    within_interval: bool | None
    """Whether the replica's median lies in the interval that the original states."""
    agreement: Agreement
    """``disagrees``: the interval of the ratio lies beyond the threshold. ``agrees``: it holds 1,
    or lies within the threshold, and a difference of 20 % would have been seen. ``undecided``:
    neither was shown."""
    reason: Reason


class RepeatedCase(Record, frozen=True, kw_only=True):
    """One case that was measured again."""

    case: str
    agreement: Agreement
    """``disagrees`` where any of its figures does, ``agrees`` where all do."""
    n_agree: Count
    n_disagree: Count
    n_undecided: Count
    figures: list[RepeatedFigure]
    """Empty for a baseline on another machine, to which the others are compared."""
    reason: Reason | None = None
    """Why it has no figure."""


class RepeatedRun(Record, frozen=True, kw_only=True):
    """One run of a snapshot, measured again."""

    name: str
    """Of its folder under ``results/``."""
    suite: str
    original_run_id: str
    replica_run_id: str
    same_machine: bool
    basis: Literal["seconds", "baseline"]
    """``seconds`` on the machine of the original; on another one the ratios to the baseline."""
    same_harness: bool
    """Whether both were measured by the same sources of coldwarm."""
    cases: list[RepeatedCase]
    left_out: list[LeftOutCase] = []
    """Cases that failed, or were measured on one side alone."""
    differing: list[SideDifference] = []
    """What of the protocol or the machine is not the same."""
    software: list[Difference] = []


class RebuiltEnvironment(Record, frozen=True, kw_only=True):
    """Where a replica was measured."""

    kind: Literal["fresh", "as_it_is"]
    """``fresh``: a virtual environment, made from the lock of the snapshot."""
    locked: bool
    """Whether every distribution was held to the hash of the lock."""
    by_version_alone: list[str] = []
    """Distributions of which the lock has no wheel: installed by their version."""
    harness: Literal["same_sources", "wheel_of_snapshot", "other_sources"]


class Replication(Record, frozen=True, kw_only=True):
    """What was repeated of a snapshot, and whether it agrees."""

    schema_version: Literal["coldwarm.replication_report.v1"] = "coldwarm.replication_report.v1"
    generated_at: str
    original: SnapshotName
    original_signed_by: Sha256 | None = None
    """Fingerprint of the key whose signature was checked."""
    environment: RebuiltEnvironment
    runs: list[RepeatedRun]
    n_agree: Count
    """Cases."""
    n_disagree: Count
    n_undecided: Count
    n_lost: Count
    """Cases that have a valid answer in the original and none in the replica."""
    ok: bool
    """Whether no case disagrees or is lost, and any agrees."""
