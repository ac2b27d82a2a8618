"""Turns what a run has into the files that it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from coldwarm.caches import modes, pages
from coldwarm.contracts.base import Status
from coldwarm.contracts.files import codec, nextstat
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import CaseResult, SuiteCase, SuiteResult
from coldwarm.runner.describe import protocol
from coldwarm.runner.process.isolation import owners_of
from coldwarm.stats import ratio, summarise
from coldwarm.stats.selection import warm_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.schedule.case import Case
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.options import Options

    Save = Callable[[str, bytes], str]
    """Writes a file of the run, by its name, and returns its hash."""

ENVIRONMENT = "environment.json"
INDEX = "suite.json"
CASES = "cases"


@dataclass(frozen=True)
class Facts:
    """What all results of a run share."""

    options: Options
    run_id: str
    started_at: str
    environment: Environment
    environment_sha256: str
    unavailable: Mapping[str, Reason]
    """Case to the reason why it cannot run here."""
    inputs: Mapping[str, str]
    """Group to the hash of its inputs."""


def case_result(case: Case, ledger: Ledger, facts: Facts) -> CaseResult:
    """Return a case's result so far."""
    observations = ledger.of(case)
    status, reason = _status(case, ledger, facts)
    wrong = reason is not None and reason.code == "correctness_gate"
    summary = summarise.CaseSummary(cold=[], warm=None, warnings=[])
    # Of a case that did not run, or gave a wrong answer, there is only the reason.
    if observations and not wrong:
        summary = summarise.summarise(
            observations,
            facts.options.cache_modes,
            # Where verdicts decide, no precision was asked for.
            precision=facts.options.precision if facts.options.decide is None else None,
            seed=facts.options.seed,
        )
    seen_inputs = (seen.input_sha256 for seen in observations if seen.input_sha256)
    # A run that goes on need not have asked for the inputs of what was complete.
    sha256 = facts.inputs.get(case.group) or next(seen_inputs, None)
    return CaseResult(
        case=case.id,
        workload=case.workload.name,
        candidate=case.candidate,
        backend=case.backend.name,
        device="gpu" if case.device == "gpu" else "cpu",
        size=case.size,
        dtype=case.dtype,
        status=status,
        reason=reason,
        baseline=case.is_baseline,
        scenario=case.workload.scenario,
        dataset_id=f"{case.group}_seed{facts.options.seed}",
        dataset_sha256=sha256,
        protocol=protocol(case, facts.options),
        environment_sha256=facts.environment_sha256,
        cold=summary.cold,
        warm=summary.warm,
        limitations=_limitations(case, facts.options),
        warnings=summary.warnings,
        made=[] if wrong else ledger.made(case),
        observations=[_without_timing(seen) for seen in observations] if wrong else observations,
        null_reasons=_null_reasons(sha256, reason, has_warm=summary.warm is not None),
    )


def _null_reasons(
    sha256: str | None, reason: Reason | None, *, has_warm: bool
) -> dict[str, Reason]:
    missing = {}
    if sha256 is None:
        missing["dataset_sha256"] = because("inputs_not_reached")
    if not has_warm:
        missing["warm"] = reason or because("warm_not_asked")
    return missing


def _status(case: Case, ledger: Ledger, facts: Facts) -> tuple[Status, Reason | None]:
    if case.id in facts.unavailable:
        return "warn", facts.unavailable[case.id]
    failure = ledger.failure(case)
    if failure is not None:
        absent = failure.reason is not None and failure.reason.code == "gpu_unavailable"
        return "warn" if absent else "failed", failure.reason
    missing = [mode for mode in facts.options.cache_modes if not ledger.good(case, mode)]
    return ("warn", _why_missing(missing, case, ledger)) if missing else ("ok", None)


def _why_missing(missing: Sequence[CacheMode], case: Case, ledger: Ledger) -> Reason:
    names: list[str] = list(missing)
    rejected = [o.reason for o in ledger.of(case) if o.status == "rejected" and o.reason]
    if not rejected:
        return because("not_measured", mode_names=names)
    return because("not_proved", rejected[-1], mode_names=names)


def _limitations(case: Case, options: Options) -> list[Reason]:
    names = {name for m in options.cache_modes for name in owners_of(case.backend, case.device, m)}
    if set(options.cache_modes) - {"first_ever"}:
        names.add("bytecode")
    return [*case.notes, *modes.limitations(sorted(names)), *pages.limitations(options.cache_modes)]


def _without_timing(seen: Observation) -> Observation:
    """Return an observation of a wrong answer with no figure that could be quoted."""
    gone = ("ttfr_s", "ttfr_process_s", "first_call_parts", "loop", "harness", "telemetry")
    return replace(
        seen,
        phases=[],
        blocks=[],
        evidence=[replace(found, raw={}) for found in seen.evidence],
        **dict.fromkeys(gone),
        null_reasons=dict.fromkeys(gone, because("correctness_gate")),
    )


def with_comparisons(
    results: Sequence[CaseResult], threshold: float | None = None
) -> list[CaseResult]:
    """Compare every case with the baseline of its workload, size and dtype."""
    baselines = {
        (result.workload, result.size, result.dtype): result
        for result in results
        if result.baseline and result.status == "ok"
    }
    compared = []
    for result in results:
        baseline = baselines.get((result.workload, result.size, result.dtype))
        if baseline is None or result.status != "ok" or result.baseline:
            compared.append(result)
            continue
        comparisons = summarise.compare_case(
            baseline.case,
            baseline.observations,
            result.observations,
            result.protocol.cache_modes,
            threshold=ratio.THRESHOLD if threshold is None else threshold,
        )
        compared.append(replace(result, comparisons=comparisons))
    return compared


def write(  # noqa: PLR0913 - the figures of a run that only its end knows
    save: Save,
    results: Sequence[CaseResult],
    facts: Facts,
    *,
    finished_at: str | None,
    order: Sequence[str],
    wall_s: float,
    measured_s: float,
) -> SuiteResult:
    """Write every case, the published contracts beside them, and the index last."""
    rows = []
    for result in results:
        path = f"{CASES}/{result.case}.json"
        sha256 = save(path, codec.encode(result))
        rows.append(
            SuiteCase(
                case=result.case,
                path=path,
                sha256=sha256,
                status=result.status,
                reason=result.reason,
            )
        )
    _write_published(save, results, facts)
    counts = {f"n_{s}": sum(row.status == s for row in rows) for s in get_args(Status)}
    suite = SuiteResult(
        suite=facts.options.suite,
        run_id=facts.run_id,
        started_at=facts.started_at,
        finished_at=finished_at,
        complete=finished_at is not None,
        deterministic=facts.options.deterministic,
        seed=facts.options.seed,
        environment_path=ENVIRONMENT,
        environment_sha256=facts.environment_sha256,
        cases=rows,
        **counts,
        order=list(order),
        wall_s=wall_s,
        measured_s=measured_s,
        null_reasons={} if finished_at else {"finished_at": because("interrupted")},
    )
    save(INDEX, codec.encode(suite))
    return suite


def _write_published(save: Save, results: Sequence[CaseResult], facts: Facts) -> None:
    published = []
    for result in results:
        steady = [process.steadiness.samples for process in warm_processes(result.observations)]
        for name, expressed in nextstat.express(result, facts.environment, steady):
            path = f"{name}.json"
            sha256 = save(f"nextstat/{path}", codec.encode(expressed))
            published.append(nextstat.Published(expressed, path, sha256))
    index = nextstat.suite(published, facts.environment, deterministic=facts.options.deterministic)
    save("nextstat/suite.json", codec.encode(index))
