"""One round of one group: every candidate cold, then all of them warm, interleaved.

A round gives each candidate one observation of each cache mode. The process that starts
with empty caches fills them; the one that starts with those filled caches is persistent, and its
warm blocks alternate with the other candidates' in random order. So no process is started
only to prepare another, and the machine's drift falls on all candidates alike. A process
that waits for its turn is stopped by signal: it uses no processor.

A round of warm calls alone says nothing of how its processes came to run. So as many start
together as there are processors for them, which makes time for more rounds.

Processors of one machine may differ in speed for seconds, as where one shares its core with
somebody else's program. Where no candidate of a round needs more than one processor, all of
them run a turn bound to the same one, and the next turn on the next: then their ratio is
theirs, and not the processors'. Only the main thread is bound, where the calls are made.

Beside the processes that figures are from, others show what another setting would change. Some keep
freed memory and run their blocks among the others', where warm calls cause page faults; some start
with what their framework's own settings have kept, where that is less than was kept.
"""

from __future__ import annotations

import math
import os
import random
import signal
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from coldwarm.caches import modes
from coldwarm.contracts.base import EMPTY, FILLED, WARM, CacheMode
from coldwarm.contracts.observation import published
from coldwarm.runner import isolation, launch, ledger
from coldwarm.runner.case_list import (
    BLOCK_LIMIT,
    batch_for,
    block_seconds,
    planned_calls,
)
from coldwarm.runner.harness import MOST_TRIES
from coldwarm.runner.identifying import observation_without
from coldwarm.runner.launch import Running, Slot
from coldwarm.runner.ledger import used_s
from coldwarm.runner.spawn import ENDING, ProcessFailedError
from coldwarm.runner.starts_in_turns import StartsInTurns
from coldwarm.stats.cautions import UNEVEN
from coldwarm.stats.intervals import MEDIAN_ERROR
from coldwarm.stats.ratio import scatter
from coldwarm.stats.selection import (
    counts,
    filled_by_default,
    gives_back,
    is_beside,
    keeping,
    warmup_s,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.observation import Block, CacheEvidence, Observation
    from coldwarm.runner.case_list import Case, Options
    from coldwarm.runner.directory import RunDirectory
    from coldwarm.runner.launch import Begun, RunContext
    from coldwarm.runner.ledger import Ledger, Listener

    Shuffle = Callable[[list[Running], int], list[Running]]
    Failed = Callable[[Running, ProcessFailedError], None]


_MAX_ATTEMPTS = 3
_ENOUGH = 2
"""Processes in which every call compiled, after which no other would do otherwise."""
_OTHER_CALLS: dict[bool, tuple[int, ...]] = {False: (0, 1, 2), True: (0, 5, 7)}
"""Processes of a case that show what calls take that the timed loop does not make: a third of a
second in each, and what most of three show is not by chance. Within a time budget (``True``) all
but one wait until there may be a verdict."""
_COLD_ORDER: tuple[CacheMode, ...] = (
    "first_ever",
    EMPTY,
    FILLED,
)


_INTERRUPTING = {signal.SIGINT, *ENDING}


@dataclass
class Rounds:
    """Measures rounds; writes every observation down as it arrives."""

    place: RunContext
    directory: RunDirectory
    ledger: Ledger
    listener: Listener
    late: Callable[[], bool] = bool
    """Says whether the time is over, so that nothing more may be started."""
    _filled: dict[str, Path] = field(default_factory=dict)
    """Case to the cache directory that its last process with empty caches has filled."""
    _filled_by_default: dict[str, Path] = field(default_factory=dict)
    """Case to the caches that the framework's own settings have filled."""
    _hidden: defaultdict[str, frozenset[str]] = field(
        default_factory=lambda: defaultdict(frozenset)
    )
    """Case to the files that a process of it read and an earlier one had written."""
    _made: set[str] = field(default_factory=set)
    """Cases whose artifacts were made in this part of the run."""
    _cost_s: dict[tuple[str, CacheMode], float] = field(default_factory=dict)
    _staying: Sequence[Case] = ()
    """Cases that have warm blocks in this round."""
    _baselines: dict[str, Case] = field(default_factory=dict)
    """Group to its baseline, once it was measured."""
    _killed: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Case and round to its processes that were killed from outside in this part of the run."""

    def measure(
        self,
        group: str,
        wanted: Mapping[CacheMode, Sequence[Case]],
        round_: int,
        *,
        in_turns: bool = False,
    ) -> None:
        """Measure one round of a group: of each mode, the cases that still want it.

        ``in_turns``: their starts, which take turns.
        """
        shuffle = random.Random(f"{self.place.options.seed} {round_} {group}").sample  # noqa: S311 - an order, not a secret
        if in_turns:
            for mode, cases in wanted.items():
                self._in_turns(cases[:: 1 if round_ % 2 else -1], mode, round_)
            return
        for mode, cases in wanted.items():
            for case in cases:
                if not self.ledger.done(case, mode, round_):
                    self._make(case, round_)
        self._staying = staying = wanted.get(WARM, ())
        self._baselines |= {case.group: case for case in staying if case.is_baseline}
        for mode in _COLD_ORDER:
            cases = [
                case
                for case in wanted.get(mode, ())
                # A persistent process shows its start with filled caches by the way.
                if mode != FILLED or case not in staying
            ]
            for case in shuffle(cases, len(cases)):
                self._cold(case, mode, round_)
        for case in shuffle(list(filled := wanted.get(FILLED, ())), len(filled)):
            self._by_default(case, round_)
        for _ in range(_MAX_ATTEMPTS):
            self._warm(shuffle(list(staying), len(staying)), round_, shuffle)

    def __post_init__(self) -> None:
        """Prepare the turns of the warm blocks."""
        self._turns = _Turns(self.place, self.late, self._dropped_out)

    def cost_s(self, case: Case, mode: CacheMode) -> float | None:
        """Return the seconds that a mode's last process of a case ran; ``None``: none did."""
        if mode == FILLED and self.ledger.shows_both(case):
            return 0.0
        known = self._cost_s.get((case.id, mode))
        if known is not None:
            return known
        seen = self.ledger.good(case, mode)  # of a run that goes on: what its earlier part saw
        return used_s(seen[-1]) if seen else None

    def _make(self, case: Case, round_: int) -> None:
        """Make what the case's processes load, once; where that fails, the case has failed."""
        done = case.id in self._made or self.ledger.failure(case) is not None
        if not case.backend.prepares or done or self.late():
            return
        self.listener.process(case.id, "making what it loads", 1, 1)
        try:
            made = ledger.retry_killed(lambda: self.place.make_artifacts(case), ProcessFailedError)
        except ProcessFailedError as error:
            self.fail(case, error, round_)
            return
        self._made.add(case.id)
        self.directory.append("making", made)
        self.ledger.add_making(made)

    def fail(self, case: Case, error: ProcessFailedError, round_: int = 0) -> None:
        """Write down that a case failed before any of its measured processes."""
        mode = self.place.options.cache_modes[0]
        self._record(self._failed(self._attempt(case, mode, round_, self.place.work), error))

    def _failure(
        self, slot: Slot, error: ProcessFailedError, running: Running | None = None
    ) -> Observation:
        """End a process that failed; return its observation, which says if it is tried again.

        Raises:
            StorageError: as ``_failed``.
        """
        seen = self._failed(slot, error, running)
        if not ledger.killed_from_outside(error.reason):
            return seen
        self._killed[slot.case.id, slot.round] += 1
        late = self._killed[slot.case.id, slot.round] >= MOST_TRIES
        return seen if late else ledger.as_tried(seen)

    def _failed(
        self, slot: Slot, error: ProcessFailedError, running: Running | None = None
    ) -> Observation:
        """End a process that failed, and return its observation.

        Raises:
            StorageError: it failed because the disk is full: that is nobody's result.
        """
        place, wall_s = self.place, error.wall_s
        if running is not None:
            running.abandon()
            wall_s = running.process.wait().wall_s
        isolation.check_disk(place.work, f"{error.reason}\n{error.detail}")
        order = error.order if running is None else running.order
        if order is None:  # there was no process
            order = max(len(place.order) - 1, 0)
        return slot.failed(error, place.clock.date(), order, wall_s)

    def _record(self, observation: Observation) -> None:
        if self.place.options.leave_out_private:
            observation = observation_without(observation)
        # An interruption in between would leave files that say less than the journal.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTING)
        try:
            self.directory.append("observation", observation)
            self.ledger.add(observation)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if not is_beside(observation):
            mode = WARM if observation.blocks else observation.cache_mode
            self._cost_s[observation.case, mode] = used_s(observation)
        self.listener.observed(observation)

    def _attempt(
        self,
        case: Case,
        mode: CacheMode,
        round_: int,
        root: Path,
        **kind: Any,  # noqa: ANN401 - what a slot has besides
    ) -> Slot:
        """Return the next attempt at a process, with caches under ``root``."""
        number = self.ledger.next_attempt(case, mode, round_)
        return Slot(case, mode, round_, number, root, **kind)

    def _slot(self, case: Case, mode: CacheMode, round_: int, *, persistent: bool) -> Slot:
        number = len(self.ledger.good(case, mode)) + 1
        self.listener.process(case.id, mode, number, self.place.options.max_runs)
        stayed = len(self.ledger.good(case, WARM))
        shows = _OTHER_CALLS[self.place.options.time_budget_s is not None]
        slot = self._attempt(
            case,
            mode,
            round_,
            self.place.work,
            persistent=persistent,
            analyse=persistent and stayed == 0,
            other_calls=stayed in shows if persistent else self._shows_alone(case, mode),
            shared=self._shared(case) if persistent else (),
            hidden=self._hidden[case.id] | case.hidden,
        )
        root = self.place.work / "caches" / f"{case.id}-{round_}-{mode}-{slot.attempt}"
        if mode == FILLED:
            root = self._filled[case.id]
        elif mode == WARM:  # nothing is asked of its start, so it may be a quick one
            root = self._filled.get(case.id) or case.filled or root
        return replace(slot, root=root)

    def _shows_alone(self, case: Case, mode: CacheMode) -> bool:
        """Say whether the first process of a mode shows other calls: none with blocks will."""
        modes = self.place.options.cache_modes
        return WARM not in modes and mode == modes[0] and not self.ledger.good(case, mode)

    def _shared(self, case: Case) -> tuple[Case, ...]:
        """Return the candidates whose functions a process of the case calls beside its own.

        Within a time budget the baseline's is called also where there is no time for a process of
        it in the round.
        """
        if self.place.options.deterministic or not self.place.options.calls_together:
            return ()
        if self.place.options.time_budget_s is not None and self.shares(case):
            return (self._baselines[case.group],)
        return tuple(
            other
            for other in self._staying
            if other.is_baseline != case.is_baseline
            if _may_share(case, other, self.ledger)
        )

    def shares(self, case: Case) -> bool:
        """Say whether a process of a case can call the baseline's function beside its own."""
        baseline = self._baselines.get(case.group)
        if not self.place.options.calls_together:
            return False
        if baseline is None or baseline is case or self.ledger.failure(baseline) is not None:
            return False
        return not case.is_baseline and _may_share(case, baseline, self.ledger)

    def _cold(self, case: Case, mode: CacheMode, round_: int) -> None:
        """Measure one process that ends after its second call; retry a rejected one."""
        while self._may_try(case, mode, round_):
            if self.ledger.done(case, mode, round_):
                return
            if mode == FILLED and not self._fill(case, round_):
                return
            slot = self._slot(case, mode, round_, persistent=False)
            observation = self._whole(slot)
            self._hidden[case.id] |= launch.files_of_earlier(observation)
            self._record(observation)
            filled = mode == EMPTY and observation.status == "ok"
            if filled:
                self._keep(slot)
            elif mode != FILLED or observation.status != "ok":
                self._drop(slot)

    def _in_turns(self, cases: Sequence[Case], mode: CacheMode, round_: int) -> None:
        """Measure starts that take turns, the first to begin being another one in each round.

        What begins later runs faster by one or two percent, as the first one has read its files.
        """
        if not all(mode != FILLED or self._fill(case, round_) for case in cases):
            return
        with StartsInTurns(self.place) as starts:
            for case in cases:
                slot = self._slot(case, mode, round_, persistent=False)
                starts.begin(replace(slot, other_calls=False))
            for one in starts.run():
                self._record(msgspec.structs.replace(self._of_turns(one), turns=one.turns))
                if mode != FILLED:
                    self._drop(one.slot)

    def _of_turns(self, one: Begun) -> Observation:
        running = None
        try:
            running = StartsInTurns.first_results(one)
            running.finish()
        except ProcessFailedError as error:
            return self._failure(one.slot, error, running)
        return running.observation()

    def _may_try(self, case: Case, mode: CacheMode, round_: int) -> bool:
        """Say whether a mode's process of a round may be started, for the first time or again."""
        contradicted = self.ledger.contradicted(case, mode, round_)
        fine = self.ledger.failure(case) is None and contradicted < _MAX_ATTEMPTS
        hopeless = mode == WARM and self.ledger.refuted(case, mode, modes.EVERY_CALL) >= _ENOUGH
        return fine and not hopeless and not self.late()

    def _keep(self, slot: Slot) -> None:
        """Keep the caches that a process has filled, instead of those from before."""
        before = self._filled.get(slot.case.id)
        if before is not None:
            isolation.discard(before)
        self._filled[slot.case.id] = slot.root

    def _drop(self, slot: Slot) -> None:
        """Remove the caches of a process, so that none starts with them again."""
        if slot.root == slot.case.filled:
            return
        if self._filled.get(slot.case.id) == slot.root:
            del self._filled[slot.case.id]
        isolation.discard(slot.root)

    def _whole(self, slot: Slot) -> Observation:
        running = None
        try:
            running = self.place.start(slot)
            running.finish()
        except ProcessFailedError as error:
            return self._failure(slot, error, running)
        return running.observation()

    def _fill(self, case: Case, round_: int) -> bool:
        """Make sure that there are filled caches, by a run that is thrown away if need be."""
        if case.id in self._filled:
            return True
        if case.filled is not None:
            self._filled[case.id] = case.filled
            return True
        root = self.place.work / "caches" / f"{case.id}-{round_}-fill"
        while True:
            isolation.discard(root)
            root.mkdir(parents=True)
            self.listener.process(case.id, "filling its caches", 1, 1)
            hidden = self._hidden[case.id] | case.hidden
            observation = self._whole(self._attempt(case, EMPTY, round_, root, hidden=hidden))
            if observation.status != "failed" and not ledger.killed_from_outside(
                observation.reason
            ):
                self._filled[case.id] = root
                return True
            self._record(observation)
            if observation.status == "failed" or self.late():
                return False

    def _warm(
        self,
        cases: Sequence[Case],
        round_: int,
        shuffle: Callable[[list[Running], int], list[Running]],
    ) -> None:
        """Start every candidate that lacks its warm process, alternate blocks, end them."""
        live: list[Running] = []
        starts = _Starts(self.place, self._together(cases, round_))
        try:
            for case in cases:
                running = self._stay(case, round_, starts)
                if running is not None:
                    live.append(running)
            live = self._turns.first(live, shuffle)
            plain = list(live)
            for running in plain:
                live += self._keeping(running)
            beside = [one for one in live if one not in plain]
            live = plain + self._turns.first(beside, shuffle)
            live = self._turns.run(live, shuffle)
            # What comes after the last words is timed alone.
            if not any(one.slot.other_calls or one.slot.shared for one in live):
                for running in live:
                    running.ask_to_end()
            while live:  # those beside first, as they use the caches of the plain ones
                self._end(live.pop(), n_later=len(live))
        finally:
            starts.cancel()
            for running in live:
                running.abandon()

    def _together(self, cases: Sequence[Case], round_: int) -> list[Slot]:
        """Return the slots that may start together: only their warm calls are asked for.

        Not on a GPU, whose memory each start may take, and not where first calls use all
        processors: with those of another process beside them they take many times as long.
        """
        if any(case.device == "gpu" or case.in_threads for case in cases):
            return []
        return [
            self._slot(case, WARM, round_, persistent=True)
            for case in cases
            if not self._shows_start(case, round_)
            if not self.ledger.done(case, WARM, round_) and self._may_try(case, WARM, round_)
        ]

    def _shows_start(self, case: Case, round_: int) -> bool:
        """Say whether the persistent process of a round shows a start with filled caches.

        A round has one; another try at the blocks needs none.
        """
        asked = FILLED in self.place.options.cache_modes
        return (
            asked
            and not self.ledger.done(case, FILLED, round_)
            and self._may_try(case, FILLED, round_)
        )

    def _stay(self, case: Case, round_: int, starts: _Starts) -> Running | None:
        """Start a persistent process, held; its start is an observation of its own."""
        filled = self._shows_start(case, round_)
        mode = FILLED if filled else WARM
        while self._may_try(case, mode, round_):
            if self.ledger.done(case, WARM, round_):
                return None
            if filled and not self._fill(case, round_):
                return None
            slot = starts.slot(case) or self._slot(case, mode, round_, persistent=True)
            try:
                running = starts.first_results(slot)
            except ProcessFailedError as error:
                self._record(self._failure(slot, error))
                self._drop(slot)
                continue
            running.process.let_helpers_start()
            running.process.hold()
            observation = running.observation()
            if observation.status != "ok":  # else its end says all, and that its answer was right
                self._record(observation)
            if observation.status == "ok":
                return running
            running.abandon()
            self._drop(slot)
        return None

    def _dropped_out(self, running: Running, error: ProcessFailedError) -> None:
        self._record(self._failure(running.slot, error, running))
        if running.slot.allocator != "keeps_memory":  # else they are of the process beside it
            self._drop(running.slot)

    def _end(self, running: Running, n_later: int) -> None:
        try:
            running.finish(n_later)
        except ProcessFailedError as error:
            observation = self._failure(running.slot, error, running)
        else:
            observation = running.observation()
        self._record(observation)
        kept = self._filled.get(running.slot.case.id) == running.slot.root
        if running.slot.allocator != "keeps_memory" and (observation.status != "ok" or not kept):
            self._drop(running.slot)

    def _keeping(self, beside: Running) -> list[Running]:
        """Start a process that keeps memory, to run its blocks beside one that does not."""
        slot = beside.slot
        if not _wants_kept(beside, self.ledger, self.place.options) or self.late():
            return []
        self.listener.process(slot.case.id, "keeping memory", 1, 1)
        twin = self._attempt(
            slot.case, WARM, slot.round, slot.root, persistent=True, allocator="keeps_memory"
        )
        if slot.mode == WARM:  # the other one, of this mode too, has not ended
            twin = replace(twin, attempt=twin.attempt + 1)
        try:
            running = self.place.start(twin)
        except ProcessFailedError as error:
            self._record(self._failure(twin, error))
            return []
        running.process.hold()
        return [running]

    def _by_default(self, case: Case, round_: int) -> None:
        """Measure a start with what the framework's own settings have kept."""
        if not _wants_default(case, self.ledger, self.place.options, round_):
            return
        root = None if self._over(case) else self._default_root(case, round_)
        if root is None or self._over(case):
            return
        self.listener.process(case.id, "filled by default", 1, _MOST)
        slot = self._attempt(case, FILLED, round_, root, cache_settings="framework_default")
        self._record(self._whole(slot))

    def _over(self, case: Case) -> bool:
        return self.late() or self.ledger.failure(case) is not None

    def _default_root(self, case: Case, round_: int) -> Path | None:
        """Return caches that the framework's own settings have filled; ``None``: it failed."""
        known = self._filled_by_default.get(case.id)
        if known is not None:
            return known
        root = self.place.work / "caches" / f"{case.id}-default"
        isolation.discard(root)
        root.mkdir(parents=True)
        if not _keeps_nothing(case, self.ledger):
            self.listener.process(case.id, "filling its caches by default", 1, 1)
            slot = self._attempt(case, EMPTY, round_, root, cache_settings="framework_default")
            observation = self._whole(slot)
            if observation.status == "failed":
                self._record(observation)
                return None
        self._filled_by_default[case.id] = root
        return root


@dataclass
class _Starts:
    """The processes of a round that start together, in the order in which they are taken."""

    place: RunContext
    waiting: list[Slot]
    _begun: dict[str, Begun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Leave alone what could only start by itself."""
        at_once = len(self.place.options.affinity)
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
            return self.place.start(slot)
        return begun.first_results(together=True)

    def cancel(self) -> None:
        """End what was started and not taken."""
        while self._begun:
            self._begun.popitem()[1].cancel()

    def _begin(self) -> None:
        while self.waiting and len(self._begun) < self._at_once:
            slot = self.waiting.pop(0)
            self._begun[slot.case.id] = self.place.begin(slot)


_FIRST_BLOCK_S = 0.05
_ONE_PROCESSOR = 1.1
"""Processor time over wall clock up to which calls are taken to run in one thread."""


@dataclass
class _Turns:
    """Lets the processes of a round run their blocks."""

    place: RunContext
    late: Callable[[], bool]
    """Says whether the time is over: then they end after their first full block."""
    failed: Failed
    _call_s: dict[str, float] = field(default_factory=dict)
    """Case to a rough duration of a warm call."""
    _planned_s: dict[str, float] = field(default_factory=dict)
    """Case to the duration that its blocks are planned with in this round."""
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
        names = [running.slot.case.id for running in live]
        self._planned_s = planned_calls({name: self._call_s[name] for name in names})
        one_each = all(_in_one_processor(running.blocks[0]) for running in live)
        counts = self._counts(live)
        allowed = self.place.options.affinity if one_each else []
        for turn in range(max(counts.values(), default=0)):
            if turn > 0 and self.late():
                break
            bound_to = allowed[turn % len(allowed)] if len(allowed) > 1 else None
            for running in shuffle(live, len(live)):
                if turn < counts[running.slot.case.id] and not self._tried(running, turn, bound_to):
                    live = [other for other in live if other is not running]
        for running in live:
            running.bind(self.place.options.affinity)
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
        made = running.block(1, _FIRST_BLOCK_S, BLOCK_LIMIT)
        later = made.samples_s[len(made.samples_s) // 2 :]
        second = running.start.phases[-1]
        # A burst may have struck the only call of the block; the second call is seldom shorter.
        call_s = min(statistics.median(later), (second.end_ns - second.begin_ns) / 1e9)
        self._call_s[running.slot.case.id] = call_s
        return made

    def _seconds(self, running: Running) -> float:
        return block_seconds(self._planned(running), self.place.options.block_s)

    def _planned(self, running: Running) -> float:
        name = running.slot.case.id
        return self._planned_s.get(name, self._call_s[name])

    def _counts(self, live: Sequence[Running]) -> dict[str, int]:
        """Return how many blocks each case has."""
        options, plan = self.place.options, self._plan(live)
        blocks = options.blocks
        if options.time_budget_s is not None and all(running.slot.shared for running in live):
            blocks = min(blocks, _BLOCKS_BESIDE)
        most_s = blocks * options.block_s
        counts = {
            running.slot.case.id: _block_count(self._seconds(running), blocks, most_s, plan)
            for running in live
        }
        for running in live:
            name = running.slot.case.id
            if self._looks_late(running):
                late = _first_count(self._seconds(running), self._planned(running), options)
                counts[name] = max(counts[name], late)
        return counts

    def _looks_late(self, running: Running) -> bool:
        """Say whether a process is to show what calls do late.

        The first one of its case is, and all where some calls are far slower than most. Of a
        deterministic run, whose plan depends on nothing seen, those of the first round; also where
        a time budget goes into calls in turns, as these show a ratio sooner.
        """
        options = self.place.options
        in_turns = options.time_budget_s is not None and bool(running.slot.shared)
        if options.deterministic or in_turns:
            return running.slot.round == 0
        return running.slot.case.id not in self._even

    def _plan(self, live: Sequence[Running]) -> _BlockPlan | None:
        """Return what is known of the processes; ``None``: one is the first of its case.

        The plan of a deterministic run depends on nothing seen.
        """
        names = [running.slot.case.id for running in live]
        unknown = any(name not in self._warmup_s or name not in self._scatters for name in names)
        if not live or unknown or self.place.options.deterministic:
            return None
        return _BlockPlan(
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
        batch = batch_for(self._planned(running)) if case.batches else 1
        seconds = min(at_most_s, self._seconds(running))
        if bound_to is not None:
            running.bind([bound_to])
        return running.block(batch, seconds, BLOCK_LIMIT, bound_to)


_FIRST_CALLS, _FIRST_S, _FIRST_SHARE = 256, 1.5, 1 / 60
"""Warm calls that the first process of a case makes at least, and the seconds after which it makes
no more for that, also as a share of a time budget: what a program does late, it is to show."""
_FEWEST_BLOCKS, _BLOCKS_BESIDE = 4, 8
"""Blocks of a process at least, and at most within a time budget where its calls in turns with the
other candidate's show their ratio."""
_PROCESSES_DIFFER = 0.005
"""How much processes of one program differ, relatively (``docs/explanation/trials.md``)."""


@dataclass(frozen=True)
class _BlockPlan:
    """Plan of a round's processes by what earlier rounds have shown."""

    start_s: float
    """Time of a start: the mean of this round."""
    warmup_s: float
    """Seconds of calls before the steady state."""
    scatter: float
    """Standard deviation of the log-ratio of two blocks of one turn."""


def _first_count(seconds: float, call_s: float, options: Options) -> int:
    """Return how many blocks show ``_FIRST_CALLS`` calls, as far as the time for them reaches."""
    budget_s = math.inf if options.time_budget_s is None else options.time_budget_s
    calls_s = _FIRST_CALLS * max(call_s, 1e-9)
    return math.ceil(min(calls_s, _FIRST_S, _FIRST_SHARE * budget_s) / seconds)


def _block_count(seconds: float, most: int, most_s: float, plan: _BlockPlan | None) -> int:
    """Return how many blocks of so many seconds a process has, at most ``most_s`` in all.

    What is in common to the blocks of a process, as where its memory lies, differs by half a
    percent between processes of one program; more blocks do not tell it. So much time goes into
    blocks as makes the round's ratio worth its seconds: where blocks scatter by b, a start takes s
    and a block t, the variance of the ratio times the cost of the round is least at
    ``b / 0.5 % * sqrt(s / t)`` blocks. A warm-up comes on top. Without a plan
    there are as many as may be.
    """
    allowed = min(most, max(_FEWEST_BLOCKS, math.ceil(most_s / seconds)))
    if plan is None:
        return allowed
    wanted = MEDIAN_ERROR * plan.scatter / _PROCESSES_DIFFER * math.sqrt(plan.start_s / seconds)
    warming_s = min(plan.warmup_s, most_s + _FIRST_S)
    return min(allowed, max(_FEWEST_BLOCKS, math.ceil(wanted))) + math.ceil(warming_s / seconds)


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


_MOST = 3
"""Starts with what the framework's own settings keep: enough for an interval."""
_FIGURES_FIRST = 4
_MOST_KEPT = 5
"""Processes that keep memory: enough to judge a difference in spite of noise."""
_THRESHOLDS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_")
"""Variables with which glibc adapts nothing. Another allocator comes by the last one."""
_OTHERS = {"GLIBC_TUNABLES": "glibc.malloc.", "LD_PRELOAD": "alloc"}


_DEAR_S = 2.0
"""From which on another candidate's data and first call are too dear to be made once more."""


def _may_share(case: Case, other: Case, ledger: Ledger) -> bool:
    """Say whether the function of another candidate can be called in a process of a case.

    It needs no other interpreter, environment or framework, and is ready soon.
    """
    ours, theirs = case.job.get("function"), other.job.get("function")
    if ours is None or theirs is None or _setting(case) != _setting(other):
        return False
    if not _loads_beside(ours, theirs) or case.device == "gpu":
        return False
    seen, beside = ledger.good(case, WARM), ledger.good(other, WARM)
    told = [one for own in seen for one in own.shared_calls if one.other == other.id]
    if any(one.reason for one in told) or (other.inspected_call_s or 0.0) > _DEAR_S:
        return False
    if not seen or not beside:  # nobody knows yet which frameworks they need
        return bool((ours["path"], ours["module"]) == (theirs["path"], theirs["module"]))
    last = seen[-1], beside[-1]
    alike = last[0].versions == last[1].versions and last[0].settings == last[1].settings
    return alike and not any(gives_back(one.blocks) for one in last)


def _loads_beside(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Say whether two functions can be in one process.

    Not where one file is of two commits, nor where a script would be run for the second of them.
    """
    same_file = ours["path"] == theirs["path"]
    if ours["carried"] != theirs["carried"] or (ours["calls"] != theirs["calls"]):
        return False
    return same_file or bool(not ours["calls"] and ours["module"] != theirs["module"])


def _setting(case: Case) -> tuple[object, ...]:
    search = case.job["function"]["search"]
    return case.python, dict(case.variables), case.device, sorted(case.backend.caches), search


def _early(options: Options, round_: int) -> bool:
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
    if case.device == "gpu" or _early(options, round_) or not running.start.glibc:
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
    if _early(options, round_) or len(seen) >= most or any(one.round == round_ for one in seen):
        return False
    if any(one.status == "failed" for one in seen):
        return False
    return any(one.kept_by_default in {"some", "none"} for one in _compiled(ledger.of(case)))


def _keeps_nothing(case: Case, ledger: Ledger) -> bool:
    """Say whether the framework's own settings keep nothing of what the case compiles.

    A cache that counts nothing, such as that of a GPU's driver, keeps its new files by itself.
    """
    found = _compiled(ledger.of(case))
    if any(one.compiles is None and one.new_files for one in found):
        return False
    kept = [one.kept_by_default for one in found]
    return bool(kept) and set(kept) <= {"none", None}


def _compiled(observations: list[Observation]) -> list[CacheEvidence]:
    """Return what is known of the caches of processes that found them empty."""
    return [
        one
        for seen in published(observations)
        if seen.status == "ok" and seen.cache_mode != FILLED and counts(seen, seen.cache_mode)
        for one in seen.evidence
    ]
