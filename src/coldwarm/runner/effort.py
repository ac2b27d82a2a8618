"""Choice of the next round, what it will cost, and how many more a case needs."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.stats import intervals
from coldwarm.stats.common_start import starts_alike
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, group_medians
from coldwarm.stats.ratio import FEWEST_FOR_FAR, THRESHOLD, far
from coldwarm.stats.selection import starts_in_turns, warm_processes
from coldwarm.stats.summarise import compare_case, figure, headline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.case_list import Case, Options
    from coldwarm.runner.ledger import Ledger

    Wanted = Mapping[CacheMode, Sequence[Case]]
    Expected = Callable[[Case, CacheMode], float]
    _Chosen = dict[CacheMode, dict[str, Case]]


_COMPILING_S = 5.0
_EAGER_S = 1.0
"""For a process like none before it: start, import and two calls, with or without a compiler.
Rather too little: what does not fit after all is cut short, and what never starts is lost."""


@dataclass(frozen=True)
class Estimates:
    """Estimates of a run's costs, from what is known so far."""

    cases: Sequence[Case]
    options: Options
    ledger: Ledger
    known_s: Callable[[Case, CacheMode], float | None]
    """Seconds that a mode's last process of a case ran; ``None``: none did."""

    def expected_s(self, case: Case, mode: CacheMode) -> float:
        """Return the seconds that a mode's next process of a case will probably run.

        Where it has none to go by, its inspection counts, in proportion to those of others; of
        what was not inspected, the same candidate's dearest of the same workload,
        then the median of its other workloads, then what such a backend costs anywhere.
        """
        known = self.known_s(case, mode)
        if known is not None:
            return known
        if case.inspected_s is not None:
            return case.inspected_s * self._of_inspected(mode)
        alike = [other for other in self.cases if other.candidate == case.candidate]
        near = self._measured(alike, mode, case.workload.name)
        if near:
            return max(near)
        far = self._measured(alike, mode)
        if far:
            return statistics.median(far)
        return _COMPILING_S if case.backend.compiles else _EAGER_S

    def _of_inspected(self, mode: CacheMode) -> float:
        """Return how many times as long as its inspection a process runs, as others have shown."""
        ran = [(self.known_s(one, mode), one.inspected_s) for one in self.cases]
        shares = [known / inspected for known, inspected in ran if known and inspected]
        return statistics.median(shares) if shares else 1.0

    def missing(self, members: Sequence[Case], round_: int) -> Wanted:
        """Return, for each mode, the cases that lack their process of a round that all have."""
        alive = [case for case in members if self.ledger.failure(case) is None]
        return {
            mode: [case for case in alive if not self.ledger.done(case, mode, round_)]
            for mode in self.options.cache_modes
        }

    def seconds_left(self) -> float | None:
        """Return the seconds until every case has its ``min_runs``; ``None``: not known yet."""
        total_s, modes = 0.0, self.options.cache_modes
        for case in self.cases:
            if self.ledger.failure(case) is not None:
                continue
            for mode in modes:
                missing = self.options.min_runs - len(self.ledger.good(case, mode))
                one_s = self.known_s(case, mode)
                if missing > 0 and one_s is None:
                    return None
                if mode == FILLED and WARM in modes:
                    continue  # the persistent process shows it by the way
                total_s += max(missing, 0) * (one_s or 0.0)
        return total_s

    def _measured(
        self, cases: Sequence[Case], mode: CacheMode, workload: str | None = None
    ) -> list[float]:
        found = [
            self.known_s(case, mode)
            for case in cases
            if workload is None or case.workload.name == workload
        ]
        return [cost for cost in found if cost is not None]


def _baseline(wanted: Wanted) -> str | None:
    """Return the baseline, where others are wanted beside it."""
    cases = {case.id: case for members in wanted.values() for case in members}
    found = next((case.id for case in cases.values() if case.is_baseline), None)
    return found if len(cases) > 1 else None


def _whole_s(case: Case, modes: Sequence[CacheMode], expected_s: Expected) -> float:
    """Return what a round of a case costs; the persistent process starts with filled caches."""
    shown = FILLED if WARM in modes else None
    return sum(expected_s(case, mode) for mode in modes if mode != shown)


