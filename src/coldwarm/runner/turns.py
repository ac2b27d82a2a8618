"""The processes of a round that live side by side: started together, their warm blocks in turn.

A round of warm calls alone says nothing of how its processes came to run. So as many start
together as there are processors for them, which makes time for more rounds.

Processors of one machine may differ in speed for seconds, as where one shares its core with
somebody else's program. Where no candidate of a round needs more than one processor, all of
them run a turn bound to the same one, and the next turn on the next: then their ratio is
theirs, and not the processors'. Only the main thread is bound, where the calls are made.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.runner import launch, observe
from coldwarm.runner.case_list import (
    BLOCK_LIMIT,
    BlockPlan,
    affinity,
    batch_for,
    block_count,
    block_seconds,
    first_count,
)
from coldwarm.runner.spawn import ProcessFailedError
from coldwarm.stats.cautions import UNEVEN
from coldwarm.stats.ratio import scatter
from coldwarm.stats.selection import warmup_s

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.observation import Block
    from coldwarm.runner.case_list import Case
    from coldwarm.runner.observe import Begun, RunContext, Running, Slot

    Shuffle = Callable[[list[Running], int], list[Running]]
    Failed = Callable[[Running, ProcessFailedError], None]


@dataclass
class Starts:
    """The processes of a round that start together, in the order in which they are taken."""

    place: RunContext
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


_FIRST_BLOCK_S = 0.05
_ONE_PROCESSOR = 1.1
"""Processor time over wall clock up to which calls are taken to run in one thread."""


@dataclass
class Turns:
    """Lets the processes of a round run their blocks."""

    place: RunContext
    late: Callable[[], bool]
    """Says whether the time is over: then they end after their first full block."""
    failed: Failed
    _call_s: dict[str, float] = field(default_factory=dict)
    """Case to a rough duration of a warm call."""
    _warmup_s: dict[str, float] = field(default_factory=dict)
    """Case to the shortest warm-up of its processes that became steady: what the program does
    by itself happens in all of them, and what its neighbours do makes it longer in some."""
    _even: set[str] = field(default_factory=set)
    """Cases whose first process has shown no calls that are far slower than most."""
    _scatters: dict[str, list[float]] = field(default_factory=dict)
    """Case to the scatter of its blocks in each round, against those of another process."""

    def first(self, live: list[Running], shuffle: Shuffle) -> list[Running]:
        """Run a first block of each; of a new case to see how long a call takes.

        Returns those that lasted.
        """
        tried = [running for running in shuffle(live, len(live)) if self._tried(running, None)]
        return [running for running in live if running in tried]

    def run(self, live: list[Running], shuffle: Shuffle) -> list[Running]:
        """Alternate the further blocks in random order; return the processes that lasted."""
        one_each = all(_in_one_processor(running.blocks[0]) for running in live)
        counts = self._counts(live)
        allowed = affinity(self.place.options) if one_each else []
        for turn in range(max(counts.values(), default=0)):
            if turn > 0 and self.late():
                break
            bound_to = allowed[turn % len(allowed)] if len(allowed) > 1 else None
            for running in shuffle(live, len(live)):
                if turn < counts[running.slot.case.id] and not self._tried(running, turn, bound_to):
                    live = [other for other in live if other is not running]
        for running in live:
            launch.bind(running, affinity(self.place.options))
        self._learn(live)
        return live

    def _tried(
        self, running: Running, turn: int | None, bound_to: int | None = None
    ) -> Block | None:
        """Run a block, the first one to see how long a call takes; ``None``: it failed."""
        try:
            return self._first(running) if turn is None else self._block(running, bound_to)
        except ProcessFailedError as error:
            self.failed(running, error)
            return None

    def _first(self, running: Running) -> Block:
        if running.slot.case.id in self._call_s:
            return self._block(running, None, _FIRST_BLOCK_S)
        made = self._taken(running, 1, _FIRST_BLOCK_S)
        later = made.samples_s[len(made.samples_s) // 2 :]
        second = running.start.phases[-1]
        # A burst may have struck the only call of the block; the second call is seldom shorter.
        call_s = min(statistics.median(later), (second.end_ns - second.begin_ns) / 1e9)
        self._call_s[running.slot.case.id] = call_s
        return made

    def _seconds(self, running: Running) -> float:
        return block_seconds(self._call_s[running.slot.case.id], self.place.options.block_s)

    def _counts(self, live: Sequence[Running]) -> dict[str, int]:
        """Return how many blocks each case has."""
        options, plan = self.place.options, self._plan(live)
        most_s = options.blocks * options.block_s
        counts = {
            running.slot.case.id: block_count(self._seconds(running), options.blocks, most_s, plan)
            for running in live
        }
        for running in live:
            name = running.slot.case.id
            if self._looks_late(running):
                late = first_count(self._seconds(running), self._call_s[name])
                counts[name] = max(counts[name], late)
        return counts

    def _looks_late(self, running: Running) -> bool:
        """Say whether a process is to show what calls do late.

        The first one of its case is, and all where some calls are far slower than most. Of a
        deterministic run, whose plan depends on nothing seen, those of the first round.
        """
        if self.place.options.deterministic:
            return running.slot.round == 0
        return running.slot.case.id not in self._even

    def _plan(self, live: Sequence[Running]) -> BlockPlan | None:
        """Return what is known of the processes; ``None``: one is the first of its case.

        The plan of a deterministic run depends on nothing seen.
        """
        names = [running.slot.case.id for running in live]
        unknown = any(name not in self._warmup_s or name not in self._scatters for name in names)
        if not live or unknown or self.place.options.deterministic:
            return None
        return BlockPlan(
            start_s=statistics.fmean(running.process.active_s for running in live),
            warmup_s=max(self._warmup_s[name] for name in names),
            scatter=max(statistics.median(self._scatters[name]) for name in names),
        )

    def _learn(self, live: Sequence[Running]) -> None:
        """Keep what the processes have shown, for how many blocks later ones have."""
        for running in live:
            name = running.slot.case.id
            if _is_even(running.blocks):
                self._even.add(name)
            if (warmed_s := warmup_s(running.blocks)) is not None:
                self._warmup_s[name] = min(self._warmup_s.get(name, warmed_s), warmed_s)
            others = [other.blocks for other in live if other is not running]
            seen = scatter(running.blocks, others[0] if others else None)
            if seen is not None:
                self._scatters.setdefault(name, []).append(seen)

    def _block(self, running: Running, bound_to: int | None, at_most_s: float = math.inf) -> Block:
        case = running.slot.case
        batch = batch_for(self._call_s[case.id]) if case.batches else 1
        seconds = min(at_most_s, self._seconds(running))
        if bound_to is not None:
            launch.bind(running, [bound_to])
        return self._taken(running, batch, seconds, bound_to)

    def _taken(
        self, running: Running, batch: int, seconds: float, bound_to: int | None = None
    ) -> Block:
        """Let a process run a block and put it down."""
        reply, order = launch.block(self.place, running, batch, seconds, BLOCK_LIMIT)
        made = observe.block(reply, order, running.process.spawned_ns, bound_to)
        running.blocks.append(made)
        return made


def _is_even(blocks: Sequence[Block]) -> bool:
    """Say whether the later half of the calls take about as long on average as in the middle."""
    samples = [sample for block in blocks for sample in block.samples_s]
    later = samples[len(samples) // 2 :]
    return bool(later) and statistics.fmean(later) <= UNEVEN * statistics.median(later)


def _in_one_processor(block: Block) -> bool:
    """Say whether the calls of a block used no more than one processor."""
    return (
        block.cpu_s is not None
        and block.wall_s is not None
        and block.cpu_s <= _ONE_PROCESSOR * block.wall_s
    )
