"""Starts of which nothing is asked, several at the same time.

A round of warm calls alone needs processes that run, and says nothing of how they came to. So as
many start together as there are processors for them, which makes time for more rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.runner import launch
from coldwarm.runner.schedule.options import affinity

if TYPE_CHECKING:
    from coldwarm.runner.running import Begun, Place, Running, Slot
    from coldwarm.runner.schedule.suites import Case


@dataclass
class Starts:
    """The processes of a round that start together, in the order in which they are taken."""

    place: Place
    waiting: list[Slot]
    _begun: dict[str, Begun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Leave alone what could only start by itself."""
        at_once = len(affinity(self.place.options))
        if len(self.waiting) == 1 or at_once == 1:
            self.waiting = []
        self._at_once = at_once

    def slot(self, case: Case) -> Slot | None:
        """Return the slot in which a case starts beside others, if it does."""
        self._begin()
        begun = self._begun.get(case.id)
        return None if begun is None else begun.slot

    def first_results(self, slot: Slot) -> Running:
        """Wait for the first results of a slot, which may have been started before.

        Raises:
            ProcessFailedError: it gave none.
        """
        begun = self._begun.pop(slot.case.id, None)
        if begun is None:
            return launch.start(self.place, slot)
        return launch.first_results(self.place, begun, together=True)

    def cancel(self) -> None:
        """End what was started and not taken."""
        while self._begun:
            launch.cancel(self.place, self._begun.popitem()[1])

    def _begin(self) -> None:
        while self.waiting and len(self._begun) < self._at_once:
            slot = self.waiting.pop(0)
            self._begun[slot.case.id] = launch.begin(self.place, slot)
