"""The figures of a workload, in the order in which they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.charts import cold
from coldwarm.report.charts.marks import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.workload import Workload

    Draw = Callable[[Workload, int], Chart | None]

KINDS: dict[str, Draw] = {
    "cold": cold.starts,
    "first_call": cold.first_calls,
}
"""By the id of its charts, what draws a workload."""


def charts(workload: Workload, width: int = WIDTH, kinds: Sequence[str] | None = None) -> list[Chart]:
    """Return the figures of a workload that it has numbers for.

    ``width``: of a plot in pixels, names beside it not counted. ``kinds``: only these.
    """
    found = (KINDS[kind](workload, width) for kind in (kinds or KINDS))
    return [chart for chart in found if chart is not None]
