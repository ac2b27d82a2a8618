"""The observations of a case, what was made for it, and the summaries computed from them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from coldwarm.contracts.answer import Answer
from coldwarm.contracts.base import (
    CacheMode,
    Count,
    Dtype,
    NotNegative,
    Record,
    Seconds,
    Sha256,
    Status,
    group_name,
)
from coldwarm.contracts.files.names import Name, SuiteName
from coldwarm.contracts.observation import (
    CacheEvidence,
    Counts,
    Device,
    FirstCallParts,
    Observation,
    Phase,
    Telemetry,
)
from coldwarm.contracts.protocol import Protocol
from coldwarm.contracts.reasons import Reason
from coldwarm.contracts.summary import (
    CacheSetting,
    Caution,
    Comparison,
    DefaultSettings,
    KeptMemory,
    Summary,
)


class ColdSummary(Record, frozen=True, kw_only=True):
    """One cold cache mode of a case: figures in seconds over its processes."""

    cache_mode: CacheMode
    n_ok: Count
    n_rejected: Count
    n_failed: Count
    seconds: dict[str, Summary]
    """``ttfr``, ``ttfr_process``, each phase, the first call's parts (``first_call.trace``,
    …, ``first_call.rest``), and ``start``: of ``ttfr_process`` all but import, build, wrap
    and first call. Of a scenario also ``total``: from the spawn to the end of its loop;
    ``loop`` and its parts (``loop.trace``, …, ``loop.rest``); ``step.compiling``: the mean of
    the steps after the first one in which something was compiled or read from a cache; and
    ``step.plain``: of those in which nothing was."""
    compiling_share: Summary | None = None
    """Of a scenario: tracing, lowering, compiling and reading caches over ``total``."""
    peak_rss_bytes: Summary | None = None
    framework_default: DefaultSettings | None = None
    """Of filled caches: the same with the framework's own settings, where they keep less."""
    precision_reached: float | None = None
    """Relative half-width of the interval of the ``ttfr`` median, of a scenario of the
    ``total`` median."""
    null_reasons: dict[str, Reason] = {}


class SteadyState(Record, frozen=True, kw_only=True):
    """Whether the calls of a case were steady, and where each process became so."""

    steady: bool
    """Of the case: its processes together show no drift; single ones may be restless."""
    reason: Reason
    n_processes: Count
    n_steady: Count
    warmup_samples: list[Count]
    """For each process, the samples before its steady state (kept in the raw series)."""
    drift_share: float | None = None
    """Relative change of a call from half-time on, across three processes or more, and its
    interval at 95 %; ``None``: fewer have shown it."""
    drift_low: float | None = None
    drift_high: float | None = None


class WarmSummary(Record, frozen=True, kw_only=True):
    """The warm regime of a case."""

    n_processes: Count
    n_rejected: Count
    call_s: Summary | None
    steady: SteadyState
    batch: int | None
    page_faults: NotNegative | None = None
    """Pages that the kernel handed out for one call; the median of the processes."""
    kept_memory: KeptMemory | None = None
    """The same where freed memory is kept; measured where calls cause page faults."""
    precision_reached: float | None = None
    null_reasons: dict[str, Reason] = {}


class Artifact(Record, frozen=True, kw_only=True):
    """A file that measured processes load."""

    name: str
    bytes: Count
    sha256: Sha256


class Making(Record, frozen=True, kw_only=True):
    """One making. A run makes once for each case, and once more for each ``--resume``.

    Its cost is in no figure of the measured processes, which load the artifacts: there it is
    the part ``cache_read`` of the first call.
    """

    case: Name
    order: Count
    """Position among all processes of the suite, in time."""
    started_at: str
    wall_s: Seconds
    """From the spawn to the exit of the process: what making costs in all."""
    phases: list[Phase]
    """As in a measured process up to ``wrap``, then ``make``."""
    parts: FirstCallParts
    """Of the phase ``make``; the rest is serialising and writing."""
    artifacts: list[Artifact]
    evidence: list[CacheEvidence]
    """Of the caches of this process, which were private and empty."""
    input_sha256: Sha256
    device: Device
    versions: dict[str, str] = {}
    telemetry: Telemetry

    @property
    def artifact_bytes(self) -> int:
        """How large the artifacts are together."""
        return sum(artifact.bytes for artifact in self.artifacts)

    @property
    def peak_rss_bytes(self) -> int | None:
        """The highest resident memory of the process, where the system tells it."""
        return self.phases[-1].peak_rss_bytes if self.phases else None


class CaseResult(Record, frozen=True, kw_only=True):
    """Everything known about one case."""

    schema_version: Literal["coldwarm.case_result.v2"] = "coldwarm.case_result.v2"
    case: Name
    workload: Name
    candidate: Name
    backend: Name
    device: Literal["cpu", "gpu"]
    size: Annotated[int, msgspec.Meta(ge=1)]
    dtype: Dtype
    status: Status
    reason: Reason | None = None
    """For ``warn`` and ``failed``."""
    baseline: bool = False
    """Whether this case is the one its workload's others are compared with."""
    scenario: bool = False
    """Whether a call is a whole loop of many steps, of which ``ttfr`` is the first."""
    dataset_id: str
    dataset_sha256: Sha256 | None = None
    protocol: Protocol
    environment_sha256: Sha256
    """Hash of the ``environment.json`` beside the suite's index."""
    cold: list[ColdSummary] = []
    warm: WarmSummary | None = None
    comparisons: list[Comparison] = []
    counts: Counts = Counts()
    """What all processes have counted alike."""
    inspected_call_s: Seconds | None = None
    """What making and calling a user's own function for the first time took when it was
    inspected, before anything was measured."""
    limitations: list[Reason] = []
    """What could not be controlled."""
    warnings: list[Caution] = []
    """Those about validity first; none where nothing was observed."""
    filled_by: list[CacheSetting] = []
    """What gives a program of one's own the filled caches of the figures."""
    made: list[Making] = []
    """What was made ahead of time and what it cost; empty where the backend makes nothing."""
    observations: list[Observation] = []
    null_reasons: dict[str, Reason] = {}

    @property
    def group(self) -> str:
        """What it is compared within."""
        return group_name(self.workload, self.size, self.dtype)


class SuiteCase(Record, frozen=True, kw_only=True):
    """A case in the suite's index."""

    case: Name
    path: str
    sha256: Sha256
    status: Status
    reason: Reason | None = None


class SuiteResult(Record, frozen=True, kw_only=True):
    """The index of one run."""

    schema_version: Literal["coldwarm.suite_result.v2"] = "coldwarm.suite_result.v2"
    suite: SuiteName
    run_id: str
    started_at: str
    finished_at: str | None
    complete: bool
    """False where the run was interrupted; ``coldwarm run --resume`` goes on."""
    deterministic: bool
    seed: int
    environment_path: str
    environment_sha256: Sha256
    cases: list[SuiteCase]
    n_ok: Count
    n_warn: Count
    n_failed: Count
    order: list[str]
    """Every process and block in the order in which it ran."""
    wall_s: Seconds
    """Of the whole run; of a part before ``--resume``, the time in which its processes ran."""
    measured_s: Seconds
    """Seconds in which a measured process ran; while it was held it did not."""
    answers_path: str | None = None
    """Where the answers stand; ``None``: an earlier version wrote none."""
    answers_sha256: Sha256 | None = None
    answers: list[Answer] = []
    """The same where the index is printed; in its file there are none."""
    null_reasons: dict[str, Reason] = {}
