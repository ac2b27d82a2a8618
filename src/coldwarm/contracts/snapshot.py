"""What a snapshot consists of: the published contracts, version 1, and the validation report.

The published ones allow no other fields and no null; what was not found out is ``unknown``.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from coldwarm.contracts.answer import Provenance
from coldwarm.contracts.base import CacheMode, Count, Record, Sha256, Status
from coldwarm.contracts.environment import Identifying
from coldwarm.contracts.published import Dataset, RelativePath
from coldwarm.contracts.reasons import Reason


class ManifestHarness(Record, frozen=True, kw_only=True):
    """The program that measured."""

    repo: str
    git_commit: str


class ManifestSource(Record, frozen=True, kw_only=True):
    """Where the sources of a program lie."""

    repo: str | UnsetType = UNSET
    ref: str | UnsetType = UNSET
    git_commit: str | UnsetType = UNSET


class ManifestProgram(Record, frozen=True, kw_only=True):
    """The installed version of the program that measured, and where it is from."""

    version: str
    wheel_sha256: Sha256 | UnsetType = UNSET
    wheel_url: str | UnsetType = UNSET
    source: ManifestSource | UnsetType = UNSET


class ManifestResult(Record, frozen=True, kw_only=True):
    """The index of one suite's results."""

    suite: str
    path: RelativePath
    sha256: Sha256


class BaselineManifest(Record, frozen=True, kw_only=True):
    """What the figures of a snapshot belong to."""

    schema_version: Literal["nextstat.baseline_manifest.v1"] = "nextstat.baseline_manifest.v1"
    snapshot_id: str
    deterministic: bool
    harness: ManifestHarness
    nextstat: ManifestProgram
    environment: dict[str, Any]
    """``python`` and ``platform``, and whatever else the publisher records."""
    datasets: list[Dataset]
    results: list[ManifestResult]

    @classmethod
    def mended(cls, document: dict[str, Any]) -> dict[str, Any]:
        """Return a manifest with the parts of its source, which a published one has as a text."""
        program = document.get("nextstat")
        if isinstance(program, dict) and isinstance(program.get("source"), str):
            return {**document, "nextstat": {**program, "source": {"ref": program["source"]}}}
        return document


class Git(Record, frozen=True, kw_only=True):
    """The source that measured."""

    sha: str
    ref: str
    repository: str


class IndexedFile(Record, frozen=True, kw_only=True):
    """One file of a snapshot."""

    path: RelativePath
    bytes: Count
    sha256: Sha256


class SnapshotIndex(Record, frozen=True, kw_only=True):
    """Every file of a snapshot but the index itself and its signatures."""

    schema_version: Literal["nextstat.snapshot_index.v1"] = "nextstat.snapshot_index.v1"
    generated_at: str
    snapshot_id: str
    suite: str
    git: Git
    workflow: dict[str, str]
    artifacts: list[IndexedFile]


class SnapshotName(Record, frozen=True, kw_only=True):
    """A snapshot, by the hash of its index."""

    snapshot_id: str
    suite: str
    snapshot_index_sha256: Sha256


class Mismatch(Record, frozen=True, kw_only=True):
    """A file that two snapshots have otherwise."""

    path: RelativePath
    original_sha256: Sha256 | UnsetType = UNSET
    replica_sha256: Sha256 | UnsetType = UNSET
    original_bytes: Count | UnsetType = UNSET
    replica_bytes: Count | UnsetType = UNSET


class SnapshotComparison(Record, frozen=True, kw_only=True):
    """What two snapshots have in common."""

    overlap_paths: Count
    mismatches: list[Mismatch]
    ok: bool


class ReplicationReport(Record, frozen=True, kw_only=True):
    """Whether a replica agrees with its original."""

    schema_version: Literal["nextstat.replication_report.v1"] = "nextstat.replication_report.v1"
    generated_at: str
    original: SnapshotName
    replica: SnapshotName
    comparison: SnapshotComparison
    notes: str | UnsetType = UNSET
    replica_snapshot_index: dict[str, Any] | UnsetType = UNSET


class RegisteredHashes(Record, frozen=True, kw_only=True):
    """What identifies the content of a snapshot."""

    baseline_manifest_sha256: Sha256
    snapshot_index_sha256: Sha256


class RegisteredSnapshot(Record, frozen=True, kw_only=True):
    """One snapshot of a registry."""

    snapshot_id: str
    suite: str
    generated_at: str
    artifacts: RegisteredHashes
    git: Git | UnsetType = UNSET
    workflow: dict[str, str] | UnsetType = UNSET
    links: dict[str, str] | UnsetType = UNSET


