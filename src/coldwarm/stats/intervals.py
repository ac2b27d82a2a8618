"""Intervals when the process is the unit of replication, and distributions in few numbers. Pure.

*One side.* The figure of a case is the median of its processes' medians: every process weighs
the same, however many samples it gave. It is bounded by two of the values in their order,
interpolated to the confidence asked for (Hettmansperger and Sheather, "Confidence intervals based
on interpolated order statistics", 1986): nothing is assumed of how processes scatter, but that one
does not depend on the next (``ratio`` looks for that). Fewer values hold the median between
them with a chance of 1 - 2^(1-n): 50 % for two, 75 % for three, 87.5 % for four, 93.75 % for five.
Their range is then stated as what it is, with that confidence; where a surer one has to be had,
the range is extended (``_extension``), so that no bound of finite values is infinite.

*Two sides in common rounds.* What the machine does in a round falls on both, so each round gives
one log-ratio, and their median is bounded in the same way, at any number of rounds and at any
confidence. A further round that shows as much as the middle one of those before, and no more than
the largest, never takes back what was told. Means with their errors, or signed ranks, do not have
this: one round that is far on the same side widens the first, and the second cannot be surer than
1 - 2^(1-n).

*Precision.* No percentile is given from fewer values than it needs. From the scatter so far follows
how many more processes the precision asked for is expected to need.

``benchmarks/coverage.py`` simulates both, for noise of many kinds, and
``benchmarks/more_rounds.py`` what one more round does; their tables are in the docs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import chain
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.answer import Summary
from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.reasons import Reason

    Floats = NDArray[np.float64]
    Series = Mapping[str, float]


CONFIDENCE = 0.95
FEWEST_FOR_INTERVAL = 2
FEWEST_FOR_CONFIDENCE = 5
"""Processes below which a figure is told by its range and their number, and no verdict is given."""


@dataclass(frozen=True)
class _Interval:
    """Bounds of a median, in the unit of the values they came from, and how surely they hold it.

    ``low`` and ``high`` are ``None`` where ``reason`` says why there are none.
    """

    low: float | None
    high: float | None
    confidence: float = CONFIDENCE
    reason: Reason | None = None


@dataclass(frozen=True)
class Interval:
    """A figure and its bounds, which are infinite where too few values give any."""

    middle: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float] | tuple[None, None]:
        """The two bounds; ``None`` where there are none."""
        known = math.isfinite(self.low) and math.isfinite(self.high)
        return (self.low, self.high) if known else (None, None)

    @property
    def not_negative(self) -> Interval:
        """The same of what cannot be below 0."""
        return Interval(self.middle, max(0.0, self.low), self.high)


def common_rounds(ours: Mapping[str, object], theirs: Mapping[str, object]) -> list[str]:
    """Return the rounds by which two sides are paired; none where they are not.

    As many must be common as a verdict needs, or half of the rounds of the side that has fewer: so
    a candidate stays paired with its baseline where either went on without the other.
    """
    common = [key for key in ours if key in theirs]
    return common if len(common) >= fewest_common(len(ours), len(theirs)) else []


def fewest_common(ours: int, theirs: int) -> float:
    """Return how many rounds two sides of so many must have in common to be paired."""
    return max(FEWEST_FOR_INTERVAL, min(FEWEST_FOR_CONFIDENCE, min(ours, theirs) / 2))


def centre(groups: Sequence[Sequence[float]]) -> float:
    """Return the median of the groups' medians.

    Raises:
        ValueError: there is no group, or an empty one.
    """
    return float(np.median(group_medians(groups)))


def group_medians(groups: Sequence[Sequence[float]]) -> Floats:
    """Return the median of each group.

    Raises:
        ValueError: there is no group, or an empty one.
    """
    if not groups or any(len(group) == 0 for group in groups):
        message = "a median needs at least one value in every group; drop empty groups first"
        raise ValueError(message)
    if all(len(group) == 1 for group in groups):
        return np.array([group[0] for group in groups], dtype=np.float64)
    return np.array([np.median(group) for group in groups], dtype=np.float64)


def median_interval(values: Sequence[float], *, confidence: float = CONFIDENCE) -> _Interval:
    """Bound the median by two of the values or more, one of each process; none is negative.

    Fewer than ``FEWEST_FOR_CONFIDENCE`` give their range, and the confidence that it has.
    """
    n = len(values)
    if n < FEWEST_FOR_INTERVAL:
        reason = because("few_processes", n_processes=n, n_needed=FEWEST_FOR_INTERVAL)
        return _Interval(None, None, reason=reason)
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    depth, _ = _depth(n, confidence)
    if depth == 0:
        return _Interval(float(ordered[0]), float(ordered[-1]), confidence=range_confidence(n))
    low, high = _between_ranks(ordered, confidence)
    return _Interval(float(low), float(high), confidence=confidence)


def range_confidence(n: int) -> float:
    """Return the chance that the range of ``n`` independent values holds their median."""
    return 1.0 - 2.0 ** (1 - n)


def by_range(n: int, confidence: float) -> bool:
    """Say whether the range of ``n`` values holds the median with less than this confidence."""
    return range_confidence(n) < confidence


def _extension(n: int, confidence: float) -> float:
    """How far the range of ``n`` values is extended on each side, in widths of the range.

    All n values fall on one side of the median with chance 2^(1-n). For values spread evenly on
    that side, the gap to the median then exceeds c ranges with chance (1 + c)^(1-n); the
    product is set to 1 - confidence and solved for c.
    """
    return max(0.0, 0.5 * math.pow(1.0 - confidence, -1.0 / (n - 1)) - 1.0)


@cache
def _depth(n: int, confidence: float) -> tuple[int, float]:
    """Return which values from either end bound the median, and how surely; 0: none do.

    Values number d and n + 1 - d in their order hold the median with 1 - 2 P(B < d), where B
    is binomial with n and one half.
    """
    outside, depth, held = 0.0, 0, 0.0
    while True:
        outside += math.comb(n, depth) / 2**n
        if 1.0 - 2.0 * outside < confidence:
            return depth, held
        depth, held = depth + 1, 1.0 - 2.0 * outside


def _between_ranks(ordered: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the bounds of each row of ordered values that are as sure as that by themselves."""
    n = ordered.shape[-1]
    depth, held = _depth(n, confidence)
    further = held - 2 * math.comb(n, depth) / 2**n
    share = (held - confidence) / (held - further)
    weight = (n - depth) * share / (depth + (n - 2 * depth) * share)
    outer, inner = ordered[..., depth - 1], ordered[..., depth]
    low = outer + weight * (inner - outer)
    outer, inner = ordered[..., n - depth], ordered[..., n - depth - 1]
    return low, outer + weight * (inner - outer)


