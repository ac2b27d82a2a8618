"""Which round comes next: where an open verdict or a wide interval gains most for its seconds.

What a figure or a verdict still needs is expressed in seconds: the rounds until it is precise or
settled, times what a round of it costs. What is met soonest comes first, so that within any time
as many as possible are met: a cheap candidate is repeated often, a dear one as often as its
verdict needs. What is needed nearly as soon is measured in the same round, in random order, and a
verdict always beside its baseline.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.runner.schedule import needs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.schedule.case import Case
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.options import Options

    Wanted = Mapping[CacheMode, Sequence[Case]]
    _Chosen = dict[CacheMode, dict[str, Case]]

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
                figure = needs.of_figure(case, mode, self.options, self.ledger)
            if baseline is not None and not case.is_baseline and n < self.options.max_runs:
                verdict = needs.of_verdict(baseline, case, mode, self.options, self.ledger)
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
