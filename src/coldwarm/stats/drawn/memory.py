"""Peak memory of processes, and by how much each phase raised it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.stats.bounded import median_of
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

_STAGES = {
    "interpreter": "start",
    "import": "import",
    "device_init": "start",
    "setup": "inputs",
    "build": "build",
    "wrap": "build",
    "first_call": "first call",
    "remaining_calls": "later calls",
    "second_call": "later calls",
}
"""Phases up to the second call, by the stage that they are shown as."""


class _Peak(NamedTuple):
    """The highest resident memory of one process up to its second call."""

    candidate: str
    cache_mode: CacheMode
    process: int
    peak_bytes: int


class _Median(NamedTuple):
    """The median of processes with its interval, or the range of so few."""

    candidate: str
    cache_mode: CacheMode
    median_bytes: float
    low_bytes: float | None
    high_bytes: float | None
    n_processes: int


class _Growth(NamedTuple):
    """A stage, from the peak before it to the peak at its end: medians over processes."""

    candidate: str
    cache_mode: CacheMode
    stage: str
    order: int
    from_bytes: float
    to_bytes: float


def peaks(cases: Sequence[CaseResult]) -> list[_Peak]:
    """Return the peak of each process that figures are from."""
    return [
        _Peak(case.candidate, mode, number, seen.peak_rss_bytes)
        for case, mode, found in _by_mode(cases)
        for number, seen in enumerate(found, 1)
        if seen.peak_rss_bytes is not None
    ]


def medians(cases: Sequence[CaseResult]) -> list[_Median]:
    """Return the peak of each case."""
    return [
        _Median(case.candidate, cold.cache_mode, peak.median, peak.low, peak.high, peak.n_processes)
        for case in cases
        for cold in case.cold
        if (peak := cold.peak_rss_bytes) is not None
    ]


def growth(cases: Sequence[CaseResult]) -> list[_Growth]:
    """Return by how much each stage raised the peak, end to end."""
    found = []
    for case, mode, seen in _by_mode(cases):
        before = 0.0
        for order, (phase, stage) in enumerate(_STAGES.items()):
            ends = [peak for one in seen if (peak := _peak_after(one, phase)) is not None]
            if not ends:
                continue
            after = max(before, median_of(ends))
            found.append(_Growth(case.candidate, mode, stage, order, before, after))
            before = after
    return found


def _by_mode(
    cases: Sequence[CaseResult],
) -> Iterator[tuple[CaseResult, CacheMode, list[Observation]]]:
    for case in cases:
        for cold in case.cold:
            yield case, cold.cache_mode, counted(case.observations, cold.cache_mode)


def _peak_after(seen: Observation, name: str) -> int | None:
    return next((phase.peak_rss_bytes for phase in seen.phases if phase.name == name), None)
