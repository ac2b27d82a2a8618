"""Which round comes next, and how many more a case needs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.stats import distribution
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, group_medians
from coldwarm.stats.ratio import FAR, FEWEST_FOR_FAR, THRESHOLD
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.summarise import compare_case, figure, headline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.options import Options
    from coldwarm.runner.schedule.suites import Case

    Wanted = Mapping[CacheMode, Sequence[Case]]
    _Chosen = dict[CacheMode, dict[str, Case]]


SETTLED_DIFFERENT = 0.999
SETTLED_SAME = 0.99
"""Confidence that settles a verdict before the last look."""
_WARM_FINER = 0.4
"""The precision asked for is that of first results; of warm calls it is so much finer."""


def of_figure(case: Case, mode: CacheMode, options: Options, ledger: Ledger) -> int:
    """Return how many more processes a figure is expected to need; 0: it is precise enough."""
    target = options.precision * (_WARM_FINER if mode == WARM else 1.0)
    return distribution.assess(
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


def of_verdict(
    baseline: Case, case: Case, mode: CacheMode, options: Options, ledger: Ledger
) -> int:
    """Return how many more rounds a verdict is expected to need; 0: it is settled."""
    n = min(len(ledger.good(one, mode)) for one in (baseline, case))
    threshold = _threshold(mode, options)

    def judged(confidence: float) -> Comparison:
        return compare_case(
            baseline.id,
            ledger.of(baseline),
            ledger.of(case),
            [mode],
            threshold=threshold,
            confidence=confidence,
            tested=False,
        )[0]

    different = judged(SETTLED_DIFFERENT)
    if n < FEWEST_FOR_CONFIDENCE and different.verdict == "undecided":
        far = _are_far(*(_values(mode, ledger.good(one, mode)) for one in (baseline, case)))
        return max(1, (FEWEST_FOR_FAR if far else FEWEST_FOR_CONFIDENCE) - n)
    if different.verdict in {"faster", "slower"} or judged(SETTLED_SAME).verdict == "same":
        return 0
    return max(1, _rounds_for(different, n, math.log1p(threshold), options.max_runs) - n)


def _are_far(ones: Sequence[float], others: Sequence[float]) -> bool:
    """Say whether all values of one side lie so far beyond the other's that few rounds tell."""
    if not ones or not others:
        return False
    return max(min(ones) / max(others), min(others) / max(ones)) > FAR


def _threshold(mode: CacheMode, options: Options) -> float:
    """Return the difference that a verdict has to be clear of."""
    threshold = THRESHOLD if options.decide is None else options.decide
    return max(threshold, options.limits.get("warm" if mode == WARM else "cold", 0.0))


def _rounds_for(seen: Comparison, n: int, band: float, most: int) -> int:
    """Return the rounds after which the interval is expected to lie on one side of the band."""
    if not seen.ratio or not seen.low or not seen.high:
        return n + 1  # nothing is known of their scatter
    scatter = (
        math.log(seen.high / seen.low) / 2 / distribution.expected_of_pairs(n, SETTLED_DIFFERENT)
    )
    away = abs(abs(math.log(seen.ratio)) - band)
    numbers = range(n + 1, most)
    reached = distribution.expected_of_pairs
    return next((k for k in numbers if scatter * reached(k, SETTLED_DIFFERENT) <= away), most)


_FIGURE = 0.2
"""What a precise figure is worth, in settled verdicts."""
_ALIKE = 4.0
"""How many times later than the first a need may be met, and be measured in the same round."""


class _Open(NamedTuple):
    """What a mode of a case needs: rounds until its figure is precise, its verdict settled."""

    figure: int
    verdict: int


class _Item(NamedTuple):
    """A mode of a case that needs more, and its price."""

    case: Case
    mode: CacheMode
    beside: Case | None
    """The baseline that has to be measured with it."""
    cost_s: float
    needs_per_s: float

    @property
    def cases(self) -> list[Case]:
        """What is measured for it."""
        return [self.case] if self.beside is None else [self.case, self.beside]


@dataclass
class Effort:
    """Chooses rounds after those that every case has."""

    groups: Mapping[str, Sequence[Case]]
    options: Options
    ledger: Ledger
    cost_s: Callable[[Case, CacheMode], float]
    """Seconds that a process of a mode of a case is expected to run."""
    _asked: Counter[tuple[str, CacheMode]] = field(default_factory=Counter)
    _known: dict[tuple[str, CacheMode, int, int], _Open] = field(default_factory=dict)

    def next(self, left_s: float | None) -> tuple[str, Wanted] | None:
        """Return the group of the next round and what it measures; ``None``: nothing is worth it.

        ``left_s`` are the seconds of the budget that are left.
        """
        found = {name: self._items(members, left_s) for name, members in self.groups.items()}
        worth = {name: items for name, items in found.items() if items}
        if self.options.deterministic or not worth:
            return None
        name = max(worth, key=lambda name: worth[name][0].needs_per_s)
        wanted = self._together(worth[name], left_s)
        self._asked.update((case.id, mode) for mode, cases in wanted.items() for case in cases)
        return name, wanted

    def _items(self, members: Sequence[Case], left_s: float | None) -> list[_Item]:
        """Return what a group needs and can afford, what is met soonest first."""
        alive = [case for case in members if self.ledger.failure(case) is None]
        baseline = next((case for case in alive if case.is_baseline), None)
        items = [
            item
            for case in alive
            for mode in self.options.cache_modes
            if (item := self._item(baseline, case, mode)) is not None
            if left_s is None or item.cost_s <= left_s
        ]
        return sorted(items, key=lambda item: -item.needs_per_s)

    def _item(self, baseline: Case | None, case: Case, mode: CacheMode) -> _Item | None:
        tried = max(self._asked[case.id, mode], self.ledger.n_rounds(case, mode))
        if tried >= self.options.max_runs:
            return None
        open_ = self._open(baseline, case, mode)
        if not any(open_):
            return None
        alone_s = self.cost_s(case, mode)
        beside = baseline if open_.verdict else None
        both_s = alone_s + (self.cost_s(beside, mode) if beside else 0.0)
        needs_per_s = (_FIGURE / (open_.figure * alone_s) if open_.figure else 0.0) + (
            1 / (open_.verdict * both_s) if open_.verdict else 0.0
        )
        return _Item(case, mode, beside, both_s, needs_per_s)

    def _open(self, baseline: Case | None, case: Case, mode: CacheMode) -> _Open:
        n = len(self.ledger.good(case, mode))
        n_beside = len(self.ledger.good(baseline, mode)) if baseline else 0
        key = (case.id, mode, n, n_beside)
        if key not in self._known:
            figure = verdict = 0
            # Verdicts alone decide, unless there is time to use; of a guard it is the most.
            asked = self.options
            timed = asked.time_budget_s is not None and not asked.limits
            if asked.decide is None or timed:
                figure = of_figure(case, mode, self.options, self.ledger)
            if baseline is not None and not case.is_baseline and n < self.options.max_runs:
                verdict = of_verdict(baseline, case, mode, self.options, self.ledger)
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
