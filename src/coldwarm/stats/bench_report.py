"""Report of a bench, computed from its cases. Pure."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.contracts.bench import BenchCandidate, BenchControl, BenchReport, BenchVerdict
from coldwarm.contracts.reasons import because
from coldwarm.stats.answers import answers
from coldwarm.stats.cautions import held_back
from coldwarm.stats.compared_figures import fails, judge_counts, surely_below, unshown
from coldwarm.stats.costs import gather
from coldwarm.stats.planning import Job, plan
from coldwarm.stats.selection import counted

_MODES_OF_A_PLAN = {EMPTY, FILLED, WARM}
"""Modes that have to be known before anything can pay off."""

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Comparison, CountVerdict, Plan
    from coldwarm.contracts.base import CacheMode, MetricKind
    from coldwarm.contracts.comparison import UnshownLimit
    from coldwarm.contracts.policy import CountLimit, Policy
    from coldwarm.contracts.result import CaseResult, SuiteResult


def bench_report(
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    path: str,
    policy: Policy,
) -> tuple[BenchReport, Plan | None]:
    """Return the report of a bench, and the plan that its break-even is from.

    ``policy``: the relative difference that a verdict must exceed to fail; one below the threshold
    of its figure does not matter, and fails nothing.

    Raises:
        UsageError: a rule of the policy is for none of the figures.
    """
    reference = next((case.candidate for case in cases if case.baseline), cases[0].candidate)
    others = [case for case in cases if case.control_of is None]
    baseline = next(case for case in cases if case.candidate == reference)
    verdicts = [
        BenchVerdict(
            candidate=case.candidate,
            comparison=comparison,
            fails_beyond=fails(comparison, comparison.verdict, limits),
            held_back=held_back(case) or held_back(baseline),
            surely_below=surely_below(comparison, limits),
        )
        for case in others
        for comparison in case.comparisons
        for limits in [_limits(policy, case.case, comparison)]
    ]
    figures = [_figure(case.case, one) for case in cases for one in case.comparisons]
    policy.refuse_unmatched(figures)
    counts = _counts(others, policy.counts)
    asked = set(cases[0].protocol.cache_modes)
    planned = None
    if len(others) > 1 and asked >= _MODES_OF_A_PLAN:
        planned = plan(gather(others[0].workload, others), Job(1, 1, 1, "cold"))
    failing = [one.fails_beyond for one in verdicts] + [one.fails_beyond for one in counts]
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
        n_failing=sum(limit is not None for limit in failing),
        control=next((_control(case) for case in cases if case.control_of is not None), None),
        unshown=list(_unshown(others, verdicts, policy)),
        answers=answers(cases),
    )
    return made, planned


def _figure(case: str, comparison: Comparison) -> tuple[str, str, MetricKind]:
    return case, comparison.metric, "warm" if comparison.metric == "warm.call_s" else "cold"


def _limits(policy: Policy, case: str, comparison: Comparison) -> dict[str, float]:
    """Return the differences from which verdicts fail, none below what matters."""
    limits = policy.limits(*_figure(case, comparison))
    least = limits.threshold if limits.threshold > comparison.threshold else 0.0
    return {name: max(limit, least) for name, limit in limits.fail_on.items()}


def _control(case: CaseResult) -> BenchControl:
    return BenchControl(
        candidate=case.candidate,
        of=case.control_of or "",
        comparisons=case.comparisons,
        differing=[one.metric for one in case.comparisons if one.verdict in {"faster", "slower"}],
    )


def _unshown(
    cases: Sequence[CaseResult], verdicts: Sequence[BenchVerdict], policy: Policy
) -> Iterator[UnshownLimit]:
    by_name = {case.case: case for case in cases} | {case.candidate: case for case in cases}
    for one in verdicts:
        comparison = one.comparison
        if one.fails_beyond is not None and comparison.verdict != "undecided":
            continue
        limits = _limits(policy, by_name[one.candidate].case, comparison)
        sides = [by_name[one.candidate], by_name[comparison.baseline]]
        mode = _mode(comparison.metric, sides[0].protocol.cache_modes)
        seen = [counted(side.observations, mode) for side in sides]
        costs_s = [statistics.mean(o.wall_s for o in side) for side in seen if side]
        n = min(map(len, seen))
        found = unshown(one.candidate, comparison, limits, n, round_s=sum(costs_s))
        if found is not None:
            yield found


def _mode(metric: str, modes: Sequence[CacheMode]) -> CacheMode:
    return next((mode for mode in modes if metric.startswith(f"{mode}.")), WARM)


def _counts(cases: Sequence[CaseResult], guarded: Mapping[str, CountLimit]) -> list[CountVerdict]:
    """Hold the counts of every candidate against those of the reference."""
    reference = next((case for case in cases if case.baseline), cases[0])
    return [
        verdict
        for case in cases
        if case is not reference
        for verdict in judge_counts(case.candidate, reference.counts, case.counts, guarded)
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
