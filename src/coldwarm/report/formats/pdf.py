"""The validation report: a few pages for print, set by typst.

Texts of results reach typst as JSON, which it never takes for mark-up. It sees nothing but an
empty folder with the figures, takes no font of the machine, and the time in the file is when the
last process was measured, so that equal results give equal bytes.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.errors import printable, shorten
from coldwarm.installing import require
from coldwarm.report import comparison_text, provenance
from coldwarm.report.charts import compared as both
from coldwarm.report.charts import drawing, every
from coldwarm.report.charts.workload import workloads
from coldwarm.report.document import Figure, Folded, Heading, Paragraph, Table, terms
from coldwarm.report.formats import Format
from coldwarm.report.headline import group_name
from coldwarm.report.provenance import source
from coldwarm.report.sections import ShownResult, sections
from coldwarm.report.view import main_table, suite_view
from coldwarm.runner import temporary
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.workload import Workload
    from coldwarm.report.document import Block
    from coldwarm.report.view import Group


def _pdf(
    title: str,
    parts: Iterable[Iterable[Block]],
    results: Sequence[Measured],
    *,
    signed: bool = False,
) -> bytes:
    """Return documents, each from a new page on, set by the template of the print.

    ``signed``: with a place for signatures at the end of each.

    Raises:
        MissingError: typst is not installed.
    """
    typst = require("typst", extra="report")
    template = resources.files("coldwarm.report.page").joinpath("assets", "print.typ")
    made = _Print()
    said = {
        "title": title,
        "signed": signed,
        "parts": [made.node(tuple(blocks)) for blocks in parts],
    }
    with temporary.made() as folder:
        Path(folder, "print.typ").write_bytes(template.read_bytes())
        for number, chart in enumerate(made.charts, 1):
            Path(folder, f"figure-{number}.pdf").write_bytes(drawing.pdf(chart))
        compiler = typst.Compiler(
            input=str(Path(folder, "print.typ")),
            root=folder,
            ignore_system_fonts=True,
            sys_inputs={"contents": json.dumps(said)},
        )
        pdf: bytes = compiler.compile(format="pdf", timestamp=_measured_at(results))
    return pdf


def _measured_at(results: Sequence[Measured]) -> int:
    """Return the second in which the last of the results was ready; 1970 where none says it."""
    told = [one.suite.finished_at or one.suite.started_at for one in results if one.suite]
    return max((_second(text) for text in told), default=0)


def _second(text: str) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0
    return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))


_WHOLE, _HALF = 520, 235
"""Widths of the plots of figures that have the page's width, and of those side by side (pixels)."""
_FEW, _SOME = 2, 4
"""Workloads up to which each has all its figures, and up to which each has a table."""
_PAIRED = ("cold", "warm_points")
"""The kinds of figures that stand side by side, and that show both results of a comparison."""
_LONGEST = 600
_RUN = re.compile(r"\S{36}(?=\S{6})")
"""Text without a place for a line to end."""


def _result(measured: Measured) -> Iterator[Block]:
    """Yield what a report says of a result."""
    cases = list(measured.cases.values())
    told = answers(cases)
    where = source(measured, told[0] if told else None)
    found = workloads(cases, told)
    view = suite_view(measured.suite, cases, told) if measured.suite else None
    groups = {group.title: group for group in view.groups} if view else {}
    title = measured.suite.suite if measured.suite else cases[0].case
    yield Heading(f"Validation report: {title}", 0)
    yield Paragraph(
        "What was measured, on what, how far it can be trusted, and how to check it.", "dim"
    )
    yield from terms(provenance.facts(measured), "note")
    yield Heading("Answers", 1)
    for one in found:
        yield Heading(one.title)
        if group := groups.get(group_name(one.cases[0])):
            yield from terms(((line.label, line.pieces) for line in group.answer), "answer")
        yield from _figures(one, _WHOLE, ("answer",), where)
    yield Heading("Figures", 1)
    yield from (Figure(chart, where) for chart in every.of_result(found, _WHOLE))
    for one in found:
        yield from _workload(one, groups.get(group_name(one.cases[0])), where, of=len(found))
    shown = ShownResult(measured, cases, view)
    for section in sections():
        yield Heading(section.title, 1)
        yield from section.blocks(shown)


