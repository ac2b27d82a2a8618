"""The figures of a workload, in the order in which they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.charts import break_even, cold, memory, new_shape, scenarios, strips, warm
from coldwarm.report.charts.marks import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.workload import Workload

    Draw = Callable[[Workload, int], Chart | None]

KINDS: dict[str, Draw] = {
    "answer": strips.answer,
    "cold": cold.starts,
    "first_call": cold.first_calls,
    "warm_points": warm.points,
    "warm_ecdf": warm.ecdf,
    "warm_series": warm.series,
    "break_even": break_even.break_even,
    "new_shape": new_shape.new_shape,
    "memory": memory.memory,
}
"""By the id of its charts, what draws a workload."""


def charts(
    workload: Workload, width: int = WIDTH, kinds: Sequence[str] | None = None
) -> list[Chart]:
    """Return the figures of a workload that it has numbers for.

    ``width``: of a plot in pixels, names beside it not counted. ``kinds``: only these.
    """
    found = (KINDS[kind](workload, width) for kind in (kinds or KINDS))
    return [chart for chart in found if chart is not None]


def of_result(found: Sequence[Workload], width: int = WIDTH) -> list[Chart]:
    """Return the figures that show all workloads of a result together."""
    chart = scenarios.compile_share(found, width)
    return [] if chart is None else [chart]
