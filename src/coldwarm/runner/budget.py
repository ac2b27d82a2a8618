"""How much more to measure: precision reached, time left. Pure, on the clock's seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.stats import precision
from coldwarm.stats.selection import warm_processes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.ledger import Ledger
    from coldwarm.runner.plan import Case, Options


def wanting(case: Case, round_: int, options: Options, ledger: Ledger) -> bool:
    """Say whether a case needs round ``round_`` (counted from 0).

    A deterministic run measures ``min_runs`` rounds, whatever they give, so that its plan
    depends on nothing but its options.
    """
    if ledger.failure(case) is not None or round_ >= options.max_runs:
        return False
    if round_ < options.min_runs:
        return True
    return not options.deterministic and not reached(case, options, ledger)


def reached(case: Case, options: Options, ledger: Ledger) -> bool:
    """Say whether every mode of a case has the precision that was asked for."""
    return all(
        precision.plan(
            _values(mode, ledger.good(case, mode)),
            target=options.precision,
            fewest=options.min_runs,
            most=options.max_runs,
            seed=options.seed,
        ).met
        for mode in options.cache_modes
    )


def _values(mode: CacheMode, seen: Sequence[Observation]) -> list[Sequence[float]]:
    """Return what a mode's precision is judged by, one group for each process."""
    if mode == "warm_process":
        return [process.steadiness.samples for process in warm_processes(seen)]
    return [[one.ttfr_s] for one in seen if one.ttfr_s is not None]


@dataclass
class Budget:
    """What rounds took so far, and so whether another one fits."""

    limit_s: float | None
    started_s: float
    _last_s: dict[str, float] = field(default_factory=dict)

    def took(self, group: str, seconds: float) -> None:
        """Note what a group's round took."""
        self._last_s[group] = seconds

    def allows(self, group: str, now_s: float) -> bool:
        """Say whether another round of a group fits; the first one always does."""
        if self.limit_s is None or group not in self._last_s:
            return True
        return now_s - self.started_s + self._last_s[group] <= self.limit_s

    def estimate(
        self, groups: Sequence[str], rounds_done: int, rounds_wanted: int, now_s: float
    ) -> tuple[float, float | None]:
        """Return the share done, and the seconds left where every group has been timed."""
        spent_s = now_s - self.started_s
        total = len(groups) * rounds_wanted
        if not total:
            return 1.0, 0.0
        if len(self._last_s) < len(groups):
            return min(rounds_done / total, 1.0), None
        left = max(total - rounds_done, 0)
        left_s = left * sum(self._last_s.values()) / len(groups)
        if self.limit_s is not None:
            left_s = min(left_s, max(self.limit_s - spent_s, 0.0))
        return spent_s / (spent_s + left_s) if spent_s + left_s else 1.0, left_s