def _workload(workload: Workload, group: Group | None, where: str, *, of: int) -> Iterator[Block]:
    yield Heading(workload.title)
    yield Paragraph(group.about if group else workload.cases[0].protocol.data_layout, "dim")
    if group and group.rows and of <= _SOME:
        yield main_table(group)
    yield from _figures(workload, _HALF, _PAIRED, where)
    if of <= _FEW:
        yield from _figures(workload, _WHOLE, ("break_even",), where)
        yield from _figures(workload, _HALF, ("warm_ecdf", "memory", "new_shape"), where)


def _figures(workload: Workload, width: int, kinds: Sequence[str], where: str) -> Iterator[Figure]:
    for chart in every.charts(workload, width, kinds):
        yield Figure(chart, where, half=width == _HALF)


def _comparison(comparison: RunComparison, sides: tuple[Measured, Measured]) -> Iterator[Block]:
    """Yield what a report says of a comparison."""
    drawn: dict[str, list[Figure]] = {"": []}
    for title, chart in both.charts(comparison, *sides, _PAIRED):
        drawn.setdefault(title, []).append(Figure(chart))
    yield Heading("What changed from A to B", 0)
    yield from terms(comparison_text.sides(comparison), "note")
    yield Paragraph(comparison_text.summary(comparison), "strong")
    yield from drawn.pop("")
    yield Heading("To know", 1)
    yield from terms(comparison_text.remarks(comparison), "care")
    yield Heading("Every figure", 1)
    yield comparison_text.figures_table(comparison_text.shown(comparison, everything=True))
    yield from terms(comparison_text.legend(comparison), "legend")
    yield Heading("A and B in the same figures", 1)
    for title, figures in drawn.items():
        yield Heading(title)
        yield from figures


class _Print:
    """What typst is given: blocks as JSON, and the figures in the order of their numbers."""

    def __init__(self) -> None:
        """Begin without a figure."""
        self.charts: list[Chart] = []

    def node(self, value: Any) -> Any:  # noqa: ANN401 - a block, or a part of one
        """Return a value as JSON, each text as one that is seen as it is, and can be broken."""
        if isinstance(value, str):
            return _RUN.sub("\\g<0>\u200b", shorten(printable(value), _LONGEST))
        if isinstance(value, Figure):
            return self._figure(value)
        if isinstance(value, Table):
            value = value._replace(columns=tuple(" ".join(one.split()) for one in value.columns))
        if hasattr(value, "_fields"):
            fields = {name: self.node(getattr(value, name)) for name in value._fields}
            return {"kind": type(value).__name__.lower(), **fields}
        if isinstance(value, tuple):
            return [self.node(one) for one in value if not isinstance(one, Folded)]
        return value

    def _figure(self, figure: Figure) -> dict[str, Any]:
        """Return a figure; one of a kind that stands before is read as that."""
        chart, ids = figure.chart, [one.id for one in self.charts]
        again = f"Read it as figure {ids.index(chart.id) + 1}." if chart.id in ids else ""
        self.charts.append(chart)
        said = {
            "title": chart.title,
            "caption": again or chart.caption,
            "alt": chart.alt,
            "source": figure.source,
        }
        said = {name: self.node(text) for name, text in said.items()}
        return {"kind": "figure", "number": len(self.charts), "half": figure.half, **said}


def _files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return the report.

    Raises:
        UsageError: the extra ``report`` is not installed.
    """
    title = "coldwarm validation report"
    return {name: _pdf(title, map(_result, results), results, signed=True)}


def _compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return what changed from one result to another.

    Raises:
        UsageError: the extra ``report`` is not installed.
    """
    return {name: _pdf("coldwarm comparison", [_comparison(comparison, sides)], sides)}


FORMAT = Format(suffix=".pdf", files=_files, compared=_compared)
