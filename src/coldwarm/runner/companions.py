"""Processes beside those that figures are from, to show what another setting would change.

Some keep freed memory and run their blocks among the others', where warm calls cause page faults;
some start with what their framework's own settings have kept, where that is less than was kept.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.observation import published
from coldwarm.runner import isolation, launch
from coldwarm.runner.observe import Running, Slot
from coldwarm.runner.spawn import ProcessFailedError
from coldwarm.stats.costs import EMPTY
from coldwarm.stats.selection import counts, filled_by_default, gives_back, keeping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from coldwarm.contracts.observation import CacheEvidence, Observation
    from coldwarm.runner.case_list import Case, Options
    from coldwarm.runner.ledger import Ledger, Listener
    from coldwarm.runner.observe import RunContext, Running


_MOST = 3
"""Starts with what the framework's own settings keep: enough for an interval."""
_FIGURES_FIRST = 4
_MOST_KEPT = 5
"""Processes that keep memory: enough to judge a difference in spite of noise."""
_THRESHOLDS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_")
"""Variables with which glibc adapts nothing. Another allocator comes by the last one."""
_OTHERS = {"GLIBC_TUNABLES": "glibc.malloc.", "LD_PRELOAD": "alloc"}


def early(options: Options, round_: int) -> bool:
    """Say whether a round comes before any of these, so that a short run has its figures first."""
    return options.time_budget_s is not None and round_ == 0


def _most(most: int, n_figures: int, options: Options) -> int:
    """Return how many there may be beside so many processes that figures are from.

    A time budget is for the figures first.
    """
    return most if options.time_budget_s is None else min(most, 1 + n_figures // _FIGURES_FIRST)


def _wants_kept(running: Running, ledger: Ledger, options: Options) -> bool:
    """Say whether a process that keeps memory is to run its blocks beside this one.

    A deterministic run has one for every process, because its plan may depend on nothing seen.
    """
    case, round_ = running.slot.case, running.slot.round
    kept = keeping(ledger.of(case))
    if case.device == "gpu" or early(options, round_) or not running.start.glibc:
        return False
    most = _most(_MOST_KEPT, len(ledger.good(case, WARM)), options)
    if len(kept) >= most or any(seen.round == round_ for seen in kept):
        return False
    if _thresholds_set({**os.environ, **case.variables}):
        return False
    return options.deterministic or gives_back(running.blocks)


def _thresholds_set(variables: Mapping[str, str]) -> bool:
    """Say whether the allocator was set by variables, or replaced, so that nothing teaches it."""
    if any(variables.get(name) for name in _THRESHOLDS):
        return True
    return any(part in variables.get(name, "") for name, part in _OTHERS.items())


def _wants_default(case: Case, ledger: Ledger, options: Options, round_: int) -> bool:
    """Say whether a start with what the framework's own settings keep is to be measured."""
    seen = filled_by_default(ledger.of(case))
    most = _most(_MOST, len(ledger.good(case, FILLED)), options)
    if early(options, round_) or len(seen) >= most or any(one.round == round_ for one in seen):
        return False
    if any(one.status == "failed" for one in seen):
        return False
    return any(one.kept_by_default in {"some", "none"} for one in compiled(ledger.of(case)))


def _keeps_nothing(case: Case, ledger: Ledger) -> bool:
    """Say whether the framework's own settings keep nothing of what the case compiles."""
    found = [one.kept_by_default for one in compiled(ledger.of(case))]
    return bool(found) and set(found) <= {"none", None}


def compiled(observations: list[Observation]) -> list[CacheEvidence]:
    """Return what is known of the caches of processes that found them empty."""
    return [
        one
        for seen in published(observations)
        if seen.status == "ok" and seen.cache_mode != FILLED and counts(seen, seen.cache_mode)
        for one in seen.evidence
    ]


@dataclass
class Companions:
    """Starts them where they are wanted and the time is not over."""

    place: RunContext
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
        wanted = _wants_kept(beside, self.ledger, options)
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
        if not _wants_default(case, self.ledger, self.place.options, round_):
            return
        root = None if self._over(case) else self._root(case, round_)
        if root is None or self._over(case):
            return
        self.listener.process(case.id, "filled by default", 1, _MOST)
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
        isolation.discard(root)
        root.mkdir(parents=True)
        if not _keeps_nothing(case, self.ledger):
            self.listener.process(case.id, "filling its caches by default", 1, 1)
            attempt = self.ledger.next_attempt(case, EMPTY, round_)
            slot = Slot(case, EMPTY, round_, attempt, root, cache_settings="framework_default")
            observation = self.whole(slot)
            if observation.status == "failed":
                self.record(observation)
                return None
        self._filled[case.id] = root
        return root
