"""Figures as SVG, PNG and PDF, by vl-convert: without a browser, and without a network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from coldwarm.report.charts import compared
from coldwarm.report.charts.chart import VERSION
from coldwarm.report.charts.every import charts, of_result
from coldwarm.report.charts.workload import workloads
from coldwarm.report.formats.base import needed
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.measured import Measured
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.theme import Theme

SCALE = 2.0
"""Pixels of a PNG for one of the figure's."""
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def svg(chart: Chart, theme: Theme = "light") -> bytes:
    """Return a figure as SVG, with its title and alternative text in it.

    Raises:
        UsageError: vl-convert is not installed.
    """
    drawn: str = _converter().vegalite_to_svg(chart.whole(theme), **_options())
    said = f"<title>{escape(chart.title)}</title><desc>{escape(chart.alt)}</desc>"
    start = drawn.index(">") + 1
    opening = f'{drawn[: start - 1]} role="img">'
    return (opening + said + drawn[start:]).encode()


def png(chart: Chart, theme: Theme = "light") -> bytes:
    """Return a figure as PNG.

    Raises:
        UsageError: vl-convert is not installed.
    """
    drawn: bytes = _converter().vegalite_to_png(chart.whole(theme), scale=SCALE, **_options())
    return drawn


def pdf(chart: Chart) -> bytes:
    """Return a figure as PDF with its own fonts.

    Raises:
        UsageError: vl-convert is not installed.
    """
    drawn: bytes = _converter().vegalite_to_pdf(chart.whole(), **_options())
    return drawn


def _converter() -> Any:  # noqa: ANN401 - a module without types
    return needed("vl_convert")


def _options() -> dict[str, Any]:
    # No address is allowed: the data of a figure is in it.
    return {"vl_version": VERSION, "allowed_base_urls": []}


def figures(
    result: Measured, told: Sequence[Answer] = (), width: int | None = None
) -> Iterator[tuple[str, Chart]]:
    """Yield the figures of a result, each with a name that a file may have."""
    found = workloads(list(result.cases.values()), told)
    size = {} if width is None else {"width": width}
    for chart in of_result(found, **size):
        yield chart.id, chart
    for workload in found:
        for chart in charts(workload, **size):
            yield f"{file_name(workload.cases[0].group)}-{chart.id}", chart


def every_figure(results: Sequence[Measured]) -> Iterator[tuple[str, Chart]]:
    """Yield the figures of results; of several, names begin with the number of the result."""
    for number, result in enumerate(results, 1):
        before = f"{number}-" if len(results) > 1 else ""
        for name, chart in figures(result, answers_of(result)):
            yield f"{before}{name}", chart


def compared_figures(
    comparison: RunComparison, sides: tuple[Measured, Measured]
) -> Iterator[tuple[str, Chart]]:
    """Yield the figures of a comparison, each with a name that a file may have."""
    for title, chart in compared.charts(comparison, *sides):
        yield f"{file_name(title)}-{chart.id}" if title else chart.id, chart


def answers_of(result: Measured) -> Sequence[Answer]:
    """Return the answers of a result, computed from its cases."""
    return answers(list(result.cases.values()))


def file_name(text: str) -> str:
    """Return foreign text as part of a file's name: letters, digits, dots, dashes, underscores."""
    return _NO_FILE_NAME.sub("_", text).strip("._-")[:80] or "figure"
