"""What a case ended with, and what is computed of it, from its observations alone.

Whoever measures and whoever reads a stored result asks the same functions, so that nothing that can
be computed has to be believed.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts import nextstat
from coldwarm.contracts.observation import Counts, published
from coldwarm.contracts.reasons import because, is_wrong
from coldwarm.stats import many, ratio, summarise
from coldwarm.stats.compare import control
from coldwarm.stats.selection import counted, failure, warm_processes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode, Status
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.nextstat import NextstatResult
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Protocol


def status_of(
    observations: Sequence[Observation], modes: Sequence[CacheMode]
) -> tuple[Status, Reason | None]:
    """Return the status of a case that could be measured, and the reason where it is not fine."""
    failed = failure(observations)
    if failed is not None:
        absent = failed.reason is not None and failed.reason.code == "gpu_unavailable"
        return "warn" if absent else "failed", failed.reason
    missing = [mode for mode in modes if not counted(observations, mode)]
    return ("warn", _why_missing(missing, observations)) if missing else ("ok", None)


def _why_missing(missing: Sequence[CacheMode], observations: Sequence[Observation]) -> Reason:
    names: list[str] = list(missing)
    rejected = [o.reason for o in published(observations) if o.status == "rejected" and o.reason]
    if not rejected:
        return because("not_measured", mode_names=names)
    return because("not_proved", rejected[-1], mode_names=names)


def summary_of(
    observations: Sequence[Observation],
    reason: Reason | None,
    protocol: Protocol,
    inspected_call_s: float | None = None,
) -> summarise.CaseSummary:
    """Summarise a case; of one that did not run, or gave a wrong answer, there is only the reason.

    Where verdicts decided how much was measured, no precision was asked for.
    """
    if not observations or is_wrong(reason):
        return summarise.CaseSummary(cold=[], warm=None, warnings=[], counts=Counts())
    effort = protocol.effort
    return summarise.summarise(
        observations,
        protocol.cache_modes,
        precision=effort.precision if effort.decide is None else None,
        inspected_call_s=inspected_call_s,
    )


def with_comparisons(
    results: Sequence[CaseResult], threshold: float | None = None
) -> list[CaseResult]:
    """Compare every case with the baseline of its workload, size and dtype.

    The verdicts of all are held to an error rate together. Those of a control, whose truth is
    known, are not: they only withhold others.
    """
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
    controls = [result for result in compared if control.is_control(result)]
    others = [result for result in compared if not control.is_control(result)]
    held = iter(many.held([one for result in others for one in result.comparisons]))
    judged = {
        result.case: control.withheld(list(islice(held, len(result.comparisons))), controls)
        for result in others
    }
    return [
        replace(result, comparisons=judged.get(result.case, result.comparisons))
        for result in compared
    ]


def without_timing(seen: Observation) -> Observation:
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


def published_of(result: CaseResult, environment: Environment) -> list[tuple[str, NextstatResult]]:
    """Return names and published results of a case."""
    steady = [process.steadiness.samples for process in warm_processes(result.observations)]
    return nextstat.express(result, environment, steady)
