"""Two snapshots held against each other: what they are of, and what they found."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import Difference, Record
from coldwarm.contracts.comparison import LeftOutCase, RunComparison, SideDifference
from coldwarm.contracts.reasons import Reason
from coldwarm.contracts.snapshot import SnapshotComparison, SnapshotName


class ComparedRuns(Record, frozen=True, kw_only=True):
    """One suite that both snapshots have a run of."""

    suite: str
    """The name of the folder under ``results/``."""
    datasets: list[Difference]
    """Inputs that are not the same, by case: the SHA-256 of each side."""
    gates: list[Difference]
    """Cases whose answers were right on one side alone: ``passed``, ``failed``, ``not_reached``."""
    statuses: list[Difference]
    """Cases that are ``ok`` on one side alone."""
    protocol: list[SideDifference]
    """What of the job, its calls and the machine must agree for figures to be compared, and does
    not."""
    environment: list[Difference]
    """What else differs: libraries, interpreter, kernel, variables."""
    timings: RunComparison | None
    """Verdicts on the figures of each case, B over A, whatever differs besides."""
    left_out: list[LeftOutCase] = []
    null_reasons: dict[str, Reason] = {}


class ComparedSnapshots(Record, frozen=True, kw_only=True):
    """Everything that a comparison of two snapshots says."""

    schema_version: Literal["coldwarm.compared_snapshots.v1"] = "coldwarm.compared_snapshots.v1"
    a: SnapshotName
    b: SnapshotName
    files: SnapshotComparison
    """By their bytes: ``ok`` where every file of both is the same."""
    only_a: list[str]
    """Paths."""
    only_b: list[str]
    runs: list[ComparedRuns]
    runs_only_a: list[str]
    runs_only_b: list[str]
