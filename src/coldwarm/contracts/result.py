"""The observations of a case, with the summaries computed from them."""

from __future__ import annotations

from typing import Literal

from coldwarm.contracts.base import (
    CacheMode,
    Count,
    Dtype,
    NotNegative,
    Positive,
    Record,
    Seconds,
    Sha256,
    Status,
    group_name,
)
from coldwarm.contracts.making import Making
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.protocol import Protocol
from coldwarm.contracts.reasons import Reason


class Summary(Record, frozen=True, kw_only=True):
    """A distribution in few numbers; seconds, bytes or a ratio as its key says.

    ``low`` and ``high`` bound the median at ``confidence`` (hierarchical bootstrap over
    processes, then samples). ``p95`` is ``None`` below the 20 values it needs.
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


class ColdSummary(Record, frozen=True, kw_only=True):
    """One cold cache mode of a case: figures in seconds over its processes."""

    cache_mode: CacheMode
    n_ok: Count
    n_rejected: Count
    n_failed: Count
    seconds: dict[str, Summary]
    """``ttfr``, ``ttfr_process``, each phase, the first call's parts (``first_call.trace``,
    …, ``first_call.rest``), and ``start``: of ``ttfr_process`` all but import, wrap and
    first call. Of a scenario also ``total``: from the spawn to the end of its loop;
    ``loop`` and its parts (``loop.trace``, …, ``loop.rest``); ``step.compiling``: the mean of
    the steps after the first one in which something was compiled or read from a cache; and
    ``step.plain``: of those in which nothing was."""
    compiling_share: Summary | None = None
    """Of a scenario: tracing, lowering, compiling and reading caches over ``total``."""
    peak_rss_bytes: Summary | None = None
    precision_reached: float | None = None
    """Relative half-width of the interval of the ``ttfr`` median, of a scenario of the
    ``total`` median."""
    null_reasons: dict[str, Reason] = {}


class SteadyState(Record, frozen=True, kw_only=True):
    """Where each process became steady."""

    steady: bool
    reason: Reason
    n_processes: Count
    n_steady: Count
    warmup_samples: list[Count]
    """For each process, the samples before its steady state (kept in the raw series)."""


class WarmSummary(Record, frozen=True, kw_only=True):
    """The warm regime of a case."""

    n_processes: Count
    n_rejected: Count
    call_s: Summary | None
    steady: SteadyState
    batch: int | None
    precision_reached: float | None = None
    null_reasons: dict[str, Reason] = {}


class Comparison(Record, frozen=True, kw_only=True):
    """A judged difference of this case from its workload's baseline.

    ``ratio`` is this case over the baseline, so below 1 is faster. ``threshold`` is the
    relative difference that matters; ``smallest_detectable`` the smallest relative
    difference that this run could have shown.
    """

    metric: str
    baseline: str
    ratio: Positive | None
    low: float | None
    high: float | None
    threshold: float
    smallest_detectable: float | None
    verdict: Literal["faster", "slower", "same", "undecided"]
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
    "compiled",
    "bytecode",
]


class Caution(Record, frozen=True, kw_only=True):
    """Something to know before trusting a case, such that many can be told as one."""

    kind: CautionKind
    cache_mode: CacheMode | None = None
    """The mode it is about; ``None``: the case as a whole."""
    n_processes: Count
    """Processes it was seen in."""
    of_processes: Count
    """Processes that were looked at."""
    reason: Reason
    """What was seen, with its figures: of several processes the worst, or the most common."""


class CaseResult(Record, frozen=True, kw_only=True):
    """Everything known about one case."""

    schema_version: Literal["coldwarm.case_result.v2"] = "coldwarm.case_result.v2"
    case: str
    workload: str
    candidate: str
    backend: str
    device: Literal["cpu", "gpu"]
    size: int
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
    limitations: list[Reason] = []
    """What could not be controlled."""
    warnings: list[Caution] = []
    """Those about validity first; none where nothing was observed."""
    made: list[Making] = []
    """What was made beforehand and what it cost; empty where the backend makes nothing."""
    observations: list[Observation] = []
    null_reasons: dict[str, Reason] = {}

    @property
    def group(self) -> str:
        """What it is compared within."""
        return group_name(self.workload, self.size, self.dtype)


class SuiteCase(Record, frozen=True, kw_only=True):
    """A case in the suite's index."""

    case: str
    path: str
    sha256: Sha256
    status: Status
    reason: Reason | None = None


class SuiteResult(Record, frozen=True, kw_only=True):
    """The index of one run."""

    schema_version: Literal["coldwarm.suite_result.v2"] = "coldwarm.suite_result.v2"
    suite: str
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
    null_reasons: dict[str, Reason] = {}
