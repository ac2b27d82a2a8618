"""A bench as HTML for a notebook: the answer, the table, and the rest folded away."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report.bench import words
from coldwarm.report.view import suite_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.result import CaseResult, SuiteResult
    from coldwarm.report.answers import Line
    from coldwarm.report.view import Cell, Group

# Each is read on a white page and on a dark one.
_COLOURS = {"faster": "#1f8a3d", "slower": "#e0353f", "undecided": "#a06b00"}


def as_html(report: BenchReport, suite: SuiteResult, cases: Sequence[CaseResult]) -> str:
    """Return the answer and the table; what to read with care, and a legend, are folded."""
    view = suite_view(suite, cases, report.answers, verbose=False)
    parts = [part for group in view.groups for part in (_answered(group.answer), _table(group))]
    parts += [_listed([("failed", text)]) for group in view.groups for text in group.failures]
    care = [*view.care, *words.noted(report)]
    if care:
        parts.append(_folded("Read with care", care))
    parts.append(_folded("How to read this", view.legend))
    parts.append(f"<p>{_text(view.closing[0])}</p>")
    return "".join(parts)


def _text(text: str) -> str:
    return html.escape(printable(text))


def _answered(found: Iterable[Line]) -> str:
    rows = []
    for one in found:
        said = "".join(_coloured(piece.text, piece.verdict) for piece in one.pieces)
        style = "text-align:left"
        rows.append(
            f"<tr><th style='{style}'>{_text(one.label)}</th><td style='{style}'>{said}</td></tr>"
        )
    return f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _coloured(text: str, verdict: str) -> str:
    if not verdict:
        return _text(text)
    colour = _COLOURS.get(verdict)
    style = f" style='color:{colour}'" if colour else ""
    return f"<b{style}>{_text(text)}</b>"


def _table(group: Group) -> str:
    if not group.rows:
        return ""
    headings = [" ".join(filter(None, group.headings[mode])) for mode in group.modes]
    memory = [] if group.rows[0].memory is None else ["peak memory"]
    head = "".join(f"<th>{_text(one)}</th>" for one in ("", *headings, *memory))
    rows = []
    for row in group.rows:
        cells = "".join(f"<td>{_cell(row.figures[mode])}</td>" for mode in group.modes)
        peak = "" if row.memory is None else f"<td>{_text(row.memory)}</td>"
        rows.append(f"<tr><th>{_text(row.candidate)}</th>{cells}{peak}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _cell(cell: Cell) -> str:
    figure = " ".join(filter(None, (_text(cell.text), _text(cell.spread))))
    return f"{figure}<br>{_coloured(cell.verdict, cell.kind)}" if cell.verdict else figure


def _folded(title: str, items: Iterable[tuple[str, str]]) -> str:
    return f"<details><summary>{_text(title)}</summary>{_listed(items)}</details>"


def _listed(items: Iterable[tuple[str, str]]) -> str:
    rows = (f"<li><b>{_text(term)}</b> {_text(meaning)}</li>" for term, meaning in items)
    return f"<ul>{''.join(rows)}</ul>"