class SnapshotRegistry(Record, frozen=True, kw_only=True):
    """Many snapshots, each id once."""

    schema_version: Literal["nextstat.snapshot_registry.v1"] = "nextstat.snapshot_registry.v1"
    updated_at: str
    snapshots: list[RegisteredSnapshot]


class FigureSource(Record, frozen=True, kw_only=True):
    """Where a figure is from."""

    provenance: Provenance
    path: str
    """The file of the snapshot that holds the raw samples; of a quotation, where it stands."""
    sha256: Sha256 | None = None
    """Of that file; ``None`` for a quotation."""


class ProvenFigure(Record, frozen=True, kw_only=True):
    """One figure of a snapshot: a median, its interval at 95 %, and where it is from."""

    suite: str
    """The folder of the run under ``results/``."""
    case: str
    cache_mode: CacheMode
    name: str
    """``ttfr``, ``ttfr_process``, ``total`` or ``call``."""
    median_s: float
    low_s: float | None = None
    high_s: float | None = None
    n_processes: Count
    source: FigureSource


class CheckedGate(Record, frozen=True, kw_only=True):
    """How the answers of a case compared with its reference."""

    suite: str
    case: str
    passed: bool | None
    """``None``: no process came as far as its answer."""
    n_passed: Count
    n_failed: Count


class RejectedProcesses(Record, frozen=True, kw_only=True):
    """Processes whose figures count nowhere, by case, mode and reason."""

    suite: str
    case: str
    cache_mode: CacheMode
    status: Literal["rejected", "failed"]
    reason: Reason
    n_processes: Count


class NamedLimitation(Record, frozen=True, kw_only=True):
    """What could not be controlled, and in which cases."""

    suite: str
    reason: Reason
    cases: list[str]


class ValidatedRun(Record, frozen=True, kw_only=True):
    """One run of a snapshot, every figure of which was computed again from its samples."""

    suite: str
    """Its folder under ``results/``."""
    run_id: str
    started_at: str
    finished_at: str | None
    complete: bool
    n_ok: Count
    n_warn: Count
    n_failed: Count
    harness_version: str
    harness_sha256: Sha256 | None = None
    environment_sha256: Sha256
    environment_fingerprint: Sha256
    statuses: dict[str, Status]
    """Of each case."""


class ValidatedVerdicts(Record, frozen=True, kw_only=True):
    """Patterns or claims of a snapshot, each judged again from its evidence."""

    kind: Literal["patterns", "claims"]
    path: str
    """Their index."""
    sha256: Sha256
    """Of that file."""
    started_at: str
    finished_at: str | None
    harness_version: str
    harness_sha256: Sha256
    versions: dict[str, str]
    """Of the frameworks, as the measured processes told them."""
    verdicts: dict[str, str]
    """By id."""
    n_runs: Count
    """Runs that the figures are from."""


class ValidationReport(Record, frozen=True, kw_only=True):
    """What was checked of a snapshot's results, and what they leave open."""

    schema_version: Literal["coldwarm.validation_report.v1"] = "coldwarm.validation_report.v1"
    snapshot_id: str
    generated_at: str
    runs: list[ValidatedRun]
    gates: list[CheckedGate]
    rejected: list[RejectedProcesses]
    limitations: list[NamedLimitation]
    figures: list[ProvenFigure]
    verdicts: list[ValidatedVerdicts] = []
    """Of patterns and claims, where the snapshot holds any."""


class SnapshotMade(Record, frozen=True, kw_only=True):
    """What ``coldwarm snapshot create`` has made."""

    schema_version: Literal["coldwarm.snapshot_made.v1"] = "coldwarm.snapshot_made.v1"
    snapshot_id: str
    folder: str
    snapshot_index_sha256: Sha256
    """What identifies its content."""
    n_files: Count
    n_bytes: Count
    lock: str | None
    """The file with the hash of every wheel; ``None``: there is none, ``null_reasons`` has why."""
    without_wheel: list[str]
    """Distributions that the lock does not hold."""
    not_repeatable: dict[str, Reason] = {}
    """By case, why others cannot measure it again from the snapshot."""
    masked: list[str] = []
    """Fields with something private here that was not masked when it was measured: it is now."""
    identifying: list[Identifying]
    """What is left in the files that could identify a person or a firm."""
    null_reasons: dict[str, Reason] = {}


class PackageMade(Record, frozen=True, kw_only=True):
    """What ``coldwarm snapshot package`` has made."""

    schema_version: Literal["coldwarm.package_made.v1"] = "coldwarm.package_made.v1"
    path: str
    sha256: Sha256
    n_bytes: Count
    n_files: Count
