"""What a bench says, computed from its cases. Pure."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.bench import BenchCandidate, BenchReport, BenchVerdict
from coldwarm.contracts.reasons import because
from coldwarm.stats.compare.counts import judge, n_failing
from coldwarm.stats.plan.jobs import Job
from coldwarm.stats.plan.planning import gather, plan
from coldwarm.stats.ratio import beyond

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.plan import Plan
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.contracts.summary import CountVerdict
    from coldwarm.stats.compare.counts import CountLimit

_MODES_OF_A_PLAN = {"cold_process_cold_cache", "cold_process_warm_cache", WARM}


def report(
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    path: str,
    limits: Mapping[str, float],
    guarded: Mapping[str, CountLimit] = MappingProxyType({}),
) -> tuple[BenchReport, Plan | None]:
    """Return the report of a bench, and the plan that its break-even is from.

    ``limits``: for ``faster`` and ``slower``, the relative difference that a verdict must
    exceed to fail. ``guarded``: limits of counts.
    """
    reference = next((case.candidate for case in cases if case.baseline), cases[0].candidate)
    verdicts = [
        BenchVerdict(
            candidate=case.candidate,
            comparison=comparison,
            fails_beyond=beyond(comparison, limits.get(comparison.verdict)),
        )
        for case in cases
        for comparison in case.comparisons
    ]
    counts = _counts(cases, guarded)
    asked = set(cases[0].protocol.cache_modes)
    planned = None
    if len(cases) > 1 and asked >= _MODES_OF_A_PLAN:
        planned = plan(gather(cases[0].workload, cases), Job(1, 1, 1, "cold"))
    made = BenchReport(
        path=path,
        run_id=suite.run_id,
        complete=suite.complete,
        reference=reference,
        wall_s=suite.wall_s,
        candidates=[_candidate(case) for case in cases],
        verdicts=verdicts,
        counts=counts,
        break_even=planned.break_even if planned else [],
        n_failing=sum(one.fails_beyond is not None for one in verdicts) + n_failing(counts),
    )
    return made, planned


def _counts(cases: Sequence[CaseResult], guarded: Mapping[str, CountLimit]) -> list[CountVerdict]:
    """Hold the counts of every candidate against those of the reference."""
    reference = next((case for case in cases if case.baseline), cases[0])
    return [
        verdict
        for case in cases
        if case is not reference
        for verdict in judge(case.candidate, reference.counts, case.counts, guarded)
    ]


def _candidate(case: CaseResult) -> BenchCandidate:
    own = case.protocol.own
    cold = {summary.cache_mode: summary.seconds for summary in case.cold}
    empty = cold.get("cold_process_cold_cache", {})
    reasons = dict(own.null_reasons) if own else {}
    if "new_shape" not in empty:
        reasons["new_shape"] = because("one_shape")
    if case.warm is None or case.warm.call_s is None:
        reasons["call"] = case.null_reasons.get("warm", because("no_valid_process"))
        reasons["steady"] = reasons["call"]
    return BenchCandidate(
        candidate=case.candidate,
        target=own.target if own else case.workload,
        python=own.python if own else "",
        revision=own.revision if own else None,
        status=case.status,
        reason=case.reason,
        checked=own.checked if own else "",
        ttfr={mode: seconds["ttfr"] for mode, seconds in cold.items() if "ttfr" in seconds},
        ttfr_process={
            mode: seconds["ttfr_process"]
            for mode, seconds in cold.items()
            if "ttfr_process" in seconds
        },
        new_shape=empty.get("new_shape"),
        call=case.warm.call_s if case.warm else None,
        steady=case.warm.steady.steady if case.warm and case.warm.call_s else None,
        kept_memory=case.warm.kept_memory if case.warm else None,
        filled_by=case.filled_by,
        framework_default=next(
            (one.framework_default for one in case.cold if one.cache_mode == FILLED), None
        ),
        counts=case.counts,
        limitations=case.limitations,
        null_reasons=reasons,
    )
