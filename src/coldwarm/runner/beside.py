"""Processes beside those that figures are from, to show what another setting would change.

Some keep freed memory and run their blocks among the others'; some start with what their
framework's own settings have kept on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.runner import launch
from coldwarm.runner.process import view
from coldwarm.runner.process.spawn import ProcessFailedError
from coldwarm.runner.running import Running, Slot
from coldwarm.runner.schedule import variants
from coldwarm.stats.plan.costs import EMPTY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.listener import Listener
    from coldwarm.runner.running import Place
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.suites import Case


@dataclass
class Beside:
    """Starts them where they are wanted and the time is not over."""

    place: Place
    ledger: Ledger
    listener: Listener
    late: Callable[[], bool]
    whole: Callable[[Slot], Observation]
    """Measures a process from its start to its end."""
    failed: Callable[[Slot, ProcessFailedError], None]
    """Writes down that a process failed."""
    record: Callable[[Observation], None]
    _filled: dict[str, Path] = field(default_factory=dict)
    """Case to the caches that the framework's own settings have filled."""

    def keeping(self, beside: Running) -> list[Running]:
        """Start a process that keeps memory, to run its blocks beside one that does not."""
        slot, options = beside.slot, self.place.options
        wanted = variants.wants_kept(beside, self.ledger, options)
        if not wanted or self.late():
            return []
        self.listener.process(slot.case.id, "keeping memory", 1, 1)
        attempt = self.ledger.next_attempt(slot.case, WARM, slot.round)
        twin = Slot(
            slot.case,
            WARM,
            slot.round,
            attempt + (slot.mode == WARM),  # the other one, of this mode too, has not ended
            slot.root,
            persistent=True,
            allocator="keeps_memory",
        )
        try:
            running = launch.start(self.place, twin)
        except ProcessFailedError as error:
            self.failed(twin, error)
            return []
        running.process.hold()
        return [running]

    def by_default(self, case: Case, round_: int) -> None:
        """Measure a start with what the framework's own settings have kept."""
        if not variants.wants_default(case, self.ledger, self.place.options, round_):
            return
        root = None if self._over(case) else self._root(case, round_)
        if root is None or self._over(case):
            return
        self.listener.process(case.id, "filled by default", 1, variants.MOST)
        attempt = self.ledger.next_attempt(case, FILLED, round_)
        slot = Slot(case, FILLED, round_, attempt, root, cache_settings="framework_default")
        self.record(self.whole(slot))

    def _over(self, case: Case) -> bool:
        return self.late() or self.ledger.failure(case) is not None

    def _root(self, case: Case, round_: int) -> Path | None:
        """Return caches that the framework's own settings have filled; ``None``: it failed."""
        known = self._filled.get(case.id)
        if known is not None:
            return known
        root = self.place.work / "caches" / f"{case.id}-default"
        view.discard(root)
        root.mkdir(parents=True)
        if not variants.keeps_nothing(case, self.ledger):
            self.listener.process(case.id, "filling its caches by default", 1, 1)
            attempt = self.ledger.next_attempt(case, EMPTY, round_)
            slot = Slot(case, EMPTY, round_, attempt, root, cache_settings="framework_default")
            observation = self.whole(slot)
            if observation.status == "failed":
                self.record(observation)
                return None
        self._filled[case.id] = root
        return root
