"""The published contracts of version 1: their records, and a native case and run expressed in them.

They are older and narrower than the native records: only what is named here may stand in them. A
case becomes one result for each of its cold cache modes, because the contract has one
``cache_policy`` for a result; the warm samples of the case, which come from processes past their
start, stand in each of them.

Nothing is estimated on the way. A process is listed under ``runs`` only if it is valid and reached
the end of its second call, since the contract has no null for a phase; rejected, failed and partial
processes stay in the native record. The summaries follow the publisher's conventions, not ours:
they are of the numbers that are listed, so that a reader of the file alone arrives at the same, and
there is a ``p95`` of however many there are. A number that was not measured is 0 in the index, and
then the status is ``warn`` or ``failed``.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from coldwarm.contracts.base import CACHE_MODES, WARM, Count, NotNegative, Record, Sha256, Status
from coldwarm.contracts.observation import published
from coldwarm.contracts.reasons import because, brief, is_wrong

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode, Dtype
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult


RelativePath = Annotated[str, msgspec.Meta(pattern=r"^(?!/)(?![\s\S]*(^|/)\.\.(/|$)).+$(?!\n)")]


class _Quantiles(Record, frozen=True, kw_only=True):
    """A distribution in three numbers, seconds; ``p95`` is NumPy's, of however many there are."""

    min: NotNegative
    median: NotNegative
    p95: NotNegative


class _ResultMeta(Record, frozen=True, kw_only=True):
    """Where a result was measured; ``not installed`` for a package that is not there."""

    python: str
    platform: str
    numpy_version: str
    jax_version: str


class Dataset(Record, frozen=True, kw_only=True):
    """The inputs, shared by all candidates of a workload."""

    id: str
    sha256: Sha256


class _Config(Record, frozen=True, kw_only=True):
    """Configuration: what was measured and how often."""

    backend: str
    workload: str
    n: Annotated[int, msgspec.Meta(ge=1)]
    dtype: Literal["float32", "float64"]
    cold_runs: Count
    warm_iters: Count
    cache_policy: str


class _PublishedDevice(Record, frozen=True, kw_only=True):
    """The device, as its framework names it."""

    platform: str
    kind: str
    count: int


class _ColdRun(Record, frozen=True, kw_only=True):
    """One fresh process. ``total_s`` runs from its spawn to the end of the second call."""

    import_s: NotNegative
    first_call_s: NotNegative
    second_call_s: NotNegative
    total_s: NotNegative
    status: str
    reason: str


class _Cold(Record, frozen=True, kw_only=True):
    """The cold regime: every listed process, and summaries of them where there is any."""

    runs: list[_ColdRun]
    n_runs: Count | UnsetType = UNSET
    import_s: _Quantiles | UnsetType = UNSET
    first_call_s: _Quantiles | UnsetType = UNSET
    ttfr_s: _Quantiles | UnsetType = UNSET
    total_s: _Quantiles | UnsetType = UNSET


class _Warm(Record, frozen=True, kw_only=True):
    """The warm regime: seconds for one call, steady samples only."""

    calls_s: list[NotNegative]
    n_iters: Count | UnsetType = UNSET
    call_s: _Quantiles | UnsetType = UNSET
    status: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class _Timing(Record, frozen=True, kw_only=True):
    """Both regimes."""

    cold: _Cold
    warm: _Warm


class NextstatResult(Record, frozen=True, kw_only=True):
    """One case in one cold cache mode, as published."""

    schema_version: Literal["nextstat.ml_benchmark_result.v1"] = "nextstat.ml_benchmark_result.v1"
    suite: Literal["ml"] = "ml"
    case: str
    deterministic: bool
    status: Status
    reason: str | UnsetType | None = UNSET
    meta: _ResultMeta
    dataset: Dataset
    config: _Config
    device: _PublishedDevice | UnsetType | None = UNSET
    timing: _Timing


class _SuiteMeta(Record, frozen=True, kw_only=True):
    """Where a suite was measured."""

    python: str
    platform: str


class _NextstatSuiteCase(Record, frozen=True, kw_only=True):
    """One result in the index; a median is 0 where nothing was measured, which is never ``ok``."""

    case: str
    path: RelativePath
    sha256: Sha256
    status: Status
    cold_ttfr_median_s: NotNegative
    warm_call_median_s: NotNegative


class _NextstatSummary(Record, frozen=True, kw_only=True):
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
    meta: _SuiteMeta
    cases: list[_NextstatSuiteCase]
    summary: _NextstatSummary


INDEX = "ml_suite.json"
"""The name of the index, in the folder of the published results."""

_SUFFIXES: dict[CacheMode, str] = {
    "cold_process_cold_cache": "",
    "cold_process_warm_cache": "_warm_cache",
    "first_ever": "_first_ever",
    "warm_process": "",
}
"""Suffix of the case's id by cache mode."""

_DTYPES: dict[Dtype, Literal["float32", "float64"]] = {"f32": "float32", "f64": "float64"}
_SHA256_OF_NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
_NOT_INSTALLED = "not installed"