def paired(values: Sequence[float], confidence: float) -> Interval:
    """Bound the median of values, such as differences of rounds, at a confidence.

    Exchanging the sides changes only the sign. A single value has no bounds.
    """
    if len(values) < FEWEST_FOR_INTERVAL:
        return Interval(median_of(values), -math.inf, math.inf)
    found = paired_rows(np.asarray(values, dtype=np.float64), confidence)
    return Interval(*(float(one) for one in found))


def paired_rows(values: Floats, confidence: float) -> tuple[Floats, Floats, Floats]:
    """Return the median of each row of differences and its bounds, as ``paired`` does of one."""
    ordered = np.sort(values, axis=-1)
    n = ordered.shape[-1]
    middle = np.asarray(np.median(ordered, axis=-1))
    if by_range(n, confidence):
        margin = _extension(n, confidence) * (ordered[..., -1] - ordered[..., 0])
        return middle, ordered[..., 0] - margin, ordered[..., -1] + margin
    return middle, *_between_ranks(ordered, confidence)


def apart(ours: Sequence[float], theirs: Sequence[float], confidence: float) -> Interval:
    """Bound how much the median of ours exceeds that of theirs, which share no rounds."""
    return joined(paired(ours, confidence), paired(theirs, confidence))


def joined(first: Interval, second: Interval) -> Interval:
    """Bound how much the first figure exceeds the second one, from both (recovered variances)."""
    down = math.hypot(first.middle - first.low, second.high - second.middle)
    up = math.hypot(first.high - first.middle, second.middle - second.low)
    middle = first.middle - second.middle
    return Interval(middle, middle - down, middle + up)


_HALVINGS = 60
"""After which an angle below a right one is known to its last bit."""


@cache
def student(probability: float, freedom: int) -> float:
    """Return a quantile of Student's t, for a probability of a half or more.

    By halving the angle that holds it, of which the probability is a finite sum (Abramowitz and
    Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4).
    """
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _within_angle(middle, freedom) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(high)


def _within_angle(angle: float, freedom: int) -> float:
    """Return the probability that Student's t is within ± sqrt(freedom) * tan(angle)."""
    odd = freedom % 2
    square = math.cos(angle) ** 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for place in range(1 + odd, freedom, 2):
        total += term
        term *= place / (place + 1) * square
    found = math.sin(angle) * total
    return 2 / math.pi * (angle + found) if odd else found


def widened(total: Interval, number: float, middle: float, among: Interval) -> Interval:
    """Return a total that pays a cost so many times, widened to what that is ``among`` others.

    ``middle`` is the cost in the total.
    """
    down = number * max(0.0, middle - among.low)
    up = number * max(0.0, among.high - middle)
    return Interval(total.middle, total.low - down, total.high + up)


def difference(ours: Series, theirs: Series, confidence: float) -> Interval:
    """Return by how much the median of ours exceeds that of theirs, with its interval.

    Processes of the same round ran next to each other: they are paired where enough rounds are
    common (``common_rounds``), and the others are then left out. Exchanging the two sides only
    changes the sign.
    """
    common = common_rounds(ours, theirs)
    if common:
        return paired([ours[key] - theirs[key] for key in common], confidence)
    return apart(list(ours.values()), list(theirs.values()), confidence)


def median_of(values: Sequence[float]) -> float:
    """Return the median of one value or more."""
    return float(np.median(np.asarray(values)))


_P95 = 0.95


