"""The protocol of a case, in enough detail to measure it again, and its result in a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from coldwarm.contracts.answer import (
    Answer,
    Answers,
    CacheSetting,
    Caution,
    Comparison,
    DefaultSettings,
    KeptMemory,
    Summary,
)
from coldwarm.contracts.base import (
    Allocator,
    CacheMode,
    CacheSettings,
    Count,
    Dtype,
    Name,
    NotNegative,
    Record,
    Seconds,
    Sha256,
    Status,
    SuiteName,
    group_name,
)
from coldwarm.contracts.observation import (
    CacheEvidence,
    Counts,
    Device,
    FirstCallParts,
    Observation,
    Phase,
    Telemetry,
)
from coldwarm.contracts.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.environment import Environment
    from coldwarm.errors import ContractError


class Effort(Record, frozen=True, kw_only=True):
    """How much measuring was asked for.

    ``precision`` is the relative half-width of the 95 % interval of a median that ends
    the measuring of a case; ``min_runs`` and ``max_runs`` bound the processes of each
    cache mode; ``time_budget_s`` bounds the whole suite (``None``: no bound).
    """

    precision: float
    min_runs: Count
    max_runs: Count
    time_budget_s: Seconds | None
    timeout_s: Seconds
    decide: float | None = None
    """The relative difference whose verdicts decided how much was measured; ``None``:
    ``precision`` did."""
    limits: dict[str, float] = {}
    """Where a build was guarded at more than that: by kind of figure, ``cold`` or ``warm``, the
    relative difference that verdicts had to be surely below or beyond."""


class OwnCandidate(Record, frozen=True, kw_only=True):
    """A function of the user's own: what was called, with what, and how it was checked."""

    target: str | None
    """As it was named: ``FILE.py:NAME`` or ``PACKAGE.MODULE:NAME``; ``None``: left out."""
    kind: Literal["function", "factory"]
    python: str | None
    """The interpreter that its processes ran under; ``None``: left out."""
    variables: dict[str, str] = {}
    """Variables set for this candidate besides, where the value may be told; masked."""
    withheld_variables: list[str] | None = []
    """Names of the others that were set: their values are not told. ``None``: left out."""
    revision: str | None = None
    """The commit it is of; ``None``: the files as they were, or left out with that reason."""
    placement: str | None
    """Framework whose arrays the inputs were made as; ``None``: nothing was made for it."""
    arguments: list[str]
    """Each argument of the call: framework, dtype and shape, or the value."""
    outputs: list[str]
    """Each array of the output, as it was compared."""
    given: dict[str, int | float] = {}
    """Numbers that a factory was given, by name."""
    renewed: bool
    """Whether each call got new arguments, because it changes or uses up those it is given."""
    checked: str
    """Check of its answer: against what, and how closely."""
    last_checked: bool
    """Whether the answer of its last call was checked too."""
    control_of: str | None = None
    """The candidate that this one is once more, to show what differs by itself; ``None``: none."""
    starts_as: str | None = None
    """The first candidate whose processes do the same up to where the inputs are made: the same
    module, interpreter and variables, so that these starts differ by chance alone; ``None``: there
    is no other."""
    sync: str | None = None
    """The function named to wait for a result, inside the window; ``None``: none was named."""
    null_reasons: dict[str, Reason] = {}


class Protocol(Record, frozen=True, kw_only=True):
    """The declared protocol of one case."""

    schema_version: Literal["coldwarm.protocol.v1"] = "coldwarm.protocol.v1"
    cache_modes: list[CacheMode]
    process: dict[str, Literal["fresh", "persistent"]]
    """For each cache mode, whether a measured process is fresh or long-lived."""
    workload: Name
    workload_sha256: Sha256
    """Hash of the workload's own source file."""
    backend: Name
    backend_sha256: Sha256
    candidate: Name
    size: Annotated[int, msgspec.Meta(ge=1)]
    dtype: Dtype
    data_layout: str
    windows: dict[str, str]
    """For each timed window, what is inside it and what is outside."""
    sync_policy: str
    warmup_policy: str
    allocator: Allocator = "keeps_memory"
    """How the C allocator of the processes began that the figures are from."""
    cache_settings: CacheSettings = "keep_all"
    """Settings of the caches of those processes that the figures are from."""
    interleaving: str
    threads: int | None
    """Threads each library was set to use; ``None``: each library's own default."""
    affinity: list[int]
    """Processors a measured process may run on."""
    environment_variables: dict[str, str]
    """Variables that the runner sets in every measured process of this case."""
    seed: int
    deterministic: bool
    effort: Effort
    option_origins: dict[str, str] = {}
    """For each option whose value came from a project's file, the name of the file."""
    caches: list[str] | None = None
    """Owners of the caches that its processes may use, by which their cache modes are judged;
    ``None``: not recorded."""
    compiles: bool | None = None
    """Whether a first result with empty caches must have compiled something."""
    own: OwnCandidate | None = None
    """For a function of the user's own."""
    harness_version: str
    harness_sha256: Sha256
    """Hash of every source file of the measured side and of the runner."""


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
    """Share, in a scenario, of tracing, lowering, compiling and reading caches over ``total``."""
    peak_rss_bytes: Summary | None = None
    framework_default: DefaultSettings | None = None
    """For filled caches: the same with the framework's own settings, where they keep less."""
    precision_reached: float | None = None
    """Relative half-width of the interval of the ``ttfr`` median, of a scenario of the
    ``total`` median."""
    null_reasons: dict[str, Reason] = {}


