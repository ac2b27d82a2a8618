"""Which share of a whole loop's wall clock went into compiling."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult


class _Share(NamedTuple):
    """The share of one process (0..1)."""

    workload: str
    candidate: str
    cache_mode: CacheMode
    process: int
    share: float


class _Median(NamedTuple):
    """The median share of a case's processes (0..1), and what the whole loop took."""

    workload: str
    candidate: str
    cache_mode: CacheMode
    share: float
    total_s: float


def shares(cases: Sequence[CaseResult]) -> list[_Share]:
    """Return the share of each process of each scenario."""
    return [
        _Share(case.workload, case.candidate, cold.cache_mode, number, seen.loop.compiling_share)
        for case in cases
        for cold in case.cold
        for number, seen in enumerate(counted(case.observations, cold.cache_mode), 1)
        if seen.loop is not None and seen.loop.compiling_share is not None
    ]


def medians(cases: Sequence[CaseResult]) -> list[_Median]:
    """Return the share of each scenario's candidates."""
    return [
        _Median(
            case.workload,
            case.candidate,
            cold.cache_mode,
            cold.compiling_share.median,
            cold.seconds["total"].median,
        )
        for case in cases
        for cold in case.cold
        if cold.compiling_share is not None and "total" in cold.seconds
    ]
