"""Which judged differences fail, and which limits could not have been shown. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.comparison import UnshownLimit
from coldwarm.contracts.reasons import because
from coldwarm.stats import precision
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, FEWEST_FOR_INTERVAL
from coldwarm.stats.ratio import CONFIDENCE, LARGEST_EXPONENT, beyond

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.answer import Comparison

_MOST_ROUNDS = 10_000
_WITHHELD = "control_differs"


def fails(comparison: Comparison, verdict: str, limits: Mapping[str, float]) -> float | None:
    """Return the limit that a verdict lies beyond, or ``None``.

    ``verdict`` is the comparison's own, or of memory its other name. One that is undecided fails
    where a difference of more than its limit cannot be excluded.
    """
    limit = limits.get(verdict)
    if verdict != "undecided" or limit is None:
        return beyond(comparison, limit)
    low, high, confidence = comparison.low, comparison.high, comparison.confidence
    if low is None or high is None or confidence < CONFIDENCE:
        return limit
    excluded = 1 / (1 + limit) <= low and high <= 1 + limit
    return None if excluded and comparison.reason.code != _WITHHELD else limit


def surely_below(comparison: Comparison, limits: Mapping[str, float]) -> float | None:
    """Return the limit of ``slower`` where the whole interval of the ratio lies below it."""
    limit = limits.get("slower")
    known = comparison.confidence >= CONFIDENCE and comparison.reason.code != _WITHHELD
    if limit is None or comparison.high is None or not known:
        return None
    return limit if comparison.high <= 1 + limit else None


class Asked(NamedTuple):
    """What differences a figure was asked to show, and what that costs."""

    limits: Mapping[str, float]
    """By verdict."""
    noise_share: float = 0.0
    """By how much two equal runs differ, where these are compared; no more processes help."""
    round_s: float | None = None
    """What one more round takes, or one more process of either side, in seconds."""


def unshown(case: str, comparison: Comparison, asked: Asked, n: int) -> UnshownLimit | None:
    """Return the strictest limit that this comparison could not have shown, or ``None``.

    A limit can be shown where the interval reaches less far than it to either side: then what is
    equal is within it, and what is twice as far is beyond. A limit below the threshold asks for
    the threshold. ``n`` rounds, or processes of either side, are behind it.
    """
    shares = [share for name, share in asked.limits.items() if name != "undecided"]
    if not shares or comparison.reason.code == _WITHHELD:
        return None
    limit = max(min(shares), comparison.threshold)
    if asked.noise_share > (wanted := min(shares)) > 0:
        return UnshownLimit(
            case=case,
            metric=comparison.metric,
            limit=wanted,
            half_width=asked.noise_share,
            n_further=0,
            further_s=None,
            null_reasons={"further_s": because("between_runs", noise_share=asked.noise_share)},
        )
    reach = _reach(comparison)
    few = n < FEWEST_FOR_CONFIDENCE
    if not few and reach is not None and reach <= math.log1p(limit):
        return None
    further = max(FEWEST_FOR_CONFIDENCE, _rounds_for(reach, n, math.log1p(limit))) - n
    return UnshownLimit(
        case=case,
        metric=comparison.metric,
        limit=limit,
        half_width=None if few or reach is None else _share(reach),
        n_further=further,
        further_s=None if asked.round_s is None else further * asked.round_s,
        null_reasons=_reasons(n, few=few, timed=asked.round_s is not None),
    )


def _reasons(n: int, *, few: bool, timed: bool) -> dict[str, Any]:
    reasons = {}
    if few:
        needed = FEWEST_FOR_CONFIDENCE
        reasons["half_width"] = because("few_processes", n_processes=n, n_needed=needed)
    if not timed:
        reasons["further_s"] = because("not_recorded")
    return reasons


def _reach(comparison: Comparison) -> float | None:
    """Return how far the interval reaches from its middle, as a logarithm."""
    if comparison.low is None or comparison.high is None:
        return None
    return (math.log(comparison.high) - math.log(comparison.low)) / 2


def _share(reach: float) -> float:
    return math.expm1(min(reach, LARGEST_EXPONENT))


def _rounds_for(reach: float | None, n: int, wanted: float) -> int:
    """Return the rounds after which the interval is expected to reach no further than wanted."""
    if reach is None or n < FEWEST_FOR_INTERVAL:
        return FEWEST_FOR_CONFIDENCE
    few = n < FEWEST_FOR_CONFIDENCE  # of few, the bounds are the range
    expected = precision.expected_half_width if few else precision.expected_of_pairs
    now = expected(n, CONFIDENCE)
    scatter = reach / now
    return next(
        (
            k
            for k in range(n + 1, _MOST_ROUNDS)
            if scatter * precision.expected_of_pairs(k, CONFIDENCE) <= wanted
        ),
        _MOST_ROUNDS,
    )
