"""The rounds that every case has, what each will cost, and what of them fits into the time."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.options import Options
    from coldwarm.runner.schedule.suites import Case

    Wanted = Mapping[CacheMode, Sequence[Case]]
    Cost = Callable[[Case, CacheMode], float | None]
    Expected = Callable[[Case, CacheMode], float]


ENDED = {"event": "ended"}
"""What the journal says where a part of a run came to its own end."""


def given(total_s: float | None) -> dict[str, Any]:
    """Return what the journal says of the time that a resumed run has in all."""
    return {"event": "budget", "total_s": total_s}


def total_s(
    events: Sequence[Mapping[str, Any]],
    recorded_s: float | None,
    used_s: float,
    more_s: float | None,
) -> float | None:
    """Return the seconds that a run has in all, those used already included.

    ``more_s`` is what was asked for now, for what is still to come. Without it, a run that was
    interrupted has what was left of its budget, and one that had come to its own end has the
    budget it was begun with once more. ``None``: no limit.
    """
    if more_s is not None:
        return used_s + more_s
    if recorded_s is None:
        return None
    if events and events[-1] == ENDED:
        return used_s + recorded_s
    budgets = [event["total_s"] for event in events if event.get("event") == "budget"]
    return budgets[-1] if budgets and budgets[-1] is not None else recorded_s


COMPILING_S = 5.0
EAGER_S = 1.0
"""For a process like none before it: start, import and two calls, with or without a compiler.
Rather too little: what does not fit after all is cut short, and what never starts is lost."""


@dataclass(frozen=True)
class Estimates:
    """What is known of a run's costs, and what that says of the rest."""

    cases: Sequence[Case]
    known_s: Callable[[Case, CacheMode], float | None]
    """Seconds that a mode's last process of a case ran; ``None``: none did."""

    def expected_s(self, case: Case, mode: CacheMode) -> float:
        """Return the seconds that a mode's next process of a case will probably run.

        Where it has none to go by, the same candidate's dearest of the same workload counts,
        then the median of its other workloads, then what such a backend costs anywhere.
        """
        known = self.known_s(case, mode)
        if known is not None:
            return known
        if case.inspected_s is not None:
            return case.inspected_s
        alike = [other for other in self.cases if other.candidate == case.candidate]
        near = self._measured(alike, mode, case.workload.name)
        if near:
            return max(near)
        far = self._measured(alike, mode)
        if far:
            return statistics.median(far)
        return COMPILING_S if case.backend.compiles else EAGER_S

    def _measured(
        self, cases: Sequence[Case], mode: CacheMode, workload: str | None = None
    ) -> list[float]:
        found = [
            self.known_s(case, mode)
            for case in cases
            if workload is None or case.workload.name == workload
        ]
        return [cost for cost in found if cost is not None]


def wanting(cases: Sequence[Case], options: Options, ledger: Ledger) -> Wanted:
    """Return, for each mode, the cases that want a round which every case has."""
    alive = [case for case in cases if ledger.failure(case) is None]
    return dict.fromkeys(options.cache_modes, alive)


def left(cases: Sequence[Case], options: Options, ledger: Ledger, cost_s: Cost) -> float | None:
    """Return the seconds until every case has its ``min_runs``; ``None``: not known yet."""
    total_s = 0.0
    for case in cases:
        if ledger.failure(case) is not None:
            continue
        for mode in options.cache_modes:
            missing = options.min_runs - len(ledger.good(case, mode))
            one_s = cost_s(case, mode)
            if missing > 0 and one_s is None:
                return None
            if mode == "cold_process_warm_cache" and "warm_process" in options.cache_modes:
                continue  # the persistent process shows it by the way
            total_s += max(missing, 0) * (one_s or 0.0)
    return total_s


def _baseline(wanted: Wanted) -> str | None:
    """Return the baseline, where others are wanted beside it."""
    cases = {case.id: case for members in wanted.values() for case in members}
    found = next((case.id for case in cases.values() if case.is_baseline), None)
    return found if len(cases) > 1 else None


def _whole_s(case: Case, modes: Sequence[CacheMode], expected_s: Expected) -> float:
    """Return what a round of a case costs; the persistent process starts with filled caches."""
    shown = "cold_process_warm_cache" if "warm_process" in modes else None
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
