"""The figures of a workload, in the order in which they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.answer_text import left_out
from coldwarm.report.charts import break_even, scenarios, starts, strips, warm
from coldwarm.report.charts.chart import file_name, standing_alone
from coldwarm.report.charts.marks import WIDTH
from coldwarm.report.charts.workload import workloads
from coldwarm.report.provenance import source
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.contracts.result import Measured
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.workload import Workload

    Draw = Callable[[Workload, int], Chart | None]

_KINDS: dict[str, Draw] = {
    "answer": strips.answer,
    "cold": starts.starts,
    "first_call": starts.first_calls,
    "warm_points": warm.points,
    "warm_ecdf": warm.ecdf,
    "warm_series": warm.series,
    "break_even": break_even.break_even,
    "new_shape": warm.new_shape,
    "memory": starts.memory,
}
"""By the id of its charts, what draws a workload."""


def charts(
    workload: Workload, width: int = WIDTH, kinds: Sequence[str] | None = None
) -> list[Chart]:
    """Return the figures of a workload that it has numbers for.

    ``width``: of a plot in pixels, names beside it not counted. ``kinds``: only these.
    """
    found = (_KINDS[kind](workload, width) for kind in (_KINDS if kinds is None else kinds))
    return [chart for chart in found if chart is not None]


def of_result(found: Sequence[Workload], width: int = WIDTH) -> list[Chart]:
    """Return the figures that show all workloads of a result together."""
    chart = scenarios.compile_share(found, width)
    return [] if chart is None else [chart]


def named(results: Sequence[Measured]) -> Iterator[tuple[str, Chart]]:
    """Yield the figures of results, each with a name that a file may have.

    Of several results, names begin with the number of theirs.
    """
    for number, result in enumerate(results, 1):
        before = f"{number}-" if len(results) > 1 else ""
        cases = list(result.cases.values())
        found = workloads(cases, answers(cases))
        for chart in of_result(found):
            yield f"{before}{chart.id}", standing_alone(chart, "", source(result))
        titles = [file_name(workload.title) for workload in found]
        for place, workload in enumerate(found):
            # Of titles that differ in what no name of a file can have, each has its number.
            alike = titles.count(titles[place]) > 1
            group = f"{titles[place]}-{place + 1}" if alike else titles[place]
            where = source(result, workload.answer)
            missing = left_out(workload.answer) if workload.answer else ""
            for chart in charts(workload):
                alone = standing_alone(chart, workload.title, where, missing)
                yield f"{before}{group}-{chart.id}", alone
