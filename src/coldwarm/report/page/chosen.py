"""What the controls of the break-even figure choose among: jobs and their costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.charts.workload import shown
from coldwarm.stats.plan.grid import grid
from coldwarm.stats.plan.planning import gather

if TYPE_CHECKING:
    from coldwarm.report.charts.workload import Workload
    from coldwarm.report.page.packing import Pack
    from coldwarm.stats.plan.grid import Setting


def chosen(workload: Workload, pack: Pack) -> bool:
    """Put the jobs of a workload into its pack; ``False``: there are none to choose among."""
    cases = workload.cases
    if cases[0].scenario:
        return False
    known = gather(workload.title, cases).known
    settings = grid(known, {mode for case in cases for mode in case.protocol.cache_modes})
    if not settings:
        return False
    pack.note("settings", [_noted(one) for one in settings])
    pack.add("grid", [row for at, one in enumerate(settings) for row in _rows(at, one)])
    return True


def _noted(one: Setting) -> dict[str, object]:
    return {
        "caches": one.caches,
        "shapes": one.shapes,
        "processes": one.processes,
        "crossings": [[calls, shown(name)] for calls, name in one.crossings],
    }


def _rows(place: int, one: Setting) -> list[dict[str, str | float | int | bool | None]]:
    return [
        {
            "setting": place,
            "candidate": shown(name),
            "calls": calls,
            "total_s": curve.total_s[at],
            "low_s": None if curve.low_s is None else curve.low_s[at],
            "high_s": None if curve.high_s is None else curve.high_s[at],
            "cheapest": one.cheapest[at] == name,
            "told_apart": one.told_apart[at],
        }
        for name, curve in one.curves.items()
        for at, calls in enumerate(one.calls)
    ]