_DEAR = (1.0, 4.0, 16.0)
"""How many times its group's share of the budget a case may take in each turn but the last."""
_GRACE = 0.05
"""The share of the budget by which a process that has been started may exceed it."""


@dataclass(frozen=True)
class Budget:
    """A limit in seconds for the whole run, if there is one, and when the run began."""

    limit_s: float | None
    started_s: float

    @property
    def ends_s(self) -> float | None:
        """When whatever still runs is cut short."""
        return None if self.limit_s is None else self.started_s + (1 + _GRACE) * self.limit_s

    def spent(self, now_s: float) -> bool:
        """Say whether nothing more may be started."""
        return self.limit_s is not None and now_s - self.started_s >= self.limit_s

    def left_s(self, now_s: float) -> float | None:
        """Return the seconds that are left of the limit, if there is one."""
        return None if self.limit_s is None else self.limit_s - (now_s - self.started_s)

    def turns(
        self, rounds: int, tiers: Sequence[Sequence[str]]
    ) -> list[tuple[int, float | None, str]]:
        """Return rounds of groups in their order, and what a case may cost then, in seconds.

        With a limit a tier has its first round in several turns: a case that alone would take
        more than the share of its group waits until the others of the tier have been measured,
        and longer the dearer it is, so that a few slow compilers do not use up the time of all.
        """
        names = [name for tier in tiers for name in tier]
        share_s = None if self.limit_s is None else self.limit_s / max(len(names), 1)
        bounds = [] if share_s is None else [times * share_s for times in _DEAR]
        return [
            *((0, bound, name) for tier in tiers for bound in [*bounds, None] for name in tier),
            *((round_, None, name) for round_ in range(1, rounds) for name in names),
        ]

    def fitting(
        self,
        wanted: Wanted,
        expected_s: Expected,
        now_s: float,
        *,
        at_most_s: float | None = None,
        together: bool = False,
    ) -> Wanted:
        """Return what of a round still fits: cases with all the modes that they want.

        The cheap ones first, so that one slow compiler does not keep the others from their
        precision. ``at_most_s``: none that costs more. ``together``: the baseline only
        beside another, and no other without it.
        """
        if self.limit_s is None:
            return wanted
        left_s = self.left_s(now_s) or 0.0
        costs_s = {
            case.id: _whole_s(case, [mode for mode in wanted if case in wanted[mode]], expected_s)
            for cases in wanted.values()
            for case in cases
        }
        fits = set()
        with_it = _baseline(wanted) if together else None
        if with_it is not None:
            left_s -= costs_s.pop(with_it)
        for name, cost_s in sorted(costs_s.items(), key=lambda item: item[1]):
            if cost_s <= min(left_s, at_most_s or left_s):
                fits.add(name)
                left_s -= cost_s
        if with_it is not None and fits:
            fits.add(with_it)
        return {mode: [case for case in cases if case.id in fits] for mode, cases in wanted.items()}

    def estimate(self, left_s: float | None, now_s: float) -> tuple[float, float | None]:
        """Return the share done, and the seconds left where they are known."""
        spent_s = now_s - self.started_s
        if left_s is None:
            return 0.0, None
        left_s = max(left_s, 0.0)
        return spent_s / (spent_s + left_s) if spent_s + left_s else 1.0, left_s


_SETTLED_DIFFERENT = 0.999
_SETTLED_SAME = 0.99
"""Confidence that settles a verdict before the last look."""
_WARM_FINER = 0.4
"""The precision asked for is that of first results; of warm calls it is so much finer."""


def _rounds_for_figure(case: Case, mode: CacheMode, options: Options, ledger: Ledger) -> int:
    """Return how many more processes a figure is expected to need; 0: it is precise enough."""
    target = options.precision * (_WARM_FINER if mode == WARM else 1.0)
    return intervals.assess(
        _values(mode, ledger.good(case, mode)),
        target=target,
        fewest=min(FEWEST_FOR_CONFIDENCE, options.max_runs),
        most=options.max_runs,
    ).more


def _values(mode: CacheMode, seen: Sequence[Observation]) -> list[float]:
    """Return what a mode's precision is judged by, one figure for each process."""
    if mode == WARM:
        samples = [process.steadiness.samples for process in warm_processes(seen)]
        return group_medians(samples).tolist() if samples else []
    values = [figure(one, headline([one])) for one in seen]
    return [value for value in values if value is not None]