class SteadyState(Record, frozen=True, kw_only=True):
    """Whether the calls of a case were steady, and where each process became so."""

    steady: bool
    """Whether the case is steady: its processes together show no drift; single ones may be
    restless."""
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
    """Parts of the phase ``make``; the rest is serialising and writing."""
    artifacts: list[Artifact]
    evidence: list[CacheEvidence]
    """Evidence of the caches of this process, which were private and empty."""
    input_sha256: Sha256
    device: Device
    versions: dict[str, str] = {}
    telemetry: Telemetry

    @property
    def artifact_bytes(self) -> int:
        """The size of the artifacts together."""
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
    """Counts in which all processes agree."""
    inspected_call_s: Seconds | None = None
    """Time of making and calling a user's own function for the first time when it was inspected,
    before anything was measured."""
    limitations: list[Reason] = []
    """Limits of the control."""
    warnings: list[Caution] = []
    """Cautions, those about validity first; none where nothing was observed."""
    filled_by: list[CacheSetting] = []
    """Settings that give a program of one's own the filled caches of the figures."""
    made: list[Making] = []
    """Programs made ahead of time and their cost; empty where the backend makes nothing."""
    observations: list[Observation] = []
    null_reasons: dict[str, Reason] = {}

    @property
    def group(self) -> str:
        """The name of the group that it is compared within."""
        return group_name(self.workload, self.size, self.dtype)

    @property
    def control_of(self) -> str | None:
        """The candidate that this one is once more; ``None``: it is no control."""
        return None if self.protocol.own is None else self.protocol.own.control_of


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
    """Time of the whole run; of a part before ``--resume``, the time in which its processes ran."""
    measured_s: Seconds
    """Seconds in which a measured process ran; while it was held it did not."""
    answers_path: str | None = None
    """Where the answers stand; ``None``: an earlier version wrote none."""
    answers_sha256: Sha256 | None = None
    answers: list[Answer] = []
    """The same where the index is printed; in its file there are none."""
    null_reasons: dict[str, Reason] = {}


@dataclass(frozen=True)
class Measured:
    """The cases of a result by their names, and where they were measured."""

    path: str
    suite: SuiteResult | None
    """``None`` for the file of a single case."""
    cases: dict[str, CaseResult]
    files: dict[str, str]
    """The file of each case."""
    environment_sha256: str
    environment: Environment | None
    """``None`` where the file of a case has no ``environment.json`` of its run beside it."""
    answers: Answers | None = None
    """As they stand beside the index; ``None``: there are none."""
    otherwise: tuple[ContractError, ...] = ()
    """Differences of its files from the rules of today, as another version measured it: where, and
    what. The ``cases`` have what was computed anew."""


@dataclass(frozen=True)
class BenchmarkSamples:
    """The samples of one benchmark, in seconds or, where its kind is ``memory``, in bytes."""

    kind: MetricKind
    """``cold``: each sample is a whole start; ``warm``: a call in a process that is there."""
    processes: tuple[tuple[float, ...], ...]
    """Above 0, by process in the order in which they ran."""
    states: tuple[SteadyState, ...] = ()
    """States of warm calls of coldwarm's own: whether they were steady."""
    to_its_end: bool = False
    """Whether a start is timed to the end of its process, and not to a result."""


@dataclass(frozen=True)
class Benchmarks:
    """One file, or a run of coldwarm seen as one: its benchmarks by their names."""

    path: str
    tool: str | None
    """Tool whose file it is; ``None``: coldwarm itself."""
    benchmarks: Mapping[str, BenchmarkSamples]
    short_names: Mapping[str, str] = field(default_factory=dict)
    """For each case of a run of coldwarm, the name of its warm calls."""
    left_out: Mapping[str, Reason] = field(default_factory=dict)
    """Benchmarks without samples that can be compared, and why."""
    failed: Mapping[str, Reason] = field(default_factory=dict)
    """Benchmarks whose runs failed, or gave a wrong answer."""
    is_export: bool = False
    """Whether coldwarm measured what a file of another tool holds."""
    complete: bool = True
    """Whether a run of coldwarm went to its end."""
    cpu: str | None = None
    """Model of the processor; ``None``: the file does not say."""
    run_id: str | None = None
    started_at: str | None = None
    environment_sha256: Sha256 | None = None
    commit: str | None = None
    """Commit of the program, where the file tells it."""
    suite: str | None = None
    """What was measured together, where a file holds several of such."""
    part: bytes | None = None
    """What of the file it is from, where that holds several results; ``None``: all of it."""
