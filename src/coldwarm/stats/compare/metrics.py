"""Judging one result against another, metric by metric.

The two were measured at different times and share no rounds, so their processes are never paired
(see ``compare``). Nothing is measured or summarised anew: the observations are those stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import WARM
from coldwarm.contracts.comparison import ComparedMetric
from coldwarm.stats.intervals import centre
from coldwarm.stats.ratio import CONFIDENCE, beyond, compare, fault
from coldwarm.stats.selection import by_round, counted, warm_processes
from coldwarm.stats.steady.case import steady_state
from coldwarm.stats.summarise import weakened

if TYPE_CHECKING:
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.comparison import ComparedVerdict, MetricKind
    from coldwarm.contracts.policy import FigureLimits, Policy
    from coldwarm.contracts.result import CaseResult, SteadyState

    Values = dict[str, list[float]]

_OF_MEMORY: dict[ComparedVerdict, ComparedVerdict] = {"faster": "less", "slower": "more"}


class Side(NamedTuple):
    """What one result has for a metric."""

    values: Values
    """By process, in seconds or bytes."""
    steady: SteadyState | None = None
    """Of a warm metric: whether the calls were steady."""


_NONE = Side({})


def metrics(case: CaseResult) -> dict[tuple[str, MetricKind], Side]:
    """Return what a case measured: names and kinds of its metrics, and their values."""
    sides: dict[tuple[str, MetricKind], Side] = {}
    for mode in case.protocol.cache_modes:
        sides |= _warm(case) if mode == WARM else _cold(case, mode)
    return {key: side for key, side in sides.items() if side.values}


def _cold(case: CaseResult, mode: CacheMode) -> dict[tuple[str, MetricKind], Side]:
    valid = counted(case.observations, mode)
    first = by_round((o, [o.ttfr_s]) for o in valid if o.ttfr_s is not None)
    whole = by_round((o, [o.ttfr_process_s]) for o in valid if o.ttfr_process_s is not None)
    loops = by_round((o, [o.loop.total_s]) for o in valid if o.loop is not None)
    peaks = by_round((o, [float(peak)]) for o in valid if (peak := o.peak_rss_bytes) is not None)
    return {
        (f"{mode}.ttfr_s", "cold"): Side(first),
        (f"{mode}.ttfr_process_s", "cold"): Side(whole),
        (f"{mode}.total_s", "cold"): Side(loops),
        (f"{mode}.peak_rss_bytes", "memory"): Side(peaks),
    }


def _warm(case: CaseResult) -> dict[tuple[str, MetricKind], Side]:
    processes = warm_processes(case.observations)
    values = by_round((p.observation, p.steadiness.samples) for p in processes)
    return {("warm.call_s", "warm"): Side(values, steady_state(processes))}


def judge(a: CaseResult, b: CaseResult, policy: Policy) -> list[ComparedMetric]:
    """Judge every metric that either case has; B over A."""
    one, other = metrics(a), metrics(b)
    judged = []
    for key in {**one, **other}:
        sides = one.get(key, _NONE), other.get(key, _NONE)
        judged.append(_judged(a.case, key, sides, policy.limits(a.case, *key)))
    return judged


def _judged(
    case: str, key: tuple[str, MetricKind], sides: tuple[Side, Side], limits: FigureLimits
) -> ComparedMetric:
    metric, kind = key
    a, b = (side.values for side in sides)
    lacking = fault({"A": a, "B": b})
    judged = compare(metric, "A", _apart(b, "B"), _apart(a, "A"), threshold=limits.threshold)
    verdict: ComparedVerdict = judged.verdict
    if kind == "memory":
        verdict = _OF_MEMORY.get(verdict, verdict)
    limit = next((share for name, share in limits.fail_on.items() if name == verdict), None)
    states = [side.steady for side in sides if side.steady is not None]
    return ComparedMetric(
        case=case,
        metric=metric,
        kind=kind,
        unit="bytes" if kind == "memory" else "s",
        a=centre(list(a.values())) if a else None,
        b=centre(list(b.values())) if b else None,
        n_a=len(a),
        n_b=len(b),
        ratio=judged.ratio,
        low=judged.low,
        high=judged.high,
        confidence=CONFIDENCE,
        threshold=limits.threshold,
        smallest_detectable=judged.smallest_detectable,
        verdict=verdict,
        reason=lacking or weakened(judged.reason, *states),
        fails_beyond=beyond(judged, limit),
    )


def _apart(values: Values, side: str) -> Values:
    """Name the rounds so that none of A and B are taken for the same."""
    return {f"{side} {key}": samples for key, samples in values.items()}
