"""What the verdicts on a group of candidates come to: who leads each figure. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.answer import Judged, Lead
from coldwarm.contracts.base import WARM
from coldwarm.stats.cautions import held_back

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult


def leads(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> list[Lead]:
    """Return for each mode what the verdicts of a group's cases say; nothing where none was given.

    The warm call comes first.
    """
    ordered = sorted(modes, key=lambda mode: mode != WARM)
    found = (_lead(cases, mode) for mode in ordered)
    return [one for one in found if one is not None]


def metric(case: CaseResult, mode: CacheMode) -> str:
    """Name the metric that stands for a mode: of a scenario, that of its whole loop."""
    if mode == WARM:
        return "warm.call_s"
    return f"{mode}.{'total_s' if case.scenario else 'ttfr_s'}"


def _lead(cases: Sequence[CaseResult], mode: CacheMode) -> Lead | None:
    found = [
        (case.candidate, comparison)
        for case in cases
        for comparison in case.comparisons
        if comparison.metric == metric(case, mode)
    ]
    names = {case.case: case.candidate for case in cases}
    baselines = {one.baseline for _, one in found}
    if len(baselines) != 1:  # none, or each has its own
        return None
    found.sort(key=lambda pair: pair[1].ratio or 1.0)
    only = baselines.pop()
    baseline = names.get(only, only)
    compared = {candidate for candidate, _ in found} | {baseline}
    why = {case.candidate: held_back(case) for case in cases if case.candidate in compared}
    held = {candidate: reason for candidate, reason in why.items() if reason is not None}
    told = [] if baseline in held else [pair for pair in found if pair[0] not in held]
    return Lead(
        mode=mode,
        baseline=baseline,
        fastest=_fastest(told, baseline) if told else None,
        judged=[_judged(candidate, one) for candidate, one in told],
        held_back=held,
    )


def _judged(candidate: str, one: Comparison) -> Judged:
    return Judged(
        candidate=candidate,
        verdict=one.verdict,
        ratio=one.ratio,
        low=one.low,
        high=one.high,
        confidence=one.confidence,
        threshold=one.threshold,
        reason=one.reason,
    )


def _fastest(found: Sequence[tuple[str, Comparison]], baseline: str) -> str | None:
    """Return who is told apart from all others: by the verdict, and by bounds that do not meet."""
    if all(one.verdict == "slower" for _, one in found):
        return baseline
    (first, comparison), *others = found
    high = comparison.high
    if comparison.verdict != "faster" or high is None:
        return None
    return first if all(_above(one, high) for _, one in others) else None


def _above(comparison: Comparison, bound: float) -> bool:
    """Say whether a candidate's ratio lies above a bound.

    What is undecided has bounds that are worth as much only where a difference could be shown.
    """
    told = comparison.verdict != "undecided" or comparison.smallest_detectable is not None
    return told and comparison.low is not None and comparison.low > bound
