"""The validation report: what was checked of the results, and every figure with its provenance."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts.base import WARM
from coldwarm.contracts.environment import fingerprint
from coldwarm.contracts.snapshot import (
    CheckedGate,
    FigureSource,
    NamedLimitation,
    ProvenFigure,
    RejectedProcesses,
    ValidatedRun,
    ValidatedVerdicts,
    ValidationReport,
)
from coldwarm.publish.writing import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.publish.runs import Run, Verdicts

_HEADLINES = ("ttfr", "ttfr_process", "total")
"""The figures of a cold cache mode that are listed with their provenance."""


def report(
    snapshot_id: str, generated_at: str, runs: Sequence[Run], verdicts: Sequence[Verdicts] = ()
) -> ValidationReport:
    """Return the report of runs that were computed again, and of verdicts that were judged so."""
    return ValidationReport(
        snapshot_id=snapshot_id,
        generated_at=generated_at,
        runs=[_validated(run) for run in runs],
        gates=[_gate(run.name, case) for run in runs for case in run.cases],
        rejected=[one for run in runs for case in run.cases for one in _rejected(run.name, case)],
        limitations=[one for run in runs for one in _limitations(run)],
        figures=[one for run in runs for case in run.cases for one in _figures(run, case)],
        verdicts=[_verdicts(one) for one in verdicts],
    )


def _verdicts(one: Verdicts) -> ValidatedVerdicts:
    index = one.index
    versions = {k: v for result in index.results for k, v in result.versions.items()}
    return ValidatedVerdicts(
        kind=one.kind,
        path=one.path,
        sha256=sha256_of(one.placed[one.path]),
        started_at=index.started_at,
        finished_at=index.finished_at,
        harness_version=index.harness_version,
        harness_sha256=index.harness_sha256,
        versions=dict(sorted(versions.items())),
        verdicts=index.verdicts,
        n_runs=len(one.runs),
    )


def _validated(run: Run) -> ValidatedRun:
    suite = run.suite
    hashes = {case.protocol.harness_sha256 for case in run.cases}
    return ValidatedRun(
        suite=run.name,
        run_id=suite.run_id,
        started_at=suite.started_at,
        finished_at=suite.finished_at,
        complete=suite.complete,
        n_ok=suite.n_ok,
        n_warn=suite.n_warn,
        n_failed=suite.n_failed,
        harness_version=run.environment.harness.version,
        harness_sha256=hashes.pop() if len(hashes) == 1 else None,
        environment_sha256=suite.environment_sha256,
        environment_fingerprint=fingerprint(run.environment),
        statuses={case.case: case.status for case in run.cases},
    )


def _gate(suite: str, case: CaseResult) -> CheckedGate:
    gates = [seen.gate.passed for seen in case.observations if seen.gate is not None]
    return CheckedGate(
        suite=suite,
        case=case.case,
        passed=all(gates) if gates else None,
        n_passed=gates.count(True),
        n_failed=gates.count(False),
    )


def _rejected(suite: str, case: CaseResult) -> Iterator[RejectedProcesses]:
    seen = [one for one in case.observations if one.status != "ok" and one.reason is not None]
    counts = Counter((one.cache_mode, one.status, msgspec.json.encode(one.reason)) for one in seen)
    reasons = {msgspec.json.encode(one.reason): one.reason for one in seen}
    for (mode, status, key), n_processes in sorted(counts.items()):
        reason = reasons[key]
        if status != "ok" and reason is not None:
            yield RejectedProcesses(
                suite=suite,
                case=case.case,
                cache_mode=mode,
                status=status,
                reason=reason,
                n_processes=n_processes,
            )


def _limitations(run: Run) -> Iterator[NamedLimitation]:
    cases: dict[bytes, list[str]] = {}
    reasons: dict[bytes, Reason] = {}
    for case in run.cases:
        for reason in case.limitations:
            key = msgspec.json.encode(reason)
            reasons[key] = reason
            cases.setdefault(key, []).append(case.case)
    for key, reason in reasons.items():
        yield NamedLimitation(suite=run.name, reason=reason, cases=cases[key])


def _figures(run: Run, case: CaseResult) -> Iterator[ProvenFigure]:
    """Yield the headline figures of a case; all are of the run that measured them."""
    path = next(row.path for row in run.suite.cases if row.case == case.case)
    source = FigureSource(
        provenance="measured_here",
        path=f"{run.folder}/{path}",
        sha256=sha256_of(run.files[path]),
    )

    def figure(mode: CacheMode, name: str, summary: Summary) -> ProvenFigure:
        return ProvenFigure(
            suite=run.name,
            case=case.case,
            cache_mode=mode,
            name=name,
            median_s=summary.median,
            low_s=summary.low,
            high_s=summary.high,
            n_processes=summary.n_processes,
            source=source,
        )

    for cold in case.cold:
        for name in _HEADLINES:
            if name in cold.seconds:
                yield figure(cold.cache_mode, name, cold.seconds[name])
    if case.warm is not None and case.warm.call_s is not None:
        yield figure(WARM, "call", case.warm.call_s)