def express(
    case: CaseResult, environment: Environment, steady: Sequence[Sequence[float]]
) -> list[tuple[str, NextstatResult]]:
    """Return a name and a published result for each cold cache mode of a case.

    Empty where the contract has no word for the case's dtype, or for a call that is a whole
    loop, of which the first call is a step. A case that was asked for
    in the warm regime alone gives one result without cold runs, its ``cache_policy``
    ``warm_process``. A candidate whose answer was wrong gives no timing.

    ``steady`` holds, for each warm process that counts, its samples in the steady state.
    ``dataset.sha256`` is the hash of the inputs; where no process came as far as making
    them, which the contract has no null for, it is the hash of no bytes.
    """
    if case.dtype not in _DTYPES or case.scenario:
        return []
    asked = [mode for mode in CACHE_MODES if mode in case.protocol.cache_modes]
    cold = [mode for mode in asked if mode != "warm_process"]
    return [
        (case.case + _SUFFIXES[mode], _result(case, mode, environment, steady))
        for mode in cold or asked
    ]


def _result(
    case: CaseResult, mode: CacheMode, environment: Environment, steady: Iterable[Sequence[float]]
) -> NextstatResult:
    observations = _publishable(case)
    runs = _cold_runs(observations, mode)
    calls, warm_reason = _warm_calls(case, observations, steady)
    status, reason = _status(case, mode, runs, calls)
    return NextstatResult(
        case=case.case + _SUFFIXES[mode],
        deterministic=case.protocol.deterministic,
        status=status,
        reason=reason,
        meta=_meta(observations, environment),
        dataset=Dataset(id=case.dataset_id, sha256=case.dataset_sha256 or _SHA256_OF_NOTHING),
        config=_Config(
            backend=case.candidate,
            workload=case.workload,
            n=case.size,
            dtype=_DTYPES[case.dtype],
            cold_runs=len(runs),
            warm_iters=len(calls),
            cache_policy=mode,
        ),
        device=_device(observations),
        timing=_Timing(cold=_cold(runs), warm=_warm(calls, warm_reason)),
    )


def _publishable(case: CaseResult) -> list[Observation]:
    """Return the valid observations; none at all where any answer was wrong."""
    gates = [observation.gate for observation in case.observations]
    if is_wrong(case.reason) or any(gate is not None and not gate.passed for gate in gates):
        return []
    return [seen for seen in published(case.observations) if seen.status == "ok"]


def _status(
    case: CaseResult, mode: CacheMode, runs: Sequence[_ColdRun], calls: Sequence[float]
) -> tuple[Status, str | None]:
    """Return the case's status, or a warning where it is fine but a regime gave no number."""
    if case.status != "ok":
        return case.status, None if case.reason is None else brief(case.reason)
    if mode == WARM:
        return "warn", brief(because("not_asked_for", mode_names=["cold"]))
    if not runs:
        ours = published(case.observations)
        seen = [one.reason for one in ours if one.cache_mode == mode and one.reason]
        why = brief(seen[0]) if seen else "none reached its second call"
        return "warn", f"no_valid_run: {why}"
    if calls:
        return "ok", None
    if WARM not in case.protocol.cache_modes:
        return "warn", brief(because("not_asked_for", mode_names=[WARM]))
    return "warn", brief(because("no_warm_samples"))


def _meta(observations: Sequence[Observation], environment: Environment) -> _ResultMeta:
    """Return the versions that the processes saw, else those installed beside the harness."""
    versions: Mapping[str, str] = environment.distributions
    for seen in observations:
        versions = {**versions, **seen.versions}
    return _ResultMeta(
        python=environment.python.version,
        platform=environment.platform,
        numpy_version=versions.get("numpy", _NOT_INSTALLED),
        jax_version=versions.get("jax", _NOT_INSTALLED),
    )


def _device(observations: Sequence[Observation]) -> _PublishedDevice | None:
    device = next((seen.device for seen in observations if seen.device is not None), None)
    if device is None:
        return None
    return _PublishedDevice(platform=device.platform, kind=device.kind, count=device.count)


def _cold_runs(observations: Sequence[Observation], mode: CacheMode) -> list[_ColdRun]:
    if mode == "warm_process":
        return []
    seen_in_mode = [seen for seen in observations if mode in (seen.cache_mode, *seen.also_modes)]
    return [run for run in map(_cold_run, seen_in_mode) if run is not None]


def _cold_run(seen: Observation) -> _ColdRun | None:
    """Return the run of one process; ``None`` where it did not reach its second call."""
    phases = {phase.name: phase for phase in seen.phases}
    if not phases.keys() >= {"import", "first_call", "second_call"}:
        return None
    last = phases["second_call"]
    return _ColdRun(
        import_s=phases["import"].duration_s,
        first_call_s=phases["first_call"].duration_s,
        second_call_s=last.duration_s,
        total_s=last.start_s + last.duration_s,
        status="ok",
        reason="",
    )


