"""What the verdicts on a group of candidates come to: who leads each figure. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from coldwarm.contracts.base import WARM
from coldwarm.stats.plan.jobs import Job
from coldwarm.stats.plan.planning import gather, plan
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.plan import BreakEven, Plan
    from coldwarm.contracts.result import CaseResult
    from coldwarm.contracts.summary import Comparison

MODES_OF_A_PLAN = {"cold_process_cold_cache", "cold_process_warm_cache", WARM}
"""What has to be known before anything can pay off."""
FEWEST_OF_A_PLAN = 2


@dataclass(frozen=True)
class Judged:
    """A candidate and its verdict against the baseline."""

    candidate: str
    comparison: Comparison


@dataclass(frozen=True)
class Lead:
    """What the verdicts on one figure say, the fastest candidate first in each part.

    ``fastest`` is the candidate whose figure is told apart from those of all others, the baseline
    among them; ``None``: the data cannot tell.
    """

    mode: CacheMode
    baseline: str
    fastest: str | None
    faster: tuple[Judged, ...]
    same: tuple[Judged, ...]
    slower: tuple[Judged, ...]
    undecided: tuple[Judged, ...]


def leads(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> tuple[Lead, ...]:
    """Return for each mode what the verdicts of a group's cases say; nothing where none was given.

    The warm call comes first.
    """
    ordered = sorted(modes, key=lambda mode: mode != WARM)
    found = (_lead(cases, mode) for mode in ordered)
    return tuple(one for one in found if one is not None)


def metric(case: CaseResult, mode: CacheMode) -> str:
    """Name the metric that stands for a mode: of a scenario, that of its whole loop."""
    if mode == WARM:
        return "warm.call_s"
    return f"{mode}.{'total_s' if case.scenario else 'ttfr_s'}"


def _lead(cases: Sequence[CaseResult], mode: CacheMode) -> Lead | None:
    judged = [
        Judged(case.candidate, comparison)
        for case in cases
        for comparison in case.comparisons
        if comparison.metric == metric(case, mode)
    ]
    names = {case.case: case.candidate for case in cases}
    baselines = {one.comparison.baseline for one in judged}
    if len(baselines) != 1:  # none, or each has its own
        return None
    judged.sort(key=lambda one: one.comparison.ratio or 1.0)
    only = baselines.pop()
    baseline = names.get(only, only)
    return Lead(
        mode=mode,
        baseline=baseline,
        fastest=_fastest(judged, baseline),
        faster=_of(judged, "faster"),
        same=_of(judged, "same"),
        slower=_of(judged, "slower"),
        undecided=_of(judged, "undecided"),
    )


def _of(
    judged: Sequence[Judged], verdict: Literal["faster", "slower", "same", "undecided"]
) -> tuple[Judged, ...]:
    return tuple(one for one in judged if one.comparison.verdict == verdict)


def _fastest(judged: Sequence[Judged], baseline: str) -> str | None:
    """Return who is told apart from all others: by the verdict, and by bounds that do not meet."""
    if all(one.comparison.verdict == "slower" for one in judged):
        return baseline
    first, *others = judged
    high = first.comparison.high
    if first.comparison.verdict != "faster" or high is None:
        return None
    return first.candidate if all(_above(one.comparison, high) for one in others) else None


def _above(comparison: Comparison, bound: float) -> bool:
    """Say whether a candidate's ratio lies above a bound, as far as its own bounds are worth it."""
    told = comparison.verdict != "undecided" or comparison.confidence >= CONFIDENCE
    if comparison.verdict in {"same", "slower"} and comparison.low is None:
        return True
    return told and comparison.low is not None and comparison.low > bound


def payoffs(cases: Sequence[CaseResult]) -> tuple[BreakEven, ...]:
    """Return from how many calls a process pays off what is faster warm and dearer to start.

    Of processes that start with empty and with filled caches, against the baseline; nothing where
    one of the three figures was not asked for.
    """
    asked = set(cases[0].protocol.cache_modes) if cases else set()
    if len(cases) < FEWEST_OF_A_PLAN or not asked >= MODES_OF_A_PLAN or cases[0].scenario:
        return ()
    planned = plan(gather(cases[0].workload, cases), Job(1, 1, 1, "cold"))
    return paying_off(planned, leads(cases, (WARM,)))


def paying_off(planned: Plan, warm: Sequence[Lead]) -> tuple[BreakEven, ...]:
    """Return of a plan's break-evens what is to be told of those that are faster warm."""
    faster = {one.candidate for lead in warm if lead.mode == WARM for one in lead.faster}
    return tuple(
        one
        for one in planned.break_even
        if one.baseline == planned.baseline
        and one.candidate in faster
        and one.reading in {"process", "cached"}
        and one.verdict in {"from", "at_once", "undecided"}
    )
