"""Answers of a run: who leads each figure, and who is the cheapest from how many calls. Pure.

Which candidate is the cheapest by the number of calls of a process (``plan.cheapest``), who leads
each figure (``plan.leading``), and what would change it. Whoever has the cases of a run gets
the same answers from them.

At each number of calls every pair of candidates is compared (``dearer``), and a candidate that is
surely dearer than another one drops out: the cheapest is among those that are left. A pair is
compared by its totals, from the rounds that have all costs, and by the bounds of a start and of the
later calls, each from all rounds that have it (``breakeven.Parts``). Where one alone
is left, it is the cheapest. That the true one never drops out, at whichever number of calls and in
whichever reading, is to hold with 95 %: each of the k - 1 others could push it out in each of m
readings, so a pair is judged with 1 - 4 % / (k - 1) / m, and one of few rounds more surely yet
(``_FEW``). Where both parts of a pair point to one side, each is judged as verdicts are
(``_Error``). ``benchmarks/answers.py`` simulates how often that holds.

Below ``FEWEST_FOR_FAR`` rounds nothing is told: candidates with fewer processes are left out and
named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from coldwarm.contracts.answer import Answer, ByCalls, CallRange, Crossing, Judged, Lead
from coldwarm.contracts.base import EMPTY, FILLED, READINGS, WARM
from coldwarm.contracts.reasons import because
from coldwarm.stats.breakeven import MOST_CALLS, NEEDED, dearer, paid
from coldwarm.stats.cautions import held_back
from coldwarm.stats.costs import FEWEST, WARM_CALL, gather, measured_calls
from coldwarm.stats.expected import middle_s
from coldwarm.stats.intervals import CONFIDENCE, FEWEST_FOR_CONFIDENCE, paired_rows
from coldwarm.stats.outcome import differing
from coldwarm.stats.outcome import doubt_of_control as doubt
from coldwarm.stats.ratio import CONFIDENCE as FOR_VERDICT
from coldwarm.stats.ratio import FEWEST_FOR_FAR, THRESHOLD, far
from coldwarm.stats.selection import counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode, Reading
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.breakeven import Dearer, Parts
    from coldwarm.stats.costs import Costs

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Signs = NDArray[np.int8]


_FEWEST = 2
"""Candidates of which one can be the cheapest."""
_MODES: dict[Reading, CacheMode] = {"process": EMPTY, "imported": EMPTY, "cached": FILLED}
"""The cache mode in which the processes of a reading start."""


def answers(cases: Sequence[CaseResult]) -> list[Answer]:
    """Return the answer of each group of cases, in the order in which the groups stand."""
    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    return [answer(members) for members in groups.values()]


def answer(cases: Sequence[CaseResult]) -> Answer:
    """Return what is known of one case or more of one workload, size and dtype."""
    others = [case for case in cases if case.control_of is None] or cases
    controls = [case for case in cases if case.control_of is not None]
    first = others[0]
    gathered = gather(first.group, others)
    led = _leads(others, _asked(others))
    ranges = [] if first.scenario else list(_by_calls(gathered.known, others, controls))
    held = {case.candidate for case in others if held_back(case) is not None}
    no_ranges = because("whole_loops") if first.scenario else _not_asked(others)
    valid = [
        one
        for case in gathered.cases
        for one in case.observations
        if any(counts(one, mode) for mode in case.protocol.cache_modes)
    ]
    told = {one.candidate for one in gathered.known}
    return Answer(
        group=first.group,
        workload=first.workload,
        size=first.size,
        dtype=first.dtype,
        scenario=first.scenario,
        own=first.protocol.own is not None,
        baseline=next((c.candidate for c in others if c.baseline and c.candidate in told), None),
        candidates=[one.candidate for one in gathered.known],
        leads=led,
        by_calls=ranges,
        changes=list(changes(ranges, [one for one in gathered.known if one.candidate not in held])),
        not_measured=dict(gathered.not_measured),
        not_steady=dict(gathered.not_steady),
        n_processes=len(valid),
        n_rounds=_n_rounds(valid),
        measured_s=math.fsum(o.wall_s for case in cases for o in case.observations),
        null_reasons={} if ranges else {"by_calls": no_ranges},
    )


def _asked(cases: Iterable[CaseResult]) -> list[CacheMode]:
    """Return the cache modes that were asked for, each once."""
    return list(dict.fromkeys(mode for case in cases for mode in case.protocol.cache_modes))


def _not_asked(cases: Iterable[CaseResult]) -> Reason:
    """Say which cache modes of a start and later calls were not measured."""
    asked = _asked(cases)
    return because("not_asked_for", mode_names=[m for m in (EMPTY, WARM) if m not in asked])


def _n_rounds(observations: Iterable[Observation]) -> int:
    return len({one.round for one in observations})


def _by_calls(
    known: Sequence[Costs], cases: Sequence[CaseResult], controls: Sequence[CaseResult]
) -> Iterator[ByCalls]:
    """Yield the readings whose cache modes were measured."""
    asked = set(_asked(cases))
    held = {case.candidate: why for case in cases if (why := held_back(case)) is not None}
    needed = {reading: {_MODES[reading], WARM} for reading in READINGS}
    threshold = max((o.threshold for case in cases for o in case.comparisons), default=THRESHOLD)
    measured = [reading for reading in READINGS if asked >= needed[reading]]
    for reading in measured:
        why = _doubt(controls, needed[reading])
        if why:
            yield _without_ranges(reading, why)
            continue
        told = [one for one in known if one.candidate not in held]
        found = by_calls(told, reading, len(measured), threshold)
        few = (
            min(held.values(), default=None, key=lambda one: one.code)
            if len(told) < _FEWEST
            else None
        )
        yield replace(found, left_out={**held, **found.left_out}, reason=few or found.reason)


def _doubt(controls: Iterable[CaseResult], modes: set[CacheMode]) -> Reason | None:
    """Return why nothing is told where a program differs from itself in one of these modes."""
    for control, one in differing(controls):
        if one.metric in {_metric(control, mode) for mode in modes}:
            return doubt(control, one, one.reason)
    return None


def changes(ranges: Sequence[ByCalls], known: Sequence[Costs]) -> Iterator[Reason]:
    """Yield what would change the answer for a process with empty caches."""
    readings = {one.reading: one for one in ranges}
    empty, filled = readings.get("process"), readings.get("cached")
    if empty is not None:
        for before, after in pairwise(empty.told):
            if after.among != before.among:
                yield _change("longer_process", after)
    if empty is not None and filled is not None and filled.ranges:
        yield from _of_filled_caches(empty, filled)
    for each in known:
        new, warm = each.series.get("empty.new"), each.series.get(WARM_CALL)
        if new and warm and each.compiles:
            extra_s = middle_s([(1.0, new)]) - middle_s([(1.0, warm)])
            yield because("more_shapes", candidate=each.candidate, extra_s=max(0.0, extra_s))


def _of_filled_caches(empty: ByCalls, filled: ByCalls) -> Iterator[Reason]:
    """Yield from when who is the cheapest then, where that is not so with empty ones already."""
    begins = {tuple(one.among): one.from_calls for one in reversed(empty.told)}
    for one in filled.told:
        begun = begins.setdefault(tuple(one.among), one.from_calls + 1)
        if one.from_calls < begun:
            yield _change("filled_caches", one)
    if empty.told and not filled.told:
        yield because("filled_caches_open")


def _change(code: str, one: CallRange) -> Reason:
    return because(code, candidate_names=one.among, n_calls=one.from_calls)


_FEW = 3
"""How many times surer a pair must be that has fewer rounds than a verdict needs: with so few,
chance favours one of two nearly equal candidates at some number of calls more often than at each.
What every round puts far apart (``ratio.far``) is told without that."""
_ERROR = 0.8 * (1 - CONFIDENCE)
"""Error given to all pairs together: a little less than is stated, because one draw of costs is
looked at at many numbers of calls."""
FEWEST_ROUNDS = 3
"""Rounds from which intervals tell which candidate is the cheapest."""
_STEP = 1.2
"""Between numbers of calls at which a change is looked for."""
_BETWEEN = 18
"""Numbers that are tried at once between two that differ."""


class _State(NamedTuple):
    """State of knowledge at a number of calls."""

    among: tuple[str, ...]
    """The candidates that may be the cheapest."""
    estimate: str
    """The one of them with the lowest expected cost."""
    same: bool
    """Whether several are left that all cost the same, within the difference that matters."""


def by_calls(
    known: Sequence[Costs], reading: Reading, n_readings: int = 1, threshold: float = THRESHOLD
) -> ByCalls:
    """Return the ranges of calls in which a candidate is the cheapest, and where nobody can tell.

    ``n_readings``: how many are told at once, whose ranges are to be true together. ``threshold``:
    the relative difference up to which candidates are the same.

    A candidate without the costs of a reading, or with those of too few processes, is left out.
    """
    left_out = {
        one.candidate: fault for one in known if (fault := _fault(one, NEEDED[reading])) is not None
    }
    compared = [one for one in known if one.candidate not in left_out]
    names = [one.candidate for one in compared]
    if len(compared) <= 1:
        nothing = _without_ranges(reading, because("no_other_total"), names, left_out)
        return replace(nothing, estimates=_of_few(known, NEEDED[reading]))
    n_others = len(compared) - 1
    error = _Error(
        _ERROR / n_others / n_readings, min(1 - FOR_VERDICT, 2 * (1 - CONFIDENCE) / n_others)
    )
    pairs = {
        (place, other): _Pair(
            dearer(compared[place], compared[other], NEEDED[reading]), error, threshold
        )
        for place in range(len(compared))
        for other in range(place + 1, len(compared))
    }

    def states(calls: Sequence[float]) -> list[_State]:
        costs = _expected(compared, NEEDED[reading], calls)
        return _states(names, pairs, np.array(calls, dtype=np.float64), costs)

    found = list(_changes(states, _tried()))
    return ByCalls(
        reading=reading,
        ranges=_ranges(found, threshold),
        estimates=_estimates(found),
        candidates=names,
        left_out=left_out,
        confidence=CONFIDENCE,
        n_rounds=min(one.held.n for one in pairs.values()),
        measured_calls=measured_calls(compared),
    )


def _without_ranges(
    reading: Reading,
    reason: Reason,
    candidates: Sequence[str] = (),
    left_out: Mapping[str, Reason] | None = None,
) -> ByCalls:
    """Return a reading of which nothing can be told, and why."""
    return ByCalls(
        reading=reading,
        ranges=[],
        candidates=list(candidates),
        left_out=dict(left_out or {}),
        confidence=CONFIDENCE,
        reason=reason,
        null_reasons={"n_rounds": reason},
    )


def _of_few(known: Sequence[Costs], needed: tuple[str, str, str]) -> list[Crossing]:
    """Return who has the lowest mean costs, from however few rounds; nothing of one alone."""
    some = [one for one in known if one.missing(needed) is None]
    if len(some) <= 1:
        return []

    def states(calls: Sequence[float]) -> list[_State]:
        best = _expected(some, needed, calls).argmin(axis=0)
        return [_State((), some[int(place)].candidate, same=False) for place in best]

    return _estimates(list(_changes(states, _tried())))


def _expected(
    known: Sequence[Costs], needed: tuple[str, str, str], calls: Sequence[float]
) -> Floats:
    """Return the expected seconds, a row for each candidate, a column for each number of calls."""
    return np.array([[middle_s(paid(one, needed, n)) for n in calls] for one in known])


def _fault(one: Costs, needed: tuple[str, str, str]) -> Reason | None:
    missing = one.missing(needed)
    if missing is not None:
        return missing
    n = min(len(one.series[name]) for name in needed)
    if n < FEWEST_FOR_FAR:
        return because("few_processes", n_processes=n, n_needed=FEWEST_FOR_FAR)
    return None


def _states(
    names: Sequence[str],
    pairs: Mapping[tuple[int, int], _Pair],
    calls: Floats,
    costs: Floats,
) -> list[_State]:
    """Return what is known at each of these numbers of calls, at which they are to cost so much."""
    out = np.zeros((len(names), len(calls)), dtype=bool)
    alike: dict[tuple[int, int], Flags] = {}
    for (place, other), pair in pairs.items():
        sure, alike[place, other] = pair.signs(calls)
        out[place] |= sure > 0
        out[other] |= sure < 0
    out[:, out.all(axis=0)] = False  # pairs of other rounds may contradict each other
    best = np.where(out, math.inf, costs).argmin(axis=0)
    return [
        _State(
            tuple(names[place] for place in left),
            names[int(best[at])],
            len(left) > 1 and all(alike[pair][at] for pair in combinations(left, 2)),
        )
        for at, left in enumerate(np.flatnonzero(~gone).tolist() for gone in out.T)
    ]


class _Error(NamedTuple):
    """Share of errors allowed to a pair."""

    whole: float
    """Of its totals, in each reading."""
    alone: float
    """Of a part that tells something by itself, in all readings: that of a verdict at most."""


@dataclass(frozen=True)
class _Pair:
    """Two candidates, and how surely one is to be dearer at a number of calls."""

    held: Dearer
    error: _Error
    threshold: float

    def signs(self, calls: Floats) -> tuple[Signs, Flags]:
        """Return which is surely the dearer, and whether they are the same, as ``_signs`` does.

        Who is surely dearer at two numbers of calls is so between them too: from the second call on
        totals are nearly lines.
        """
        middle, sure, same = _signs(self.held, calls, self.error, self.threshold)
        for side, (low, high) in self._spans.items():
            between = (sure == 0) & (middle == side) & (calls >= low) & (calls <= high)
            sure = np.where(between, np.int8(side), sure)
        return sure, same

    @cached_property
    def _spans(self) -> dict[int, tuple[float, float]]:
        """The least and the largest number of calls at which each side is surely dearer."""
        calls = np.array(_tried()[FEWEST - 1 :])
        _, sure, _ = _signs(self.held, calls, self.error, self.threshold)
        spans = {}
        for side in (1, -1):
            places = np.flatnonzero(sure == side)
            if len(places) and not (sure[places[0] : places[-1]] == -side).any():
                spans[side] = float(calls[places[0]]), float(calls[places[-1]])
        return spans


def _signs(
    held: Dearer, calls: Floats, error: _Error, threshold: float
) -> tuple[Signs, Signs, Flags]:
    """Return which of two is the dearer at each number of calls, and which surely is: 1, the first.

    -1 is the other one, and 0: neither. Also whether they are surely the same.
    """
    few = held.n < FEWEST_FOR_CONFIDENCE
    middle, low, high = held.bounded(calls, 1 - (error.whole / _FEW if few else error.whole))
    band = held.band(calls, threshold)
    same = (low >= -band) & (high <= band) & (not few)
    least, greatest = held.extent(calls)
    # As verdicts do (``ratio``): few rounds tell what every one of them puts far apart.
    apart = math.log(far(held.n))
    told = held.n >= FEWEST_ROUNDS
    sure = _sides(((low > 0) & told) | (least > apart), ((high < 0) & told) | (greatest < -apart))
    by_parts = _sure_by_parts(held.parts, calls, error)
    return _sides(middle > 0, middle < 0), np.where(sure == 0, by_parts, sure), same


def _sure_by_parts(parts: Parts, calls: Floats, error: _Error) -> Signs:
    """Return which of two is surely the dearer, by the bounds of its start and of its later calls.

    The ratio of two totals is the mean of the ratios of their parts, weighted by the share of the
    start in what the other one pays.
    """
    low, high = (np.full(len(calls), bound) for bound in (0.0, math.inf))
    one = calls == 1
    low[one], high[one] = _ratios(parts.first[np.newaxis], error.whole)
    two = calls == FEWEST
    low[two], high[two] = _ratios(parts.two[np.newaxis], error.whole)
    more = calls > FEWEST
    if more.any():
        start = _ratios(parts.two[np.newaxis], error.whole / 2)
        later = _ratios(parts.later(calls[more]), error.whole / 2)
        shares = parts.share(calls[more])
        with np.errstate(invalid="ignore"):  # no bound, at a share of 0
            low[more] = np.minimum(*(s * start[0] + (1 - s) * later[0] for s in shares))
            high[more] = np.maximum(*(s * start[1] + (1 - s) * later[1] for s in shares))
        # Who is dearer at the start and per call is so in between: one of these two must be wrong
        # for that to be wrong, so each is told as verdicts are.
        start = _ratios(parts.two[np.newaxis], error.alone)
        later = _ratios(parts.later(calls[more]), error.alone)
        low[more] = np.maximum(low[more], np.minimum(start[0], later[0]))
        high[more] = np.minimum(high[more], np.maximum(start[1], later[1]))
    return _sides(low > 1, high < 1)


def _ratios(logs: Floats, error: float) -> tuple[Floats, Floats]:
    """Return bounds of the ratio in each row; few rounds tell what all put far apart."""
    n = logs.shape[-1]
    low, high = np.full(len(logs), -math.inf), np.full(len(logs), math.inf)
    known = np.isfinite(logs).all(axis=-1)
    if n >= FEWEST_FOR_CONFIDENCE:
        _, low[known], high[known] = paired_rows(logs[known], 1 - error)
    elif n >= FEWEST_FOR_FAR:
        low[known] = logs[known].min(axis=-1) - math.log(far(n))
        high[known] = logs[known].max(axis=-1) + math.log(far(n))
    with np.errstate(over="ignore"):
        return np.exp(low), np.exp(high)


def _sides(first: Flags, other: Flags) -> Signs:
    return first.astype(np.int8) - other.astype(np.int8)


@cache
def _tried() -> tuple[float, ...]:
    numbers = [1.0, 2.0]
    while numbers[-1] < MOST_CALLS:
        numbers.append(float(math.ceil(numbers[-1] * _STEP)))
    return tuple(numbers)


def _changes(
    states: Callable[[Sequence[float]], list[_State]], tried: Sequence[float]
) -> Iterator[tuple[int, _State]]:
    """Yield each number of calls from which something else is known, and that; first of 1 call."""
    found = states(tried)
    yield int(tried[0]), found[0]
    for (left, before), (right, after) in pairwise(zip(tried, found, strict=True)):
        if before == after:
            continue
        if right - left == 1:
            yield int(right), after
            continue
        between = sorted({float(int(n)) for n in np.linspace(left, right, _BETWEEN)})
        inner = _changes(states, between)
        next(inner)
        yield from inner


def _ranges(found: Sequence[tuple[int, _State]], threshold: float) -> list[CallRange]:
    begins = [
        (next(iter(members))[0], *said)
        for said, members in groupby(found, key=lambda one: (one[1].among, one[1].same))
    ]
    ends = [begin - 1 for begin, *_ in begins[1:]]
    return [
        CallRange(
            from_calls=begin,
            to_calls=end,
            cheapest=among[0] if len(among) == 1 else None,
            among=list(among),
            same_within=threshold if same else None,
        )
        for (begin, among, same), end in zip(begins, [*ends, None], strict=True)
    ]


def _estimates(found: Sequence[tuple[int, _State]]) -> list[Crossing]:
    return [
        Crossing(value=next(iter(members))[0], cheapest=name)
        for name, members in groupby(found, key=lambda change: change[1].estimate)
    ]


def _leads(cases: Sequence[CaseResult], modes: Sequence[CacheMode]) -> list[Lead]:
    """Return for each mode what the verdicts of a group's cases say; nothing where none was given.

    The warm call comes first.
    """
    ordered = sorted(modes, key=lambda mode: mode != WARM)
    found = (_lead(cases, mode) for mode in ordered)
    return [one for one in found if one is not None]


def _metric(case: CaseResult, mode: CacheMode) -> str:
    """Name the metric that stands for a mode: of a scenario, that of its whole loop."""
    if mode == WARM:
        return "warm.call_s"
    return f"{mode}.{'total_s' if case.scenario else 'ttfr_s'}"


def _lead(cases: Sequence[CaseResult], mode: CacheMode) -> Lead | None:
    found = [
        (case.candidate, comparison)
        for case in cases
        for comparison in case.comparisons
        if comparison.metric == _metric(case, mode)
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
    kept = {name for name, reason in held.items() if reason.code != "untried"}
    aside = [] if baseline in kept else [pair for pair in found if pair not in told]
    medians = {case.candidate: _median(case, mode) for case in cases}
    return Lead(
        mode=mode,
        baseline=baseline,
        fastest=_fastest(told, baseline) if told else None,
        judged=[_judged(one, comparison, baseline, medians) for one, comparison in told],
        held_back=held,
        untried=[
            _judged(one, comparison, baseline, medians)
            for one, comparison in aside
            if one not in kept
        ],
    )


def _median(case: CaseResult, mode: CacheMode) -> float | None:
    """Return the figure that stands for a mode."""
    if mode == WARM:
        return case.warm.call_s.median if case.warm and case.warm.call_s else None
    name = "total" if case.scenario else "ttfr"
    cold = next((one for one in case.cold if one.cache_mode == mode), None)
    return cold.seconds[name].median if cold and name in cold.seconds else None


def _judged(
    candidate: str, one: Comparison, baseline: str, medians: Mapping[str, float | None]
) -> Judged:
    """Return a verdict; of a single round, which is compared with nothing, what was seen in it."""
    ours, theirs = medians.get(candidate), medians.get(baseline)
    single = ours / theirs if one.ratio is None and ours and theirs else None
    return Judged(
        candidate=candidate,
        verdict=one.verdict,
        ratio=one.ratio or single,
        low=one.low or single,
        high=one.high or single,
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
