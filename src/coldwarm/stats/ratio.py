"""Comparing two candidates that were measured in the same interleaved rounds.

The figure is the ratio of their medians, each the median of its processes' medians; of warm calls
it is the median ratio of blocks that ran next to each other (``compare_pairs``). Processes
of the same round ran next to each other, so rounds are kept together: what the machine did in
a round falls on both. With few rounds the range of their own ratios is
extended; with more, rounds and then samples are resampled jointly (see ``bootstrap``). Without
common rounds the two intervals are joined (Donner and Zou, "Closed-form confidence intervals
for functions of the normal mean and standard deviation", 2012: recovered variances).

A verdict is worth less than its false alarms cost. Intervals of ratios therefore hold with 97 %,
so that two measurements of the same program are called different in fewer than 3 of 100 trials
even where the scatter is much larger than the threshold. All is done on logarithms: exchanging the
two candidates inverts every figure and mirrors the verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from coldwarm.contracts.reasons import because
from coldwarm.contracts.summary import Comparison
from coldwarm.stats.bootstrap import (
    FEWEST_FOR_INTERVAL,
    RESAMPLES,
    apart,
    bounds,
    by_range,
    centre,
    common_rounds,
    extended_range,
    group_medians,
    resampled_medians,
    tails,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.reasons import Reason

    Rounds = Mapping[str, Sequence[float]]
    Groups = Sequence[Sequence[float]]

CONFIDENCE = 0.97
THRESHOLD = 0.02
LARGEST_EXPONENT = 700.0

Verdict = Literal["faster", "slower", "same", "undecided"]
_PLACES: dict[Verdict, str] = {
    "faster": "interval_outside",
    "slower": "interval_outside",
    "same": "interval_inside",
    "undecided": "interval_across",
}
"""Where the interval lies, seen from the threshold: the reason of each verdict."""


@dataclass(frozen=True)
class LogRatio:
    """The logarithm of a ratio of medians, its bounds, and from what they were found."""

    middle: float
    low: float
    high: float
    basis: Reason
    confidence: float = CONFIDENCE


def compare(  # noqa: PLR0913 - two sides and two choices, each by name
    metric: str,
    baseline: str,
    ours: Rounds,
    theirs: Rounds,
    *,
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare a candidate (``ours``) with its baseline (``theirs``).

    Both map a round to the samples of the process that ran in it, in one unit. ``threshold``
    is the relative difference that matters: 0.02 makes everything from 1/1.02 to 1.02 the same.
    """
    reason = fault({"case": ours, "baseline": theirs})
    if reason is None:
        ratio = log_ratio(ours, theirs, confidence=confidence)
        return _judged(metric, baseline, ratio, threshold)
    return Comparison(
        metric=metric,
        baseline=baseline,
        ratio=None,
        low=None,
        high=None,
        threshold=threshold,
        smallest_detectable=None,
        verdict="undecided",
        reason=reason,
    )


