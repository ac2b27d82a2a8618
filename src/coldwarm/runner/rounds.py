"""One round of one group: every candidate cold, then all of them warm, interleaved.

A round gives each candidate one observation of each cache mode. The process that starts
with empty caches fills them; the one that starts with those filled caches is persistent, and its
warm blocks alternate with the other candidates' in random order. So no process is started
only to prepare another, and the machine's drift falls on all candidates alike. A process
that waits for its turn is stopped by signal: it uses no processor.
"""

from __future__ import annotations

import random
import signal
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.caches import modes
from coldwarm.contracts.base import FILLED, WARM, CacheMode
from coldwarm.runner import isolation, launch, ledger, observe
from coldwarm.runner.companions import Companions
from coldwarm.runner.harness import MOST_TRIES
from coldwarm.runner.identifying import observation_without
from coldwarm.runner.ledger import used_s
from coldwarm.runner.observe import Running, Slot
from coldwarm.runner.spawn import ENDING, ProcessFailedError
from coldwarm.runner.turns import Starts, Turns
from coldwarm.stats.selection import is_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.observation import Observation
    from coldwarm.runner.case_list import Case
    from coldwarm.runner.directory import RunDirectory
    from coldwarm.runner.ledger import Ledger, Listener
    from coldwarm.runner.observe import RunContext

