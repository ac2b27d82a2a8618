"""From how many calls on a process pays off what starts later and runs faster. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.stats.compare.control import is_control
from coldwarm.stats.plan.jobs import Job
from coldwarm.stats.plan.leading import leads
from coldwarm.stats.plan.planning import gather, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.plan import BreakEven
    from coldwarm.contracts.result import CaseResult

MODES_OF_A_PLAN = {"cold_process_cold_cache", "cold_process_warm_cache", WARM}
"""What has to be known before anything can pay off."""


def payoffs(cases: Sequence[CaseResult]) -> dict[str, tuple[BreakEven, ...]]:
    """Return what is to be told of paying off, for each group by the name of its baseline's case.

    Of candidates that are faster warm, in processes that start with empty and with filled
    caches; nothing of a group in which one of the three figures was not asked for.
    """
    groups: dict[tuple[str, int, str], list[CaseResult]] = {}
    for case in cases:
        if not is_control(case):
            groups.setdefault((case.workload, case.size, case.dtype), []).append(case)
    found = {}
    for members in groups.values():
        baseline = next((case for case in members if case.baseline), None)
        if baseline is not None and _can_pay(members):
            found[baseline.case] = _told(members)
    return found


def _can_pay(cases: Sequence[CaseResult]) -> bool:
    asked = set(cases[0].protocol.cache_modes)
    return len(cases) > 1 and asked >= MODES_OF_A_PLAN and not cases[0].scenario


def _told(cases: Sequence[CaseResult]) -> tuple[BreakEven, ...]:
    faster = {one.candidate for lead in leads(cases, [WARM]) for one in lead.faster}
    if not faster:
        return ()
    planned = plan(gather(cases[0].workload, cases), Job(1, 1, 1, "cold"))
    return tuple(
        one
        for one in planned.break_even
        if one.baseline == planned.baseline
        and one.candidate in faster
        and one.reading in {"process", "cached"}
        and one.verdict in {"from", "at_once", "undecided"}
    )
