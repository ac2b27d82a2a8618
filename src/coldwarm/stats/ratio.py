"""Verdicts on the ratio of two candidates that were measured in the same interleaved rounds.

Processes of the same round ran next to each other: what the machine did in a round falls on both,
so a round gives one ratio, and what is judged is the median of these (``intervals.paired``).
Without common rounds the intervals of the two sides are joined (Donner and Zou, "Closed-form
confidence intervals for functions of the normal mean and standard deviation", 2012: recovered
variances).

*Warm blocks.* In a round the blocks of all candidates alternate, each about as long as a blink.
Whatever the machine does for longer than that, another program's burst or another clock, falls on
neighbouring blocks alike, and leaves their ratio as it was; pooled samples would keep it. So a
round's ratio of warm calls is that of blocks that ran right after one another (``compare_pairs``).

*Verdicts.* One is worth less than its false alarms cost. Fewer than five rounds give none, but for
a difference so large that nobody would doubt it. Intervals of ratios hold with 97 %, so that two
measurements of the same program are called different in fewer than 3 of 100 trials even where
the scatter is much larger than the threshold. All is done on logarithms: exchanging the two
candidates inverts every figure and mirrors the verdict.

*Tables.* Of thirty comparisons of equal programs, each with an interval of 97 %, one or more would
be called different by chance in many tables. The verdicts that stay are those that the step-up
procedure of Benjamini and Hochberg ("Controlling the false discovery rate", 1995) allows: of the
verdicts of a table at most 5 % are expected to be wrong, and of tables in which all are equal at
most 5 % have any.

*Independence.* Intervals take values that follow each other to be independent. Where they are not,
as where a machine is slow for minutes, an interval of 95 % holds the truth in 64 of 100 cases. What
is looked at is the ranks of the values in the order in which they were measured: the squares of
their steps over the squares of their distances from the mean rank (Bartels, "The rank version of
von Neumann's ratio test for randomness", 1982). Ranks of independent values are in any order as
often, however the values scatter, so that false alarms are as many for bursts or modes as for
normal noise. ``benchmarks/more_rounds.py`` counts them, and what is found.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np
from msgspec.structs import replace

from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.reasons import because
from coldwarm.stats.intervals import (
    FEWEST_FOR_CONFIDENCE,
    FEWEST_FOR_INTERVAL,
    Interval,
    apart,
    common_rounds,
    fewest_common,
    group_medians,
    paired,
    range_confidence,
)
from coldwarm.stats.selection import gives_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Unpack

    from coldwarm.contracts.answer import Verdict
    from coldwarm.contracts.observation import Block, SharedCalls
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.selection import WarmProcess

    Rounds = Mapping[str, Sequence[float]]
    Groups = Sequence[Sequence[float]]


CONFIDENCE = 0.97
_CONTRADICTED = 0.999
"""Of the intervals of two designs that contradict each other where they lie apart. With 97 %, two
of 22 measurements of equal sides were called different: their rounds scattered by 8 %, as they used
all processors."""
THRESHOLD = 0.02
_FAR = {2: 10.0, 3: 4.0, 4: 2.0}
"""By so few rounds, how many times apart every one of them must put two sides to tell them apart:
beyond what bursts, or processes at two speeds, bring about in all of so few by chance."""
FEWEST_FOR_FAR = min(_FAR)
LARGEST_EXPONENT = 700.0
_STRICTEST = 1e-12
_HALVINGS = 40

_PLACES: dict[Verdict, str] = {
    "faster": "interval_outside",
    "slower": "interval_outside",
    "same": "interval_inside",
    "undecided": "interval_across",
}
"""Where the interval lies, seen from the threshold: the reason of each verdict."""


@dataclass(frozen=True)
class Differences:
    """Differences of two sides in the logarithm of their ratio."""

    bounded: Callable[[float], Interval]
    """The centre and its bounds at a confidence."""
    extent: tuple[float, float]
    """The least and the largest that any round, or any two processes, show."""
    n: int
    """Rounds, or processes of the side that has fewer."""
    basis: Reason
    related: bool = False
    """Whether rounds, or processes of a side, that follow each other are alike."""


class Criteria(TypedDict, total=False):
    """By what two candidates are compared."""

    threshold: float
    """The relative difference that matters: 0.02 makes everything from 1/1.02 to 1.02 the same."""
    confidence: float
    tested: bool
    """With the p-value of the verdict, which takes a while."""


def compare(
    metric: str, baseline: str, ours: Rounds, theirs: Rounds, **limits: Unpack[Criteria]
) -> Comparison:
    """Compare a candidate (``ours``) with its baseline (``theirs``).

    Both map a round to the samples of the process that ran in it, in one unit.
    """
    reason = fault({"case": ours, "baseline": theirs})
    if reason is None:
        return compare_differences(metric, baseline, _differences(ours, theirs), **limits)
    return Comparison(
        metric=metric,
        baseline=baseline,
        ratio=None,
        low=None,
        high=None,
        threshold=limits.get("threshold", THRESHOLD),
        smallest_detectable=None,
        verdict="undecided",
        reason=reason,
    )


class Shared(NamedTuple):
    """What calls of a process that called both take, against those of the other side."""

    log_ratio: float
    forked: bool = False
    process: int | None = None
    """Which process it is, or was forked from; ``None``: one of its own."""


def compare_pairs(
    metric: str,
    baseline: str,
    pairs: Mapping[str, Sequence[float]],
    shared: Sequence[Shared] = (),
    **limits: Unpack[Criteria],
) -> Comparison:
    """Compare a candidate with its baseline by log-ratios of what ran next to each other.

    ``pairs`` maps two rounds or more to the log-ratios of a round (see ``log_ratios``). A round's
    figure is the median of its pairs. ``shared`` are those of processes that called both: where
    there are enough, and the rounds do not contradict them beyond chance, the verdict is theirs.
    """
    groups = list(pairs.values())
    basis = because("block_pairs", n_pairs=sum(map(len, groups)), n_rounds=len(groups))
    separate = _of_rounds(group_medians(groups).tolist(), basis)
    if len(shared) < FEWEST_FOR_CONFIDENCE:
        return compare_differences(metric, baseline, separate, **limits)
    both = because("shared_processes", n_processes=len(shared))
    if n_forked := sum(one.forked for one in shared):
        both = because("forked_processes", n_processes=len(shared), n_forked=n_forked)
    together = _of_shared(shared, both)
    return _of_two_designs(
        metric,
        baseline,
        separate=separate,
        together=together,
        otherwise="shared_otherwise",
        limits=limits,
    )


def compare_starts(
    metric: str,
    baseline: str,
    ours: Rounds,
    theirs: Rounds,
    in_turns: Sequence[float],
    **limits: Unpack[Criteria],
) -> Comparison:
    """Compare the starts of a candidate with those of its baseline.

    ``ours`` and ``theirs`` map a round to what it took alone (see ``compare``), ``in_turns`` are
    the log-ratios of starts that took turns: where there are enough, and the rounds do not
    contradict them beyond chance, the verdict is theirs.
    """
    if len(in_turns) < FEWEST_FOR_CONFIDENCE:
        return compare(metric, baseline, ours, theirs, **limits)
    together = _of_turns(in_turns, because("starts_in_turns", n_rounds=len(in_turns)))
    if fault({"case": ours, "baseline": theirs}) is not None:
        return compare_differences(metric, baseline, together, **limits)
    return _of_two_designs(
        metric,
        baseline,
        separate=_differences(ours, theirs),
        together=together,
        otherwise="turns_otherwise",
        limits=limits,
    )


_DEARER = 0.1
"""By which share a part of a start may take longer in turns: each turn fills the processor's caches
again. All of it took 6 to 9 % longer (``benchmarks/start_pairs.py``)."""


def _of_turns(values: Sequence[float], basis: Reason) -> Differences:
    """Return what starts in turns show. Their parts may be dearer by another share each.

    So a difference is known to that share of it: it may be in a part that is dearer, or not.
    """

    def bounded(confidence: float) -> Interval:
        found = paired(values, confidence)
        low, high = found.low - _DEARER * abs(found.low), found.high + _DEARER * abs(found.high)
        return Interval(found.middle, low, high)

    return dataclasses.replace(_of_rounds(values, basis), bounded=bounded)


def _of_two_designs(  # noqa: PLR0913 - both designs, and what the verdict is called
    metric: str,
    baseline: str,
    *,
    separate: Differences,
    together: Differences,
    otherwise: str,
    limits: Criteria,
) -> Comparison:
    """Judge by what ran together, but where processes apart contradict it beyond chance."""
    ends = [found.bounded(_CONTRADICTED) for found in (separate, together)]
    if max(one.low for one in ends) <= min(one.high for one in ends):
        return compare_differences(metric, baseline, together, **limits)
    judged = compare_differences(metric, baseline, separate, **limits)
    why = because(otherwise, shared_ratio=_exp(ends[1].middle))
    return replace(judged, reason=because("several", judged.reason, why))


def _differences(ours: Rounds, theirs: Rounds) -> Differences:
    """Return the logarithm of ours over theirs; at least two rounds each, values above 0.

    Rounds are paired where enough are common (``common_rounds``); the others are then left out.
    """
    common = common_rounds(ours, theirs)
    if not common:
        basis = because("separate_processes", n_processes=len(ours), n_baseline=len(theirs))
        return _of_sides(_logs(list(ours.values())), _logs(list(theirs.values())), basis)
    first = group_medians([ours[key] for key in common])
    second = group_medians([theirs[key] for key in common])
    return _of_rounds(
        np.log(first / second).tolist(), because("common_rounds", n_rounds=len(common))
    )


def _of_rounds(values: Sequence[float], basis: Reason) -> Differences:
    extent = min(values), max(values)
    return Differences(
        lambda confidence: paired(values, confidence),
        extent,
        len(values),
        basis,
        related=_related(values),
    )


_OF_TEMPLATE = 0.2
"""Share of the variance between forks that those of one template have in common. It was 0 to 0.26
for five kinds of functions (``benchmarks/nested.py``), and with this one intervals of 97 % hold the
truth in 92.8 % of draws or more at the largest (``benchmarks/coverage.py``)."""


def _of_shared(shared: Sequence[Shared], basis: Reason) -> Differences:
    """Return what processes that call both show, wider where forks have a template in common.

    By Kish's design effect, for groups of several sizes ("Survey Sampling", 1965).
    """
    values = [one.log_ratio for one in shared]
    groups = Counter(one.process for one in shared)
    n_alone = groups.pop(None, 0)
    size = (n_alone + sum(n * n for n in groups.values())) / len(shared)
    factor = math.sqrt(1 + (size - 1) * _OF_TEMPLATE)

    def bounded(confidence: float) -> Interval:
        one = paired(values, confidence)
        down, up = factor * (one.middle - one.low), factor * (one.high - one.middle)
        return Interval(one.middle, one.middle - down, one.middle + up)

    return dataclasses.replace(_of_rounds(values, basis), bounded=bounded)


def _of_sides(ours: Sequence[float], theirs: Sequence[float], basis: Reason) -> Differences:
    """Return how the values of two sides differ that have nothing in common."""
    extent = min(ours) - max(theirs), max(ours) - min(theirs)
    n = min(len(ours), len(theirs))
    return Differences(
        lambda confidence: apart(ours, theirs, confidence),
        extent,
        n,
        basis,
        related=_related(ours) or _related(theirs),
    )


def _logs(groups: Groups) -> list[float]:
    return [float(value) for value in np.log(group_medians(groups))]


def same_within(threshold: float) -> tuple[float, float]:
    """Return the ratios between which two figures are the same, for this relative difference."""
    return 1 / (1 + threshold), 1 + threshold


def compare_differences(
    metric: str, baseline: str, found: Differences, **limits: Unpack[Criteria]
) -> Comparison:
    """Compare a candidate with its baseline by what is known of the logarithm of their ratio."""
    threshold = limits.get("threshold", THRESHOLD)
    confidence = limits.get("confidence", CONFIDENCE)
    band = math.log1p(threshold)
    few = found.n < FEWEST_FOR_CONFIDENCE
    at = found.bounded(confidence)
    if few:
        at, confidence = Interval(at.middle, *found.extent), range_confidence(found.n)
        verdict, reason = _of_few(found)
    else:
        verdict = _verdict(at, band)
        reason = because(_PLACES[verdict], found.basis, confidence_share=confidence)
    if found.related:
        reason = because("several", reason, because("rounds_related", false_share=_FALSE_ALARMS))
    reach = max(at.high - at.middle, at.middle - at.low) + band
    return Comparison(
        metric=metric,
        baseline=baseline,
        ratio=_exp(at.middle),
        low=_exp(at.low),
        high=_exp(at.high),
        confidence=confidence,
        threshold=threshold,
        smallest_detectable=None if few else math.expm1(min(reach, LARGEST_EXPONENT)),
        verdict=verdict,
        p_value=_p_value(found, verdict, band) if limits.get("tested", True) and not few else None,
        reason=reason,
    )


def _of_few(found: Differences) -> tuple[Verdict, Reason]:
    """Call a difference only where each value is far beyond all of the other side."""
    needed = far(found.n)
    verdict = _verdict(Interval(0.0, *found.extent), math.log(needed))
    if verdict not in {"faster", "slower"}:
        wanted = FEWEST_FOR_CONFIDENCE
        return "undecided", because("few_for_verdict", found.basis, n_needed=wanted)
    return verdict, because("far_apart", found.basis, far_ratio=needed)


def far(n: int) -> float:
    """Return how many times apart all of ``n`` rounds put two sides that they tell apart.

    Infinite where no difference is told by so few, or where an interval is to tell it.
    """
    return _FAR.get(n, math.inf)


def _p_value(found: Differences, verdict: Verdict, band: float) -> float | None:
    """Return the least share of errors at which the interval still gives this verdict."""
    if verdict == "undecided":
        return None
    surely, not_so = 0.0, math.log(_STRICTEST)
    for _ in range(_HALVINGS):
        tried = (surely + not_so) / 2
        if _verdict(found.bounded(1 - math.exp(tried)), band) == verdict:
            surely = tried
        else:
            not_so = tried
    return math.exp(surely)


def fault(sides: Mapping[str, Rounds]) -> Reason | None:
    """Say why the two sides, by their names, cannot be compared, or ``None``."""
    for label, side in sides.items():
        if len(side) < FEWEST_FOR_INTERVAL:
            needed = FEWEST_FOR_INTERVAL
            return because("few_processes_of", side=label, n_processes=len(side), n_needed=needed)
        if any(len(group) == 0 or min(group) <= 0 for group in side.values()):
            return because("not_positive", side=label)
    return None


def _verdict(ratio: Interval, band: float) -> Verdict:
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


_QUARTILE_RANGE = 1.349
"""Quartile range of normal values, in standard deviations."""
_ALIKE = 2
"""How many times as many calls blocks may have that are compared call by call."""
_FEWEST_PAIRS = 3
"""Pairs of blocks in a round below which its samples say more than its blocks."""


def log_ratios(
    ours: Sequence[WarmProcess], theirs: Sequence[WarmProcess]
) -> dict[str, list[float]] | None:
    """Return, for each common round, the log-ratios of its blocks, ours over theirs.

    A round that has too few pairs, as where the time was over in it, is left out. ``None``: less
    rounds are left than two sides need to be paired (``fewest_common``).
    """
    first, second = ({p.observation.round: p for p in reversed(side)} for side in (ours, theirs))
    rounds = {
        str(number): _of_round(first[number], second[number])
        for number in first
        if number in second
    }
    kept = {number: pairs for number, pairs in rounds.items() if len(pairs) >= _FEWEST_PAIRS}
    return kept if len(kept) >= fewest_common(len(first), len(second)) else None


_SETTLED = 1 / 6
"""Share of the turns in a process after which those that count begin: others may warm up."""


def shared_ratios(ours: Sequence[WarmProcess], theirs: Sequence[WarmProcess]) -> list[Shared]:
    """Return the log-ratio of calls, ours over theirs, in each process that called both.

    None where page faults may cost calls a share that matters: how much memory a process gives back
    depends on what else it has called.
    """
    processes = [*ours, *theirs]
    if any(gives_back(one.observation.blocks) for one in processes):
        return []
    flipped = [
        (order, one._replace(log_ratio=-one.log_ratio)) for order, one in _in_turns(theirs, ours)
    ]
    return [one for _, one in sorted([*_in_turns(ours, theirs), *flipped], key=itemgetter(0))]


def _in_turns(
    own: Sequence[WarmProcess], others: Sequence[WarmProcess]
) -> Iterator[tuple[int, Shared]]:
    """Yield the place in time of each process, and its log-ratio of own calls over the others.

    The mean over all times that it made both sides. A fork is a process.
    """
    names = {one.observation.case for one in others}
    for one in own:
        order = one.observation.order
        kept = [
            Shared(_of_both_orders(_settled(turns)), turns.started_from_template, order)
            for turns in one.observation.shared_calls
            if turns.other in names and turns.compiles == 0 and turns.own_s
        ]
        if alone := [found.log_ratio for found in kept if not found.forked]:
            yield order, Shared(float(np.mean(alone)), process=order)
        yield from ((order, found) for found in kept if found.forked)


def _of_both_orders(logs: np.ndarray[Any, Any]) -> float:
    """Return the log-ratio of turns in which each side was first in every other one.

    A call costs more or less for being the second, so that the turns have two levels: of each, the
    median. The median of all lies somewhere between them.
    """
    orders = [one for one in (logs[::2], logs[1::2]) if len(one)]
    return float(np.mean([np.median(one) for one in orders]))


def _settled(turns: SharedCalls) -> np.ndarray[Any, Any]:
    """Return the logarithms of the ratios of the turns that count."""
    ratios = np.divide(turns.own_s, turns.other_s)[int(len(turns.own_s) * _SETTLED) :]
    return np.asarray(np.log(ratios))


def scatter(ours: Sequence[Block], theirs: Sequence[Block] | None) -> float | None:
    """Return the standard deviation of the log-ratios of blocks of the same turns.

    From the middle half of them, so that single bursts do not count. Without another process
    it is that of the blocks themselves; ``None``: there are too few, or some took no time.
    """
    others = [1.0] * len(ours) if theirs is None else [_median(block) for block in theirs[1:]]
    pairs = list(zip((_median(block) for block in ours[1:]), others, strict=False))
    if len(pairs) < _FEWEST_PAIRS or min(map(min, pairs)) <= 0:
        return None
    logs = np.log([mine / other for mine, other in pairs])
    return float(np.ptp(np.quantile(logs, (0.25, 0.75)))) / _QUARTILE_RANGE


def _of_round(ours: WarmProcess, theirs: WarmProcess) -> list[float]:
    """Pair the blocks by their place: the k-th of both ran in the same turn of all candidates.

    Their place among all blocks of their process: blocks that do not count keep theirs.
    """
    if not _together(ours, theirs):
        return []
    first, second = _by_place(ours), _by_place(theirs)
    places = [place for place in first if place in second]
    start = max(_first_steady(ours), _first_steady(theirs))
    steady = [place for place in places if place >= start]
    kept = steady if len(steady) >= _FEWEST_PAIRS else places
    pairs = [(first[place], second[place]) for place in kept]
    middles = [_same_calls(a, b) for a, b in pairs if a.bound_to == b.bound_to]
    return [float(np.log(mine / other)) for mine, other in middles if mine > 0 and other > 0]


def _together(ours: WarmProcess, theirs: WarmProcess) -> bool:
    """Say whether the two ran their blocks in the same turns, not one after the other."""
    first, second = ([block.order for block in side.blocks] for side in (ours, theirs))
    return min(first) <= max(second) and min(second) <= max(first)


def _by_place(process: WarmProcess) -> dict[int, Block]:
    """Return the blocks that count under their place among all of the process."""
    counting = {block.order for block in process.blocks}
    every = enumerate(process.observation.blocks)
    return {place: block for place, block in every if block.order in counting}


def _first_steady(process: WarmProcess) -> int:
    """Return the place of the first block in the steady state, among all of the process.

    A process that was not steady moved with the machine, or by itself: all its blocks count.
    """
    if not process.steadiness.steady:
        return 0
    ends = list(accumulate(len(block.samples_s) for block in process.observation.blocks))
    return next((place for place in _by_place(process) if ends[place] > process.warmup), 0)


def _same_calls(ours: Block, theirs: Block) -> tuple[float, float]:
    """Return the medians of two blocks over as many calls of each from its beginning on.

    The first call after another process has run is slower, and weighs more in a block with fewer.
    Where one of them has far more calls, all count.
    """
    fewer, more = sorted((len(ours.samples_s), len(theirs.samples_s)))
    n = fewer if more <= _ALIKE * fewer else more
    first, second = (float(np.median(one.samples_s[:n])) for one in (ours, theirs))
    return first, second


def _median(block: Block) -> float:
    return float(np.median(block.samples_s))


_ERROR_RATE = 0.05


def held(comparisons: Sequence[Comparison], rate: float = _ERROR_RATE) -> list[Comparison]:
    """Return the comparisons of a table, those undecided whose verdicts are too many to trust.

    A verdict that was told from the range of a few values has no p-value, and is kept.
    """
    compared = sum(one.ratio is not None for one in comparisons)
    chances = sorted(one.p_value for one in comparisons if one.p_value is not None)
    allowed = [
        chance for place, chance in enumerate(chances, 1) if chance <= rate * place / compared
    ]
    most = max(allowed, default=0.0)

    def judged(one: Comparison) -> Comparison:
        if one.p_value is None or one.p_value <= most:
            return one
        values = {"n_verdicts": compared, "error_share": rate}
        reason = because("many_verdicts", one.reason, **values)
        return replace(one, verdict="undecided", p_value=None, reason=reason)

    return [judged(one) for one in comparisons]


_FEWEST_TO_RELATE = 8
"""Values from which it is looked for."""
_FALSE_ALARMS = 0.02
"""Share of independent series that are called related."""


def _related(values: Sequence[float]) -> bool:
    """Say whether neighbours are more alike than those of independent values mostly are."""
    n = len(values)
    if n < _FEWEST_TO_RELATE:
        return False
    ranks = _ranks(values)
    apart = float(((ranks - ranks.mean()) ** 2).sum())
    if apart == 0:
        return False
    ratio = float((np.diff(ranks) ** 2).sum()) / apart
    error = math.sqrt(4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2))
    return NormalDist().cdf((ratio - 2) / error) < _FALSE_ALARMS


def _ranks(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return each value's rank, the mean one of ties."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray[tuple[int], np.dtype[np.float64]] = np.cumsum(counts) - (counts - 1) / 2
    return ranks[which]
