"""Snapshots: their parts, and the records of one that was verified, compared or replicated.

The published contracts allow no other fields and no null; what was not found out is ``unknown``.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from coldwarm.contracts.answer import Provenance
from coldwarm.contracts.base import (
    CacheMode,
    Count,
    Difference,
    MetricKind,
    NotNegative,
    Positive,
    Record,
    Sha256,
    Status,
)
from coldwarm.contracts.catalogue import ChangedVerdict, NotJudged
from coldwarm.contracts.comparison import LeftOutCase, RunComparison, SideDifference
from coldwarm.contracts.environment import Identifying
from coldwarm.contracts.nextstat import Dataset, RelativePath
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
    """Manifest of what the figures of a snapshot belong to."""

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
    """Comparison of two snapshots."""

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
    """Hashes that identify the content of a snapshot."""

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
    """Hash of that file; ``None`` for a quotation."""


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
    """Limit of the control, and the cases that it is of."""

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
    """Status of each case."""


class ValidatedVerdicts(Record, frozen=True, kw_only=True):
    """Patterns or claims of a snapshot, each judged again from its evidence."""

    kind: Literal["patterns", "claims"]
    path: str
    """Their index."""
    sha256: Sha256
    """Hash of that file."""
    started_at: str
    finished_at: str | None
    harness_version: str
    harness_sha256: Sha256
    versions: dict[str, str]
    """Versions of the frameworks, as the measured processes told them."""
    verdicts: dict[str, str]
    """By id."""
    n_runs: Count
    """Runs that the figures are from."""


class ValidationReport(Record, frozen=True, kw_only=True):
    """Report of the checks of a snapshot's results, and of what they leave open."""

    schema_version: Literal["coldwarm.validation_report.v1"] = "coldwarm.validation_report.v1"
    snapshot_id: str
    generated_at: str
    runs: list[ValidatedRun]
    gates: list[CheckedGate]
    rejected: list[RejectedProcesses]
    limitations: list[NamedLimitation]
    figures: list[ProvenFigure]
    verdicts: list[ValidatedVerdicts] = []
    """Verdicts of patterns and claims, where the snapshot holds any."""


class SnapshotMade(Record, frozen=True, kw_only=True):
    """Result of ``coldwarm snapshot create``."""

    schema_version: Literal["coldwarm.snapshot_made.v1"] = "coldwarm.snapshot_made.v1"
    snapshot_id: str
    folder: str
    snapshot_index_sha256: Sha256
    """Hash that identifies its content."""
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
    """Parts left in the files that could identify a person or a firm."""
    null_reasons: dict[str, Reason] = {}


class PackageMade(Record, frozen=True, kw_only=True):
    """Result of ``coldwarm snapshot package``."""

    schema_version: Literal["coldwarm.package_made.v1"] = "coldwarm.package_made.v1"
    path: str
    sha256: Sha256
    n_bytes: Count
    n_files: Count


FaultKind = Literal["presence", "bytes", "schema", "content", "signature"]
"""``presence``: a file is missing, not listed, or none that may be opened. ``bytes``: its size or
hash is another. ``schema``: it does not keep its contract. ``content``: it says what does not
follow from the rest. ``signature``: the index is not what was signed."""
SignatureState = Literal["valid", "invalid", "absent", "unchecked", "unknown_key"]
"""``unchecked``: there is one, and no public key to hold it against. ``unknown_key``: it is that of
the public key beside it, and no key of the reader's own was given to tell whose that is."""


class SnapshotFault(Record, frozen=True, kw_only=True):
    """One thing that is wrong with a snapshot."""

    kind: FaultKind
    path: str
    """The file below the snapshot's folder; empty for the folder itself."""
    line: Count | None = None
    field: str | None = None
    reason: Reason


FileAnswer = Literal["proved", "signed", "only_hashed"]
"""``proved``: made again of other files, and the same. ``signed``: nothing else tells it, and the
index that has its hash is signed by the key or the identity that the reader named. ``only_hashed``:
its bytes are those that the index names, and nothing more is known."""


class CheckedFile(Record, frozen=True, kw_only=True):
    """A file of a snapshot without a fault, and what is known of it."""

    path: str
    answer: FileAnswer
    reason: Reason | None
    """Why it is not proved."""


class Verification(Record, frozen=True, kw_only=True):
    """Whether a snapshot holds, and where not; what of it is proved, and what is not."""

    schema_version: Literal["coldwarm.verification.v1"] = "coldwarm.verification.v1"
    path: str
    """The folder, or the archive, as it was named."""
    snapshot_id: str | None
    """``None``: the index cannot be read."""
    snapshot_index_sha256: Sha256 | None
    holds: bool
    """Whether nothing is wrong; what is only hashed may be false all the same."""
    signature: SignatureState
    key_sha256: Sha256 | None
    """Fingerprint of the key whose signature it is: the SHA-256 of the public key as DER."""
    identity: str | None = None
    """Who has signed it through sigstore, where that was asked and holds."""
    n_files: Count
    """Number of files that the index names."""
    n_bytes: Count
    """Size of these together."""
    n_cases: Count
    """Cases of which everything was computed again."""
    n_verdicts: Count = 0
    """Patterns and claims that were judged again."""
    n_proved: Count = 0
    """Files; so of the two below. All are 0 where something is wrong."""
    n_signed: Count = 0
    n_only_hashed: Count = 0
    n_figures_proved: Count = 0
    """Figures, verdicts, warnings and the like that were computed again and are the same."""
    n_figures_only_hashed: Count = 0
    """Number of figures that another version of coldwarm made by other rules: today's say
    otherwise."""
    files: list[CheckedFile] = []
    otherwise: list[SnapshotFault] = []
    """Values that today's rules do not give, where another version says that it has measured."""
    not_judged: list[NotJudged] = []
    """Patterns and claims that were not judged again by the rule that the snapshot names."""
    faults: list[SnapshotFault]
    """The first of each file; the first one of all decides the exit code."""

    @property
    def proved(self) -> bool:
        """Say whether nothing is wrong, and nothing only hashed."""
        return self.holds and not self.n_only_hashed and not self.n_figures_only_hashed


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
    """Parts of the job, its calls and the machine that must agree for a comparison, and do not."""
    environment: list[Difference]
    """Other differences: libraries, interpreter, kernel, variables."""
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
    patterns: list[ChangedVerdict] | None = None
    """Patterns whose verdicts differ; ``None``: not both snapshots hold patterns."""
    claims: list[ChangedVerdict] | None = None


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
    """Name of its folder under ``results/``."""
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
    """Differences of protocol or machine."""
    software: list[Difference] = []
    warnings: list[Reason] = []
    """Weaknesses: a disturbed machine, or noise between runs that is not known."""


class RebuiltEnvironment(Record, frozen=True, kw_only=True):
    """Where a replica was measured."""

    kind: Literal["fresh", "as_it_is"]
    """``fresh``: a virtual environment, made from the lock of the snapshot."""
    locked: bool
    """Whether every distribution was held to the hash of the lock."""
    installed: list[str] = []
    """Packages of that lock that were installed: what coldwarm and the measured backends need."""
    harness: Literal["same_sources", "wheel_of_snapshot", "other_sources"]


class Replication(Record, frozen=True, kw_only=True):
    """Record of what was repeated of a snapshot, and whether it agrees."""

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