_MAX_ATTEMPTS = 3
_ENOUGH = 2
"""Processes in which every call compiled, after which no other would do otherwise."""
_OTHER_CALLS: dict[bool, tuple[int, ...]] = {False: (0, 1, 2), True: (0, 1, 5)}
"""Which of a case's processes show what calls take that the timed loop does not make: a third of a
second in each, and what most of three show is not by chance. Within a time budget (``True``) the
third waits until there are as many processes as a verdict needs."""
_COLD_ORDER: tuple[CacheMode, ...] = (
    "first_ever",
    "cold_process_cold_cache",
    "cold_process_warm_cache",
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
    _hidden: defaultdict[str, frozenset[str]] = field(
        default_factory=lambda: defaultdict(frozenset)
    )
    """Case to the files that a process of it read and an earlier one had written."""
    _made: set[str] = field(default_factory=set)
    """Cases whose artifacts were made in this part of the run."""
    _cost_s: dict[tuple[str, CacheMode], float] = field(default_factory=dict)
    _killed: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Case and round to its processes that were killed from outside in this part of the run."""

    def measure(self, group: str, wanted: Mapping[CacheMode, Sequence[Case]], round_: int) -> None:
        """Measure one round of a group: of each mode, the cases that still want it."""
        shuffle = random.Random(f"{self.place.options.seed} {round_} {group}").sample  # noqa: S311 - an order, not a secret
        for mode, cases in wanted.items():
            for case in cases:
                if not self.ledger.done(case, mode, round_):
                    self._make(case, round_)
        staying = wanted.get("warm_process", ())
        for mode in _COLD_ORDER:
            cases = [
                case
                for case in wanted.get(mode, ())
                # A persistent process shows its start with filled caches by the way.
                if mode != "cold_process_warm_cache" or case not in staying
            ]
            for case in shuffle(cases, len(cases)):
                self._cold(case, mode, round_)
        for case in shuffle(list(filled := wanted.get(FILLED, ())), len(filled)):
            self._beside.by_default(case, round_)
        for _ in range(_MAX_ATTEMPTS):
            self._warm(shuffle(list(staying), len(staying)), round_, shuffle)

    def __post_init__(self) -> None:
        """Prepare the turns of the warm blocks."""
        self._turns = Turns(self.place, self.late, self._dropped_out)
        self._beside = Companions(
            self.place,
            self.ledger,
            self.listener,
            self.late,
            self._whole,
            lambda slot, error: self._record(self._failure(slot, error)),
            self._record,
        )

    def cost_s(self, case: Case, mode: CacheMode) -> float | None:
        """Return the seconds that a mode's last process of a case ran; ``None``: none did."""
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
            made = ledger.retry_killed(
                lambda: launch.make_artifacts(self.place, case), ProcessFailedError
            )
        except ProcessFailedError as error:
            self.fail(case, error, round_)
            return
        self._made.add(case.id)
        self.directory.append("making", made)
        self.ledger.add_making(made)

    def fail(self, case: Case, error: ProcessFailedError, round_: int = 0) -> None:
        """Write down that a case failed before any of its measured processes."""
        mode = self.place.options.cache_modes[0]
        attempt = self.ledger.next_attempt(case, mode, round_)
        slot = Slot(case, mode, round_, attempt, self.place.work)
        self._record(self._failed(slot, error))

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
            launch.abandon(place, running)
            wall_s = running.process.wait().wall_s
        isolation.check_disk(place.work, f"{error.reason}\n{error.detail}")
        order = error.order if running is None else running.order
        if order is None:  # there was no process
            order = max(len(place.order) - 1, 0)
        return observe.failed(slot, error, place.clock.date(), order, wall_s)

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

    def _slot(self, case: Case, mode: CacheMode, round_: int, *, persistent: bool) -> Slot:
        attempt = self.ledger.next_attempt(case, mode, round_)
        number = len(self.ledger.good(case, mode)) + 1
        self.listener.process(case.id, mode, number, self.place.options.max_runs)
        fresh = self.place.work / "caches" / f"{case.id}-{round_}-{mode}-{attempt}"
        root = fresh
        if mode == "cold_process_warm_cache":
            root = self._filled[case.id]
        elif mode == "warm_process":  # nothing is asked of its start, so it may be a quick one
            root = self._filled.get(case.id) or case.filled or fresh
        stayed = len(self.ledger.good(case, "warm_process"))
        shows = _OTHER_CALLS[self.place.options.time_budget_s is not None]
        return Slot(
            case,
            mode,
            round_,
            attempt,
            root,
            persistent=persistent,
            analyse=persistent and stayed == 0,
            other_calls=stayed in shows if persistent else self._shows_alone(case, mode),
            hidden=self._hidden[case.id] | case.hidden,
        )

    def _shows_alone(self, case: Case, mode: CacheMode) -> bool:
        """Say whether the first process of a mode shows other calls: none with blocks will."""
        modes = self.place.options.cache_modes
        return WARM not in modes and mode == modes[0] and not self.ledger.good(case, mode)

    def _cold(self, case: Case, mode: CacheMode, round_: int) -> None:
        """Measure one process that ends after its second call; retry a rejected one."""
        while self._may_try(case, mode, round_):
            if self.ledger.done(case, mode, round_):
                return
            if mode == "cold_process_warm_cache" and not self._fill(case, round_):
                return
            slot = self._slot(case, mode, round_, persistent=False)
            observation = self._whole(slot)
            self._hidden[case.id] |= observe.files_of_earlier(observation)
            self._record(observation)
            filled = mode == "cold_process_cold_cache" and observation.status == "ok"
            if filled:
                self._keep(slot)
            elif mode != "cold_process_warm_cache" or observation.status != "ok":
                self._drop(slot)

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
            running = launch.start(self.place, slot)
            launch.finish(self.place, running)
        except ProcessFailedError as error:
            return self._failure(slot, error, running)
        return observe.observation(running)

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
            attempt = self.ledger.next_attempt(case, "cold_process_cold_cache", round_)
            slot = Slot(
                case,
                "cold_process_cold_cache",
                round_,
                attempt,
                root,
                hidden=self._hidden[case.id] | case.hidden,
            )
            observation = self._whole(slot)
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
        starts = Starts(self.place, self._together(cases, round_))
        try:
            for case in cases:
                running = self._stay(case, round_, starts)
                if running is not None:
                    live.append(running)
            live = self._turns.first(live, shuffle)
            plain = list(live)
            for running in plain:
                live += self._beside.keeping(running)
            beside = [one for one in live if one not in plain]
            live = plain + self._turns.first(beside, shuffle)
            live = self._turns.run(live, shuffle)
            if not any(running.slot.other_calls for running in live):  # which are timed alone
                for running in live:
                    launch.ask_to_end(running)
            while live:  # those beside first, as they use the caches of the plain ones
                self._end(live.pop())
        finally:
            starts.cancel()
            for running in live:
                launch.abandon(self.place, running)

    def _together(self, cases: Sequence[Case], round_: int) -> list[Slot]:
        """Return the slots that may start together: only their warm calls are asked for.

        Not on a GPU, whose memory each start may take.
        """
        if any(case.device == "gpu" for case in cases):
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

    def _stay(self, case: Case, round_: int, starts: Starts) -> Running | None:
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
            running.process.hold()
            observation = observe.observation(running)
            if observation.status != "ok":  # else its end says all, and that its answer was right
                self._record(observation)
            if observation.status == "ok":
                return running
            launch.abandon(self.place, running)
            self._drop(slot)
        return None

    def _dropped_out(self, running: Running, error: ProcessFailedError) -> None:
        self._record(self._failure(running.slot, error, running))
        if running.slot.allocator != "keeps_memory":  # else they are of the process beside it
            self._drop(running.slot)

    def _end(self, running: Running) -> None:
        try:
            launch.finish(self.place, running)
        except ProcessFailedError as error:
            observation = self._failure(running.slot, error, running)
        else:
            observation = observe.observation(running)
        self._record(observation)
        kept = self._filled.get(running.slot.case.id) == running.slot.root
        if running.slot.allocator != "keeps_memory" and (observation.status != "ok" or not kept):
            self._drop(running.slot)