class _Verdict(NamedTuple):
    """What a verdict is expected to need."""

    rounds: int
    """0: it is settled."""
    in_turns: bool = False
    """Whether these are of starts in turns, which tell a ratio by fewer."""


def _for_verdict(
    baseline: Case, case: Case, mode: CacheMode, options: Options, ledger: Ledger
) -> _Verdict:
    """Return how many more rounds a verdict is expected to need, and of what."""
    n = min(len(ledger.good(one, mode)) for one in (baseline, case))
    threshold = _threshold(mode, options)

    def judged(confidence: float) -> Comparison:
        return compare_case(
            baseline.id,
            ledger.of(baseline),
            ledger.of(case),
            [mode],
            alike=starts_alike(baseline.described, case.described),
            threshold=threshold,
            confidence=confidence,
            tested=False,
        )[0]

    different = judged(_SETTLED_DIFFERENT)
    if different.verdict in {"faster", "slower"} or judged(_SETTLED_SAME).verdict == "same":
        return _Verdict(0)

    def predicted(n: int) -> int:
        return _rounds_for(different, n, math.log1p(threshold), options.max_runs)

    sides = (baseline, case)
    alone = max(
        1, (predicted(n) if n >= FEWEST_FOR_CONFIDENCE else _fewest(sides, mode, ledger)) - n
    )
    near = different.ratio is not None and abs(math.log(different.ratio)) < _NEAR
    if not near or not all(_may_take_turns(one, mode, ledger) for one in sides):
        return _Verdict(alone)
    n_turns = min(len(starts_in_turns(ledger.of(one), mode)) for one in sides)
    if n_turns >= FEWEST_FOR_CONFIDENCE:
        return _Verdict(max(1, predicted(n_turns) - n_turns), in_turns=True)
    # Two rounds say little of how starts scatter.
    known = not n_turns and n > FEWEST_FOR_FAR
    if known and max(alone, predicted(n) - n) < FEWEST_FOR_CONFIDENCE:
        return _Verdict(alone)
    return _Verdict(FEWEST_FOR_CONFIDENCE - n_turns, in_turns=True)


def _fewest(sides: Sequence[Case], mode: CacheMode, ledger: Ledger) -> int:
    """Return how many rounds a verdict takes at least: fewer where the two sides are far apart."""
    apart = _apart(*(_values(mode, ledger.good(one, mode)) for one in sides))
    few = range(FEWEST_FOR_FAR, FEWEST_FOR_CONFIDENCE)
    return next((n for n in few if apart > far(n)), FEWEST_FOR_CONFIDENCE)


_NEAR = 0.4
"""Log-ratio up to which starts take turns: the rest of a longer one would run alone."""


def _may_take_turns(case: Case, mode: CacheMode, ledger: Ledger) -> bool:
    """Say whether a start of a case can take turns with others: all of it can be held.

    Not once one has failed in turns, nor where a device computes on while a process is held, nor
    that of a loop, whose steps are timed inside it.
    """
    fine = all(seen.status == "ok" for seen in ledger.of(case) if seen.turns)
    cold = mode in {EMPTY, FILLED}
    return fine and cold and case.device != "gpu" and not case.workload.scenario


def _apart(ones: Sequence[float], others: Sequence[float]) -> float:
    """Return how many times all values of one side lie beyond those of the other; 0: nothing."""
    if not ones or not others:
        return 0.0
    return max(min(ones) / max(others), min(others) / max(ones))


def _threshold(mode: CacheMode, options: Options) -> float:
    """Return the difference that a verdict has to be clear of."""
    threshold = THRESHOLD if options.decide is None else options.decide
    return max(threshold, options.limits.get("warm" if mode == WARM else "cold", 0.0))


def _rounds_for(seen: Comparison, n: int, band: float, most: int) -> int:
    """Return the rounds after which the interval is expected to lie on one side of the band."""
    if not seen.ratio or not seen.low or not seen.high:
        return n + 1  # nothing is known of their scatter
    scatter = (
        math.log(seen.high / seen.low) / 2 / intervals.expected_of_pairs(n, _SETTLED_DIFFERENT)
    )
    away = abs(abs(math.log(seen.ratio)) - band)
    numbers = range(n + 1, most)
    reached = intervals.expected_of_pairs
    return next((k for k in numbers if scatter * reached(k, _SETTLED_DIFFERENT) <= away), most)


