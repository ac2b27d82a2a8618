"""What a call with a new shape takes, beside a first call and a warm one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.stats.drawn import warm
from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult

EMPTY: CacheMode = "cold_process_cold_cache"


class Call(NamedTuple):
    """A call of one process: its ``first``, one with a ``new`` shape, or a ``warm`` one."""

    candidate: str
    kind: str
    process: int
    seconds: float


def calls(cases: Sequence[CaseResult]) -> list[Call]:
    """Return the calls of cases in which new shapes were measured; of warm ones the medians."""
    able = [case for case in cases if any(_new(case))]
    found = []
    for case in able:
        found += _new(case)
        found += [
            Call(case.candidate, "first", number, first_s)
            for number, seen in enumerate(counted(case.observations, EMPTY), 1)
            if (first_s := seen.phase_s("first_call")) is not None
        ]
    return found + [
        Call(one.candidate, "warm", one.process, one.median_s) for one in warm.processes(able)
    ]


def _new(case: CaseResult) -> list[Call]:
    return [
        Call(case.candidate, "new", number, phase.duration_s)
        for number, seen in enumerate(counted(case.observations, EMPTY), 1)
        for phase in seen.phases
        if phase.name.startswith("new_shape_")
    ]
