"""One page for a browser: no network, and nothing beside the file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.report.charts import compared as both
from coldwarm.report.charts.chart import source
from coldwarm.report.charts.every import charts, of_result
from coldwarm.report.charts.workload import workloads
from coldwarm.report.formats import Format
from coldwarm.report.headline import group_name
from coldwarm.report.page import contents, template
from coldwarm.report.page.page_sections import of_charts, section
from coldwarm.report.view import suite_view
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.page.contents import ResultPart
    from coldwarm.report.page.template import Section
    from coldwarm.report.verdict_table import VerdictTable


def _begin() -> None:
    """Begin what takes long and needs no result."""
    template.begun()


def _files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return the page."""
    return _with_verdicts(results, (), name)


def _with_verdicts(
    results: Sequence[Measured], verdicts: Sequence[VerdictTable], name: str
) -> dict[str, bytes]:
    """Return the page with verdicts on patterns and claims; of these alone it has no figures."""
    if not results:
        return {name: contents.page_of_verdicts(verdicts).encode()}
    _begin()
    parts = [_part(measured, place) for place, measured in enumerate(results)]
    return {name: contents.page(parts, verdicts).encode()}


def _part(measured: Measured, place: int) -> ResultPart:
    cases = list(measured.cases.values())
    told = answers(cases)
    view = suite_view(measured.suite, cases, told) if measured.suite else None
    groups = {group.title: group for group in view.groups} if view else {}
    where = source(measured)
    found = workloads(cases, told)
    sections = {
        (name := group_name(one.cases[0])): section(one, groups.get(name), f"r{place}w{at}", where)
        for at, one in enumerate(found)
    }
    together = of_charts(partial(of_result, found), "All scenarios", f"r{place}", where)
    return contents.part(measured, view, sections, next(together, None))


def _compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return the page of what changed from one result to another."""
    _begin()
    paths = [Path(side.path).name for side in sides]
    return {
        name: contents.page_of_changes(
            comparison, list(_of_both(comparison, sides)), paths
        ).encode()
    }


def _of_both(comparison: RunComparison, sides: tuple[Measured, Measured]) -> Iterator[Section]:
    """Yield a section of all ratios, and one for each workload."""
    where = "measured here, in the runs A and B"

    def judged(width: int) -> list[Chart]:
        return [one for one in [both.ratios(comparison, width)] if one is not None]

    yield from of_charts(judged, "All figures", "ratios", where)
    for place, workload in enumerate(both.pairs(*sides)):
        looks = {name: look.colour for name, look in workload.looks.items()}
        draw = partial(charts, workload, kinds=both.KINDS)
        yield from of_charts(draw, workload.title, f"w{place}", where, looks)


FORMAT = Format(
    suffix=".html", files=_files, compared=_compared, with_verdicts=_with_verdicts, begin=_begin
)