_CHEAP = 0.5
"""Share of a case's cost up to which its baseline is measured beside it in any case."""
_DEARER = 1.2
"""Cost of starts in turns over that of starts alone: each turn fills the processor's caches."""
_FIGURE = 0.05
"""Worth of a precise figure, in settled verdicts."""
_ALIKE = 4.0
"""How many times later than the first a need may be met, and be measured in the same round."""


class _Open(NamedTuple):
    """Need of a mode of a case: rounds until its figure is precise, its verdict settled."""

    figure: int
    verdict: _Verdict


class _Item(NamedTuple):
    """A mode of a case that needs more, and its price."""

    case: Case
    mode: CacheMode
    beside: Case | None
    """The baseline that has to be measured with it."""
    cost_s: float
    needs_per_s: float
    in_turns: bool = False

    @property
    def cases(self) -> list[Case]:
        """Cases that are measured for it."""
        return [self.case] if self.beside is None else [self.case, self.beside]


class Chosen(NamedTuple):
    """A round that is worth its time."""

    group: str
    wanted: Wanted
    in_turns: bool


def _to_the_end(items: Sequence[_Item], left_s: float | None) -> list[_Item]:
    """Return the first needs that can all be met in the time, and the first in any case."""
    ends_s = [*accumulate(1 / item.needs_per_s for item in items)]
    left_s = math.inf if left_s is None else left_s
    return [
        one
        for at, (one, end_s) in enumerate(zip(items, ends_s, strict=True))
        if not at or end_s <= left_s
    ]


