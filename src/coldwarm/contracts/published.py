"""The records of the published contracts, version 1: the result and the suite index.

They are older and narrower than the native records: only what is named here may stand in
them. ``coldwarm.contracts.files.nextstat`` fills them.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from coldwarm.contracts.base import Count, NotNegative, Record, Sha256, Status

RelativePath = Annotated[str, msgspec.Meta(pattern=r"^(?!/)(?![\s\S]*(^|/)\.\.(/|$)).+$(?!\n)")]


class Quantiles(Record, frozen=True, kw_only=True):
    """A distribution in three numbers, seconds; ``p95`` is NumPy's, of however many there are."""

    min: NotNegative
    median: NotNegative
    p95: NotNegative


class ResultMeta(Record, frozen=True, kw_only=True):
    """Where a result was measured; ``not installed`` for a package that is not there."""

    python: str
    platform: str
    numpy_version: str
    jax_version: str


class Dataset(Record, frozen=True, kw_only=True):
    """The inputs, shared by all candidates of a workload."""

    id: str
    sha256: Sha256


class Config(Record, frozen=True, kw_only=True):
    """What was measured and how often."""

    backend: str
    workload: str
    n: Annotated[int, msgspec.Meta(ge=1)]
    dtype: Literal["float32", "float64"]
    cold_runs: Count
    warm_iters: Count
    cache_policy: str


class PublishedDevice(Record, frozen=True, kw_only=True):
    """The device, as its framework names it."""

    platform: str
    kind: str
    count: int


class ColdRun(Record, frozen=True, kw_only=True):
    """One fresh process. ``total_s`` runs from its spawn to the end of the second call."""

    import_s: NotNegative
    first_call_s: NotNegative
    second_call_s: NotNegative
    total_s: NotNegative
    status: str
    reason: str


class Cold(Record, frozen=True, kw_only=True):
    """The cold regime: every listed process, and summaries of them where there is any."""

    runs: list[ColdRun]
    n_runs: Count | UnsetType = UNSET
    import_s: Quantiles | UnsetType = UNSET
    first_call_s: Quantiles | UnsetType = UNSET
    ttfr_s: Quantiles | UnsetType = UNSET
    total_s: Quantiles | UnsetType = UNSET


class Warm(Record, frozen=True, kw_only=True):
    """The warm regime: seconds for one call, steady samples only."""

    calls_s: list[NotNegative]
    n_iters: Count | UnsetType = UNSET
    call_s: Quantiles | UnsetType = UNSET
    status: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class Timing(Record, frozen=True, kw_only=True):
    """Both regimes."""

    cold: Cold
    warm: Warm


class NextstatResult(Record, frozen=True, kw_only=True):
    """One case in one cold cache mode, as published."""

    schema_version: Literal["nextstat.ml_benchmark_result.v1"] = "nextstat.ml_benchmark_result.v1"
    suite: Literal["ml"] = "ml"
    case: str
    deterministic: bool
    status: Status
    reason: str | UnsetType | None = UNSET
    meta: ResultMeta
    dataset: Dataset
    config: Config
    device: PublishedDevice | UnsetType | None = UNSET
    timing: Timing


class SuiteMeta(Record, frozen=True, kw_only=True):
    """Where a suite was measured."""

    python: str
    platform: str


class NextstatSuiteCase(Record, frozen=True, kw_only=True):
    """One result in the index; a median is 0 where nothing was measured, which is never ``ok``."""

    case: str
    path: RelativePath
    sha256: Sha256
    status: Status
    cold_ttfr_median_s: NotNegative
    warm_call_median_s: NotNegative


class NextstatSummary(Record, frozen=True, kw_only=True):
    """Counts, and the case with the slowest start (a failed one is always worse).

    ``worst_case`` is empty where there is no case.
    """

    n_cases: Count
    n_ok: Count
    n_warn: Count
    n_failed: Count
    worst_case: str


class NextstatSuite(Record, frozen=True, kw_only=True):
    """The index of published results."""

    schema_version: Literal["nextstat.ml_benchmark_suite_result.v1"] = (
        "nextstat.ml_benchmark_suite_result.v1"
    )
    suite: Literal["ml"] = "ml"
    deterministic: bool
    meta: SuiteMeta
    cases: list[NextstatSuiteCase]
    summary: NextstatSummary
