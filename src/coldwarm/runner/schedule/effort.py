"""Which round comes next: where an open verdict or a wide interval gains most for its seconds.

What a figure or a verdict still needs is expressed in seconds: the rounds until it is precise or
settled, times what a round of it costs. What is met soonest comes first, so that within any time
as many as possible are met: a cheap candidate is repeated often, a dear one as often as its
verdict needs. What is needed nearly as soon is measured in the same round, in random order, and a
verdict always beside its baseline.
"""

from __future__ import annotations

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
        needs_per_s = (1 / (open_.figure * alone_s) if open_.figure else 0.0) + (
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
        """Return the round of the first item, and of those that are needed nearly as soon."""
        wanted: dict[CacheMode, dict[str, Case]] = {mode: {} for mode in self.options.cache_modes}
        for item in items:
            added = [one for one in (item.case, item.beside) if one is not None]
            new = [one for one in added if one.id not in wanted[item.mode]]
            shown = item.mode == FILLED and all(one.id in wanted.get(WARM, {}) for one in new)
            cost_s = 0.0 if shown else sum(self.cost_s(one, item.mode) for one in new)
            late = item.needs_per_s * _ALIKE < items[0].needs_per_s
            if late or (left_s is not None and cost_s > left_s):
                continue
            left_s = None if left_s is None else left_s - cost_s
            wanted[item.mode] |= {one.id: one for one in new}
        return {mode: list(cases.values()) for mode, cases in wanted.items()}
