"""Headline figures of a case in every view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.report import units
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.answer import Comparison, Judged, Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, ColdSummary


def group_name(case: CaseResult) -> str:
    """Name the workload, size and dtype of a case."""
    if case.protocol.own is not None:
        return case.workload
    return f"{case.workload} · {case.size} · {case.dtype}"


def cold_summary(case: CaseResult, mode: CacheMode) -> ColdSummary | None:
    """Return the summary of a cold mode."""
    return next((summary for summary in case.cold if summary.cache_mode == mode), None)


def held_against(cases: Iterable[CaseResult]) -> str:
    """Say how outputs were checked: against a reference, or as a user's functions were."""
    own = [case.protocol.own for case in cases]
    told = [one.checked if one else "against a float64 reference" for one in own]
    return "; ".join(dict.fromkeys(filter(None, told)))


def cold_figure(case: CaseResult) -> str:
    """Name the figure that stands for a cold mode: of a scenario, that of its whole loop."""
    return "total" if case.scenario else "ttfr"


def headline(case: CaseResult, mode: CacheMode) -> Summary | None:
    """Return the figure that stands for a mode: time to the first result, or a warm call."""
    if mode == WARM:
        return case.warm.call_s if case.warm else None
    cold = cold_summary(case, mode)
    return cold.seconds.get(cold_figure(case)) if cold else None


def around(seconds: Summary) -> str:
    """Write the interval of a median, or the range of so few that there is none; else nothing."""
    if seconds.low is None or seconds.high is None:
        return ""
    if seconds.n_processes < FEWEST_FOR_CONFIDENCE:
        return f"{units.between(seconds.low, seconds.high)}, all {seconds.n_processes}"
    ends = units.duration(seconds.low, to="down"), units.duration(seconds.high, to="up")
    return " … ".join(ends)


def reached(case: CaseResult, mode: CacheMode) -> float | None:
    """Return the relative half-width of the interval of a mode's headline figure."""
    holder = case.warm if mode == WARM else cold_summary(case, mode)
    return holder.precision_reached if holder else None


def comparison(case: CaseResult, mode: CacheMode) -> Comparison | None:
    """Return the comparison of a mode's headline figure."""
    wanted = "warm.call_s" if mode == WARM else f"{mode}.{cold_figure(case)}_s"
    return next((c for c in case.comparisons if c.metric == wanted), None)


def peak_memory(case: CaseResult) -> Summary | None:
    """Return the peak memory of the first cold mode that has one, empty caches before others."""
    cold = sorted(case.cold, key=lambda summary: summary.cache_mode != "cold_process_cold_cache")
    return next((s.peak_rss_bytes for s in cold if s.peak_rss_bytes is not None), None)


def ratio(comparison: Comparison | Judged) -> str:
    """Write a verdict as the bounds of its ratio, or as the word."""
    verdict = comparison.verdict
    if verdict in {"faster", "slower"} and comparison.low and comparison.high:
        return units.factor(comparison.low, comparison.high, verdict)
    return verdict


def n_few(reason: Reason) -> int | None:
    """Return the number of rounds where they are too few for a verdict; ``None``: they are not."""
    found = [reason, *reason.parts]
    if not {"few_for_verdict", "few_processes_of", "few_processes"} & {one.code for one in found}:
        return None
    parts = [part for one in found for part in (one, *one.parts)]
    numbers = (one.values.get("n_rounds", one.values.get("n_processes")) for one in parts)
    return next((one for one in numbers if isinstance(one, int)), None)


def seen(comparison: Comparison | Judged) -> str:
    """Write all that was seen of a ratio on one side of 1, ``1.2–1.4× faster``; else nothing."""
    low, high = comparison.low, comparison.high
    if low and high and (low > 1 or high < 1):
        return units.factor(low, high, "slower" if low > 1 else "faster")
    return ""


def bounds(comparison: Comparison | Judged) -> str:
    """Write the bounds of a ratio whose verdict is none of a direction, ``0.92–1.4×``."""
    if not comparison.low or not comparison.high:
        return ""
    return f"{units.interval(comparison.low, comparison.high)}×"