def compare_pairs(
    metric: str,
    baseline: str,
    pairs: Mapping[str, Sequence[float]],
    *,
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare a candidate with its baseline by log-ratios of what ran next to each other.

    ``pairs`` maps two rounds or more to the log-ratios of a round (see ``blocks``). A round's
    figure is the median of its pairs, and the ratio is the median of the rounds.
    """
    groups = list(pairs.values())
    middle = centre(groups)
    flipped = [[-value for value in group] for group in groups]
    # Resampling is not symmetric to the last digit: a fixed sign makes the exchange exact.
    if sorted(map(sorted, groups)) < sorted(map(sorted, flipped)):
        high, low = (-bound for bound in bounds(flipped, confidence=confidence))
    else:
        low, high = bounds(groups, confidence=confidence)
    basis = because("block_pairs", n_pairs=sum(map(len, groups)), n_rounds=len(groups))
    return _judged(metric, baseline, LogRatio(middle, low, high, basis, confidence), threshold)


def _judged(metric: str, baseline: str, ratio: LogRatio, threshold: float) -> Comparison:
    band = math.log1p(threshold)
    verdict = _verdict(ratio, band)
    reach = max(ratio.high - ratio.middle, ratio.middle - ratio.low) + band
    detectable = math.expm1(min(reach, LARGEST_EXPONENT))
    return Comparison(
        metric=metric,
        baseline=baseline,
        ratio=_exp(ratio.middle),
        low=_exp(ratio.low),
        high=_exp(ratio.high),
        threshold=threshold,
        smallest_detectable=detectable,
        verdict=verdict,
        reason=because(_PLACES[verdict], ratio.basis, confidence_share=ratio.confidence),
    )


def log_ratio(ours: Rounds, theirs: Rounds, *, confidence: float = CONFIDENCE) -> LogRatio:
    """Return the logarithm of ours over theirs; at least two rounds each, values above 0.

    Rounds are paired where enough are common (``common_rounds``); the others are then left out.
    """
    common = common_rounds(ours, theirs)
    first = [ours[key] for key in common or ours]
    second = [theirs[key] for key in common or theirs]
    # Resampling draws numbers for one side after the other: a fixed order of the sides makes
    # the exchange of the two exact.
    swap = [sorted(group) for group in first] > [sorted(group) for group in second]
    if swap:
        first, second = second, first
    interval = _paired if common else _unpaired
    low, high = interval(first, second, confidence)
    middle = math.log(centre(first) / centre(second))
    basis = because("separate_processes", n_processes=len(ours), n_baseline=len(theirs))
    if common:
        basis = because("common_rounds", n_rounds=len(common))
    if swap:
        return LogRatio(-middle, -high, -low, basis, confidence)
    return LogRatio(middle, low, high, basis, confidence)


def _paired(first: Groups, second: Groups, confidence: float) -> tuple[float, float]:
    n = len(first)
    if by_range(n, confidence):
        return extended_range(np.log(group_medians(first) / group_medians(second)), confidence)
    rng = np.random.default_rng(0)
    picks = rng.integers(0, n, size=(RESAMPLES, n))
    ratios = _medians(first, picks, rng) / _medians(second, picks, rng)
    low, high = np.quantile(np.log(ratios), tails(n, confidence))
    return float(low), float(high)


def _medians(
    groups: Groups, picks: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    return np.asarray(np.median(resampled_medians(groups, picks, rng), axis=1), dtype=np.float64)


def _unpaired(first: Groups, second: Groups, confidence: float) -> tuple[float, float]:
    ours = [np.log(np.asarray(group)).tolist() for group in first]
    theirs = [np.log(np.asarray(group)).tolist() for group in second]
    return apart(ours, theirs, confidence)


def fault(sides: Mapping[str, Rounds]) -> Reason | None:
    """Say why the two sides, by their names, cannot be compared, or ``None``."""
    for label, side in sides.items():
        if len(side) < FEWEST_FOR_INTERVAL:
            needed = FEWEST_FOR_INTERVAL
            return because("few_processes_of", side=label, n_processes=len(side), n_needed=needed)
        if any(len(group) == 0 or min(group) <= 0 for group in side.values()):
            return because("not_positive", side=label)
    return None


def _verdict(ratio: LogRatio, band: float) -> Verdict:
    if ratio.high < -band:
        return "faster"
    if ratio.low > band:
        return "slower"
    if ratio.low >= -band and ratio.high <= band:
        return "same"
    return "undecided"


def _exp(value: float) -> float:
    return math.exp(max(-LARGEST_EXPONENT, min(value, LARGEST_EXPONENT)))


def beyond(comparison: Comparison, limit: float | None) -> float | None:
    """Return the limit where the whole interval of the ratio lies beyond it, upward or down."""
    if limit is None or comparison.low is None or comparison.high is None:
        return None
    change = comparison.low if comparison.low > 1 else 1 / comparison.high
    return limit if change > 1 + limit else None