@dataclass
class RoundChooser:
    """Chooses rounds after those that every case has."""

    groups: Mapping[str, Sequence[Case]]
    options: Options
    ledger: Ledger
    cost_s: Callable[[Case, CacheMode], float]
    """Seconds that a process of a mode of a case is expected to run."""
    shares: Callable[[Case], bool] = lambda _: False
    """Whether a process of a case, by itself, calls the baseline's function beside its own."""
    _asked: Counter[tuple[str, CacheMode, bool]] = field(default_factory=Counter)
    _known: dict[tuple[str, CacheMode, int, int, int], _Open] = field(default_factory=dict)

    def next(self, left_s: float | None) -> Chosen | None:
        """Return the next round; ``None``: nothing is worth it.

        ``left_s`` are the seconds of the budget that are left.
        """
        found = {name: self._items(members, left_s) for name, members in self.groups.items()}
        worth = {name: items for name, items in found.items() if items}
        if self.options.deterministic or not worth:
            return None
        name = max(worth, key=lambda name: worth[name][0].needs_per_s)
        turns = worth[name][0].in_turns
        alike = [item for item in worth[name] if item.in_turns == turns]
        if turns:
            alike = _to_the_end(alike, left_s)
        wanted = self._together(alike, left_s)
        self._asked.update(
            (case.id, mode, turns) for mode, cases in wanted.items() for case in cases
        )
        return Chosen(name, wanted, turns)

    def _items(self, members: Sequence[Case], left_s: float | None) -> list[_Item]:
        """Return what a group needs and can afford, what is met soonest first."""
        alive = [case for case in members if self.ledger.failure(case) is None]
        baseline = next((case for case in alive if case.is_baseline), None)
        items = [
            item
            for case in alive
            for mode in self.options.cache_modes
            if mode != FILLED or not self.ledger.shows_both(case)
            for item in self._of(baseline, case, mode, left_s)
            if left_s is None or item.cost_s <= left_s
        ]
        return sorted(items, key=lambda item: -item.needs_per_s)

    def _of(
        self, baseline: Case | None, case: Case, mode: CacheMode, left_s: float | None
    ) -> Iterator[_Item]:
        """Yield what a mode of a case needs: a round alone, in turns, or both."""
        figure, verdict = self._open(baseline, case, mode)
        if verdict.in_turns:
            if baseline is not None and self._may_ask(case, mode, in_turns=True):
                both_s = _DEARER * (self.cost_s(case, mode) + self.cost_s(baseline, mode))
                worth = 1 / (verdict.rounds * both_s)
                yield _Item(case, mode, baseline, both_s, worth, in_turns=True)
            verdict = _Verdict(0)
        if (figure or verdict.rounds) and self._may_ask(case, mode, in_turns=False):
            yield self._alone(baseline, case, mode, left_s, _Open(figure, verdict))

    def _may_ask(self, case: Case, mode: CacheMode, *, in_turns: bool) -> bool:
        """Say whether there are fewer rounds of a mode than there may be."""
        seen = self.ledger.of(case)
        n_rounds = (
            len(starts_in_turns(seen, mode)) if in_turns else self.ledger.n_rounds(case, mode)
        )
        return max(self._asked[case.id, mode, in_turns], n_rounds) < self.options.max_runs

    def _alone(
        self,
        baseline: Case | None,
        case: Case,
        mode: CacheMode,
        left_s: float | None,
        open_: _Open,
    ) -> _Item:
        rounds = open_.verdict.rounds
        alone_s = self.cost_s(case, mode)
        beside_s = self.cost_s(baseline, mode) if baseline is not None else 0.0
        # Only common rounds tell how totals differ, so a cheap baseline is there in each.
        is_paired = rounds or (not case.is_baseline and beside_s <= _CHEAP * alone_s)
        beside = baseline if is_paired else None
        both_s = alone_s + (beside_s if beside else 0.0)
        if left_s is not None and both_s > left_s and mode == WARM and self.shares(case):
            beside, both_s = None, alone_s
        needs_per_s = (_FIGURE / (open_.figure * alone_s) if open_.figure else 0.0) + (
            1 / (rounds * both_s) if rounds else 0.0
        )
        return _Item(case, mode, beside, both_s, needs_per_s)

    def _open(self, baseline: Case | None, case: Case, mode: CacheMode) -> _Open:
        n = len(self.ledger.good(case, mode))
        n_beside = len(self.ledger.good(baseline, mode)) if baseline else 0
        n_turns = sum(seen.turns > 0 for seen in self.ledger.of(case))
        key = (case.id, mode, n, n_beside, n_turns)
        if key not in self._known:
            figure, verdict = 0, _Verdict(0)
            # Verdicts alone decide, unless there is time to use; of a guard it is the most.
            asked = self.options
            timed = asked.time_budget_s is not None and not asked.limits
            if asked.decide is None or timed:
                figure = _rounds_for_figure(case, mode, self.options, self.ledger)
            if baseline is not None and not case.is_baseline and n < self.options.max_runs:
                verdict = _for_verdict(baseline, case, mode, self.options, self.ledger)
            self._known[key] = _Open(figure, verdict)
        return self._known[key]

    def _together(self, items: Sequence[_Item], left_s: float | None) -> Wanted:
        """Return the round of the first item, and of those that are needed nearly as soon.

        A persistent process shows a start with filled caches by the way; so where a case needs
        both, the second costs next to nothing.
        """
        left_s = math.inf if left_s is None else left_s
        wanted: _Chosen = {mode: {} for mode in self.options.cache_modes}
        soon = [one for one in items if one.needs_per_s * _ALIKE >= items[0].needs_per_s]
        shown = [one for one in items if one not in soon and one.mode in {FILLED, WARM}]
        for item in (*soon, *shown):
            new = [one for one in item.cases if one.id not in wanted[item.mode]]
            cost_s = sum(self._further_s(one, item.mode, wanted) for one in new)
            by_the_way = item.case.id in {**wanted.get(FILLED, {}), **wanted.get(WARM, {})}
            if cost_s <= left_s and (item in soon or by_the_way):
                left_s -= cost_s
                wanted[item.mode] |= {one.id: one for one in new}
        return {mode: list(cases.values()) for mode, cases in wanted.items()}

    def _further_s(self, case: Case, mode: CacheMode, wanted: _Chosen) -> float:
        """Return the seconds that a mode of a case takes beside what is chosen."""
        if mode == FILLED and case.id in wanted.get(WARM, {}):
            return 0.0
        known_s = self.cost_s(case, FILLED) if case.id in wanted.get(FILLED, {}) else 0.0
        return max(0.0, self.cost_s(case, mode) - (known_s if mode == WARM else 0.0))
