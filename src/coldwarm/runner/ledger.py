"""What a run has so far: observations by case, failures, and what is already done."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.plan import Case


class Ledger:
    """Observations in the order they came; one of a later attempt does not erase another."""

    def __init__(self, observations: Iterable[Observation] = ()) -> None:
        """Start with what a journal held."""
        self._by_case: dict[str, dict[tuple[str, int, int], Observation]] = defaultdict(dict)
        for observation in observations:
            self.add(observation)

    def add(self, observation: Observation) -> None:
        """Add an observation; the end of a process replaces what its start had said."""
        key = (observation.cache_mode, observation.round, observation.attempt)
        self._by_case[observation.case][key] = observation

    def of(self, case: Case) -> list[Observation]:
        """Return a case's observations."""
        return list(self._by_case[case.id].values())

    def failure(self, case: Case) -> Observation | None:
        """Return the observation that made a case fail."""
        return next((seen for seen in self.of(case) if seen.status == "failed"), None)

    def good(self, case: Case, mode: CacheMode) -> list[Observation]:
        """Return the observations that are valid for a mode."""
        return counted(self.of(case), mode)

    def done(self, case: Case, mode: CacheMode, round_: int) -> bool:
        """Say whether a mode's process of a round is there."""
        return any(seen.round == round_ for seen in self.good(case, mode))

    def next_attempt(self, case: Case, mode: CacheMode, round_: int) -> int:
        """Return the number of the next attempt at a process."""
        tried = [s.attempt for s in self.of(case) if (s.cache_mode, s.round) == (mode, round_)]
        return max(tried, default=-1) + 1