def _values_needed(q: float) -> int:
    """Return how many values the quantile ``q`` (0..1) needs: one beyond it on average.

    Twenty for the 95th and for the 5th percentile, a hundred for the 99th, two for the median.
    """
    # Rounded first, since 1 / (1 - 0.95) is a little more than twenty in binary.
    return math.ceil(round(1 / min(q, 1 - q), 6))


def _quantile(values: Sequence[float], q: float) -> tuple[float | None, Reason | None]:
    """Return a quantile (0 < q < 1, linear between values), or ``None`` and the reason why."""
    needed = _values_needed(q)
    if len(values) < needed:
        return None, because("few_values", n_values=len(values), n_needed=needed)
    return float(np.quantile(np.asarray(values, dtype=np.float64), q)), None


def summary(groups: Sequence[Sequence[float]]) -> Summary:
    """Summarise the samples of one process or more, in the unit they have.

    The median is that of the processes' medians. Minimum, maximum and the 95th percentile
    are taken over all samples together.

    Raises:
        ValueError: there is no group, or an empty one.
    """
    interval = median_interval(group_medians(groups).tolist())
    samples = list(chain.from_iterable(groups))
    p95, p95_reason = _quantile(samples, _P95)
    reasons = {"p95": p95_reason} if p95_reason else {}
    if interval.reason:
        reasons |= {"low": interval.reason, "high": interval.reason}
    return Summary(
        n_processes=len(groups),
        n_samples=len(samples),
        median=centre(groups),
        minimum=float(min(samples)),
        maximum=float(max(samples)),
        low=interval.low,
        high=interval.high,
        confidence=interval.confidence,
        p95=p95,
        null_reasons=reasons,
    )


MEDIAN_ERROR = 1.2533
"""Standard error of a median over that of a mean, for normal values."""
_BY_ORDER = 30
"""Numbers up to which bounds are expected at their places in the order; beyond, as of a mean."""


@dataclass(frozen=True)
class _Precision:
    """Whether to go on measuring.

    ``reached`` is the relative half-width of the interval of the median (0.02 is 2 %), or
    ``None`` where there is no interval yet; ``more`` how many more processes are expected to
    be needed, 0 where the precision is met or no more are allowed.
    """

    reached: float | None
    met: bool
    more: int


def precision_of(summary: Summary) -> float | None:
    """Return the relative half-width of an interval; ``None``: too few have only a range."""
    few = summary.n_processes < FEWEST_FOR_CONFIDENCE
    if few or summary.low is None or summary.high is None or summary.median == 0:
        return None
    return (summary.high - summary.low) / (2 * summary.median)


def assess(values: Sequence[float], *, target: float, fewest: int, most: int) -> _Precision:
    """Judge the figures so far, one of each process, in seconds or any other unit.

    ``target`` is the relative half-width asked for; ``fewest`` and ``most`` bound the processes.
    The number that is needed is an expectation from the scatter so far, to plan with; whether
    the precision is met is always judged from the interval itself.
    """
    n = len(values)
    middle = float(np.median(values)) if n else 0.0
    reached = None
    if n >= FEWEST_FOR_CONFIDENCE and middle > 0:
        interval = median_interval(values)
        if interval.low is not None and interval.high is not None:
            reached = (interval.high - interval.low) / (2 * middle)
    if n < fewest:
        return _Precision(reached, met=False, more=fewest - n)
    if reached is not None and reached <= target:
        return _Precision(reached, met=True, more=0)
    if n >= most:
        return _Precision(reached, met=False, more=0)
    enough = _processes_needed(values, target, most)
    return _Precision(reached, met=False, more=max(1, enough - n))


def _processes_needed(values: Sequence[float], target: float, most: int) -> int:
    """Return the smallest number expected to reach the target, at most ``most``."""
    if len(values) < FEWEST_FOR_INTERVAL:
        return min(FEWEST_FOR_CONFIDENCE, most)
    scatter = float(np.std(values, ddof=1) / np.median(values))
    numbers = range(max(len(values) + 1, FEWEST_FOR_CONFIDENCE), most)
    return next((n for n in numbers if expected_half_width(n) * scatter <= target), most)


def expected_half_width(n: int, confidence: float = CONFIDENCE) -> float:
    """Return the half-width to expect of a median of n >= 2 processes, in standard deviations.

    Where the range is not as sure as that, it is the range's.
    """
    return _scores(n)[-1] if by_range(n, confidence) else expected_of_pairs(n, confidence)


@cache
def expected_of_pairs(n: int, confidence: float) -> float:
    """Return that of the median of n >= 2 rounds of pairs, in their standard deviations."""
    if n > _BY_ORDER and not by_range(n, confidence):
        return MEDIAN_ERROR * NormalDist().inv_cdf(0.5 + confidence / 2) / math.sqrt(n)
    return paired(_scores(n), confidence).high


def _scores(n: int) -> list[float]:
    """Return where n normal values are expected in their order (Blom, 1958)."""
    return [NormalDist().inv_cdf((place - 0.375) / (n + 0.25)) for place in range(1, n + 1)]
