"""Intervals of a median when the process is the unit of replication.

The figure of a case is the *median of its processes' medians*: every process weighs the
same, however many samples it gave. A cold process gives one value, a warm one a series.

Two methods, chosen by the number of processes and the confidence asked for, not by the values:

*Fewer than six: the extended range.* A bootstrap cannot look beyond the values it was
given, and the range of n values holds the median with a chance of only 1 - 2^(1-n): 50 %
for two, 75 % for three, 87.5 % for four, 93.75 % for five. The range is therefore extended
on both sides by ``extension(n, confidence)`` times its own width. For values spread evenly
around their median the result has exactly the confidence asked for, and noise that is denser
near its median than far from it is covered more often (see the table). No honest method can do
without an assumption here: where whole processes fall into separate modes, only the chance of the
bare range is guaranteed, and so few processes cannot show it.

A stricter interval than one of 95 % needs it for longer, because the bare range of six values holds
the median with no more than 96.9 %: one of 97 % up to six processes, one of 99.9 % up to ten.

*Six and more: the hierarchical bootstrap.* Processes are drawn with replacement, then samples
within each drawn process. The percentiles are expanded for the number of processes (Hesterberg,
"What Teachers Should Know About the Bootstrap", 2015), because plain ones are too narrow.

Coverage of the true median by nominal 95 % intervals, in percent, as ``benchmarks/coverage.py``
prints it:

::

                         2     3     4     5     6     7     8    10    20
    cold log-normal   95.8  96.9  96.2  96.3  97.0  98.8  98.1  96.8  95.8
    cold exponential  94.9  95.8  95.7  95.9  97.1  98.5  98.2  96.2  95.0
    cold spikes       95.5  95.8  95.7  96.5  97.0  98.8  97.6  96.7  95.8
    cold Student t3   96.3  98.1  97.4  96.0  97.2  98.7  97.4  95.8  95.7
    cold uniform      94.8  95.0  94.9  93.8  96.8  98.2  98.6  96.0  96.0
    warm log-normal   96.7  96.9  96.2  95.1  98.0  98.5  98.0  97.7  97.5
    warm exponential  96.5  97.8  96.9  94.5  98.4  98.3  97.8  97.5  96.5
    warm spikes       96.5  97.5  96.4  95.3  98.0  98.6  97.5  97.2  97.0
    warm Student t3   97.9  97.4  97.5  95.5  97.4  98.6  97.7  97.4  96.7
    warm uniform      97.0  96.5  96.2  95.0  99.4  99.5  99.5  99.4  98.8

(Columns: processes. 2000 trials, so each figure is good to half a percent. Cold: one value a
process; warm: thirty samples with one-sided noise. The scatter between processes is 3 %. The
number of processes is fixed in advance. Who stops as soon as an interval is narrow stops on luck:
a run does not judge its precision below five processes, and what it then publishes covers some
93 %.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.reasons import because

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.reasons import Reason

    Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 2000
FEWEST_FOR_INTERVAL = 2
FEWEST_FOR_BOOTSTRAP = 6


@dataclass(frozen=True)
class Interval:
    """Bounds of a median, in the unit of the values they came from.

    ``low`` and ``high`` are ``None`` where ``reason`` says why there are none.
    """

    low: float | None
    high: float | None
    reason: Reason | None = None


def common_rounds(ours: Mapping[str, object], theirs: Mapping[str, object]) -> list[str]:
    """Return the rounds by which two sides are paired; none where they are not.

    At least half of the rounds of the side that has fewer must be common: so a candidate that
    needed few rounds stays paired with a baseline that went on beside others.
    """
    common = [key for key in ours if key in theirs]
    fewest = max(FEWEST_FOR_INTERVAL, min(len(ours), len(theirs)) / 2)
    return common if len(common) >= fewest else []


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


def extension(n: int, confidence: float) -> float:
    """How far the range of ``n`` values is extended on each side, in widths of the range.

    All n values fall on one side of the median with chance 2^(1-n). For values spread evenly on
    that side, the gap to the median then exceeds c ranges with chance (1 + c)^(1-n); the
    product is set to 1 - confidence and solved for c.
    """
    return max(0.0, 0.5 * math.pow(1.0 - confidence, -1.0 / (n - 1)) - 1.0)


def by_range(n: int, confidence: float) -> bool:
    """Say whether ``n`` values are too few to be resampled for an interval of this confidence."""
    return n < FEWEST_FOR_BOOTSTRAP or extension(n, confidence) > 0


def extended_range(values: Floats, confidence: float) -> tuple[float, float]:
    """Return the range of two or more values, extended to the confidence asked for."""
    low, high = float(values.min()), float(values.max())
    margin = extension(len(values), confidence) * (high - low)
    return low - margin, high + margin


def tails(n: int, confidence: float) -> tuple[float, float]:
    """Return the two percentiles (0..1) of ``n`` resampled units that hold ``confidence``."""
    normal = NormalDist()
    z = student_quantile(0.5 + confidence / 2, n - 1) * math.sqrt(n / (n - 1))
    return normal.cdf(-z), normal.cdf(z)


def student_quantile(probability: float, freedom: int) -> float:
    """Return a quantile of Student's t, within 1 % from 4 degrees of freedom on.

    Fisher's expansion in powers of 1/freedom; it spares the harness SciPy.
    """
    z = NormalDist().inv_cdf(probability)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / float(freedom**power) for power, term in enumerate(terms))


def median_interval(
    groups: Sequence[Sequence[float]],
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Interval:
    """Bound the median of the groups' medians; a group is a process, its values its samples.

    The values are not negative (seconds, bytes); so neither is the lower bound. The same
    arguments give the same interval.
    """
    if len(groups) < FEWEST_FOR_INTERVAL:
        reason = because("few_processes", n_processes=len(groups), n_needed=FEWEST_FOR_INTERVAL)
        return Interval(None, None, reason)
    low, high = bounds(groups, confidence=confidence, seed=seed, resamples=resamples)
    return Interval(max(0.0, low), high)


def bounds(
    groups: Sequence[Sequence[float]],
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """Return what ``median_interval`` does, for two groups or more and values of any sign."""
    n = len(groups)
    if by_range(n, confidence):
        return extended_range(group_medians(groups), confidence)
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, n, size=(resamples, n))
    medians = np.median(resampled_medians(groups, picks, rng), axis=1)
    low, high = np.quantile(medians, tails(n, confidence))
    return float(low), float(high)


def apart(
    ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]], confidence: float
) -> tuple[float, float]:
    """Bound how much ours exceed theirs, by joining the two intervals (recovered variances)."""
    low_1, high_1 = bounds(ours, confidence=confidence)
    low_2, high_2 = bounds(theirs, confidence=confidence, seed=1)
    middle_1, middle_2 = centre(ours), centre(theirs)
    down = math.hypot(middle_1 - low_1, high_2 - middle_2)
    up = math.hypot(high_1 - middle_1, middle_2 - low_2)
    return middle_1 - middle_2 - down, middle_1 - middle_2 + up


def resampled_medians(
    groups: Sequence[Sequence[float]], picks: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """Return, for each picked group, the median of a fresh resample of its values.

    Nothing is copied or thinned out. The sample at rank k of m values drawn with replacement is
    the sorted original at ``floor(m * u)``, where u has the distribution of the k-th smallest of
    m uniform numbers, Beta(k, m + 1 - k): one draw stands for a resample of any length. For even
    m the median is the mean of two neighbouring ranks, and the second u follows from the first.
    """
    lengths = np.array([len(group) for group in groups])
    if lengths.max() == 1:
        return group_medians(groups)[picks]
    values = np.concatenate([np.sort(np.asarray(group, dtype=np.float64)) for group in groups])
    offsets = np.cumsum(lengths) - lengths
    m = lengths[picks]
    rank = (m + 1) // 2
    first = rng.beta(rank, m + 1 - rank)
    second = 1.0 - (1.0 - first) * rng.random(m.shape) ** (1.0 / np.maximum(m - rank, 1))
    second = np.where(m % 2 == 0, second, first)
    start = offsets[picks]
    lower = values[start + np.minimum((m * first).astype(np.int64), m - 1)]
    upper = values[start + np.minimum((m * second).astype(np.int64), m - 1)]
    return np.asarray((lower + upper) / 2, dtype=np.float64)
