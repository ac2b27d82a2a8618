"""Starts of several candidates in turns: all but one are held, for a hundredth of a second each.

The processor of a virtual machine changes its speed within a second. So the ratio of two equal
starts, one after the other, scatters by 2 to 5 % in a calm hour and more in others, and by 2 %
where they take turns on the same processor (``benchmarks/start_pairs.py``). A start in turns takes
6 to 9 % longer, for each turn fills the processor's caches again: its times are part of no figure,
and of their ratio alone.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Self

from coldwarm.contracts.reasons import because
from coldwarm.runner.spawn import ProcessFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.runner.launch import Begun, RunContext, Running, Slot


TURN_S = 0.01
"""Far less than a processor takes to change its speed."""

_MOST_WAITS = 0.01
"""Share of turns in which a process may wait for something else. What it waits for goes on while it
is held, so that it waits for less time than alone."""


class StartsInTurns:
    """Processes of a round that start in turns; leaving it ends what has not ended."""

    def __init__(self, place: RunContext) -> None:
        """Begin with none."""
        self._place = place
        self._begun: list[Begun] = []

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End what has not ended."""
        for one in self._begun:
            if one.process.exit is None:
                one.cancel()

    def begin(self, slot: Slot) -> None:
        """Start a process, and hold it.

        Raises:
            StorageError: its caches could not be laid.
        """
        one = self._place.begin(slot)
        self._begun.append(one)
        one.process.hold_at_once()

    def run(self) -> Sequence[Begun]:
        """Let them take turns, all on one processor before the next, until each has answered.

        Whose turn comes after another's on a processor finds in its caches what both read. So the
        order is turned around each time.
        """
        waiting, processors = list(self._begun), cycle(self._place.options.affinity)
        while waiting:
            processor = next(processors)
            waiting = [one for one in waiting if not one.take_turn(processor, TURN_S)][::-1]
        return self._begun

    @staticmethod
    def first_results(one: Begun) -> Running:
        """Return a process that has answered.

        Raises:
            ProcessFailedError: it gave no result, or something of it went on while it was held.
        """
        if one.process.exit is None and one.process.helpers_go_on():
            one.cancel()
            raise ProcessFailedError(because("helpers_go_on"))
        if one.waits > _MOST_WAITS * one.turns:
            one.cancel()
            raise ProcessFailedError(
                because("waits_in_turns", n_waits=one.waits, n_turns=one.turns)
            )
        one.process.go_on()
        return one.first_results(together=True)
