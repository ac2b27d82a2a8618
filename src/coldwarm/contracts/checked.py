"""What was found out about snapshots: verified, compared, and measured again."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import (
    Count,
    Difference,
    NotNegative,
    Positive,
    Record,
    Sha256,
)
from coldwarm.contracts.catalogue import ChangedVerdict, NotJudged
from coldwarm.contracts.comparison import LeftOutCase, MetricKind, RunComparison, SideDifference
from coldwarm.contracts.reasons import Reason
from coldwarm.contracts.snapshot import SnapshotComparison, SnapshotName

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
    """Those that the index names."""
    n_bytes: Count
    """Of these together."""
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
    """Those that another version of coldwarm made by other rules: today's say otherwise."""
    files: list[CheckedFile] = []
    otherwise: list[SnapshotFault] = []
    """What today's rules do not say, where another version says that it has measured."""
    not_judged: list[NotJudged] = []
    """Patterns and claims that were not judged again by the rule that the snapshot names."""
    faults: list[SnapshotFault]
    """The first of each file; the first one of all decides the exit code."""

    @property
    def proved(self) -> bool:
        """Whether nothing is wrong, and nothing only hashed."""
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
    patterns: list[ChangedVerdict] | None = None
    """Those whose verdicts differ; ``None``: not both snapshots hold patterns."""
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
    warnings: list[Reason] = []
    """What makes it weaker: a disturbed machine, or noise between runs that is not known."""


class RebuiltEnvironment(Record, frozen=True, kw_only=True):
    """Where a replica was measured."""

    kind: Literal["fresh", "as_it_is"]
    """``fresh``: a virtual environment, made from the lock of the snapshot."""
    locked: bool
    """Whether every distribution was held to the hash of the lock."""
    installed: list[str] = []
    """What was installed of that lock: what coldwarm and the measured backends need."""
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