def _warm_calls(
    case: CaseResult, observations: Sequence[Observation], steady: Iterable[Sequence[float]]
) -> tuple[list[float], str]:
    """Return the steady samples of all processes, or why there are none."""
    if case.warm is None or not observations:
        return [], "no warm process was measured"
    calls = [sample for samples in steady for sample in samples]
    if not calls:
        return [], "no process has warm samples that count"
    return calls, "" if case.warm.steady.steady else brief(case.warm.steady.reason)


def _cold(runs: list[_ColdRun]) -> _Cold:
    return _Cold(
        runs=runs,
        n_runs=len(runs),
        import_s=_quantiles([run.import_s for run in runs]),
        first_call_s=_quantiles([run.first_call_s for run in runs]),
        ttfr_s=_quantiles([_ttfr_s(run) for run in runs]),
        total_s=_quantiles([run.total_s for run in runs]),
    )


def _ttfr_s(run: _ColdRun) -> float:
    """Return the published time to a first result: import plus first call, seconds."""
    return run.import_s + run.first_call_s


def _warm(calls: list[float], reason: str) -> _Warm:
    return _Warm(
        calls_s=calls,
        n_iters=len(calls),
        call_s=_quantiles(calls),
        status="warn" if reason else "ok",
        reason=reason,
    )


def _quantiles(values: Sequence[float]) -> _Quantiles | UnsetType:
    """Return minimum, median and NumPy's 95th percentile; nothing where there is no value."""
    if not values:
        return UNSET
    # The inclusive method is NumPy's: linear between the values, their range its ends.
    several = values if len(values) > 1 else [*values, *values]
    p95 = statistics.quantiles(several, n=20, method="inclusive")[-1]
    return _Quantiles(min=min(values), median=statistics.median(values), p95=p95)


class Published(NamedTuple):
    """A result that was written, with where and with which SHA-256."""

    result: NextstatResult
    path: str
    """Relative to the folder of the index, with forward slashes."""
    sha256: str


def summarised(result: NextstatResult) -> NextstatResult:
    """Return a result with the counts and summaries of the numbers that it lists.

    What is optional and absent stays so.
    """
    cold, warm = result.timing.cold, result.timing.warm
    n_runs, n_calls = len(cold.runs), len(warm.calls_s)
    runs = [run for run in cold.runs if run.status == "ok"]
    return replace(
        result,
        config=replace(result.config, cold_runs=n_runs, warm_iters=n_calls),
        timing=_Timing(
            cold=replace(_cold(runs), runs=cold.runs, **_absent(cold, n_runs=n_runs)),
            warm=replace(warm, **_absent(warm, n_iters=n_calls, call_s=_quantiles(warm.calls_s))),
        ),
    )


def _absent(said: _Cold | _Warm, **made: object) -> dict[str, Any]:
    """Return what was made, and nothing under the names of what is not there."""
    absent = [name for name in said.__struct_fields__ if getattr(said, name) is UNSET]
    return made | dict.fromkeys(absent, UNSET)


def _cold_median_s(result: NextstatResult) -> float:
    """Return the median of import plus first call over the listed runs, seconds; 0 without any."""
    runs = [_ttfr_s(run) for run in result.timing.cold.runs if run.status == "ok"]
    return statistics.median(runs) if runs else 0.0


def _warm_median_s(result: NextstatResult) -> float:
    """Return the median of the warm calls, seconds: the summary's where there is one; else 0."""
    summary, calls = result.timing.warm.call_s, result.timing.warm.calls_s
    if summary is not UNSET:
        return summary.median
    return statistics.median(calls) if calls else 0.0


def index_row(published: Published) -> _NextstatSuiteCase:
    """Return the row of a result in the index."""
    result = published.result
    return _NextstatSuiteCase(
        case=result.case,
        path=published.path,
        sha256=published.sha256,
        status=result.status,
        cold_ttfr_median_s=_cold_median_s(result),
        warm_call_median_s=_warm_median_s(result),
    )


def suite(
    published: Sequence[Published], environment: Environment, *, deterministic: bool
) -> NextstatSuite:
    """Return the index over results that were written.

    The medians are those of the raw numbers in each result, so that a reader of the files
    alone arrives at the same index.
    """
    cases = [index_row(item) for item in published]
    meta = _SuiteMeta(python=environment.python.version, platform=environment.platform)
    return NextstatSuite(deterministic=deterministic, meta=meta, cases=cases, summary=tally(cases))


def tally(cases: Sequence[_NextstatSuiteCase]) -> _NextstatSummary:
    """Return the summary of an index; ``worst_case`` is empty where there is no case."""
    counts = {f"n_{s}": sum(case.status == s for case in cases) for s in get_args(Status)}
    return _NextstatSummary(n_cases=len(cases), worst_case=_worst(cases), **counts)


def _worst(cases: Sequence[_NextstatSuiteCase]) -> str:
    failed = [case.case for case in cases if case.status == "failed"]
    if failed:
        return failed[0]
    return max(((case.cold_ttfr_median_s, case.case) for case in cases), default=(0.0, ""))[1]
