"""Warm calls: every sample in its order, and which of them are steady."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.stats.bounded import median_of
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.steady import steady_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.result import CaseResult


class _Sample(NamedTuple):
    """A sample of a process, at its place among those that were made as figures are."""

    candidate: str
    process: int
    place: int
    at: int
    """The place with the processes before it laid end to end."""
    seconds: float
    """For one call."""
    steady: bool
    """Whether the figures of the process are from it."""
    warming: bool
    """Whether it was made before the process became steady."""


class Process(NamedTuple):
    """A process: where it became steady, and what a call took then."""

    candidate: str
    process: int
    steady: bool
    begins: int
    """Where its samples begin with the processes before it laid end to end."""
    steady_from: int
    """The place of the first sample that figures are from."""
    steady_at: int
    """The same with the processes before it laid end to end."""
    n_samples: int
    median_s: float


class Call(NamedTuple):
    """The median of a case's processes with its interval, or the range of so few."""

    candidate: str
    median_s: float
    low_s: float | None
    high_s: float | None
    n_processes: int
    steady: bool


def samples(cases: Sequence[CaseResult]) -> list[_Sample]:
    """Return all samples of the processes that figures are from, kept and left out."""
    found: list[_Sample] = []
    for case in cases:
        begins = 0
        for number, process in enumerate(warm_processes(case.observations), 1):
            blocks = [block.samples_s for block in process.blocks]
            n_samples = sum(map(len, blocks))
            kept = steady_places(blocks)
            steady = [False] * n_samples
            for place in kept:
                steady[place] = True
            # A result may have hundreds of thousands: each is made as quickly as can be.
            found += map(
                _Sample,
                repeat(case.candidate),
                repeat(number),
                range(n_samples),
                range(begins, begins + n_samples),
                chain.from_iterable(blocks),
                steady,
                chain(repeat(True, kept[0]), repeat(False)),  # noqa: FBT003 - values
            )
            begins += n_samples
    return found


def processes(cases: Sequence[CaseResult]) -> list[Process]:
    """Return the processes that figures are from."""
    found = []
    for case in cases:
        begins = 0
        for number, process in enumerate(warm_processes(case.observations), 1):
            blocks = [block.samples_s for block in process.blocks]
            first = steady_places(blocks)[0]
            n_samples = sum(map(len, blocks))
            found.append(
                Process(
                    candidate=case.candidate,
                    process=number,
                    steady=process.steadiness.steady,
                    begins=begins,
                    steady_from=first,
                    steady_at=begins + first,
                    n_samples=n_samples,
                    median_s=median_of(process.steadiness.samples),
                )
            )
            begins += n_samples
    return found


def calls(cases: Sequence[CaseResult]) -> list[Call]:
    """Return what a warm call of each case takes."""
    return [
        Call(
            case.candidate,
            case.warm.call_s.median,
            case.warm.call_s.low,
            case.warm.call_s.high,
            case.warm.call_s.n_processes,
            case.warm.steady.steady,
        )
        for case in cases
        if case.warm and case.warm.call_s
    ]
