"""The final tables as Markdown, for a README or the summary of a CI job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.view import WARM, Cell, Group, Row, suite_view
from coldwarm.report.words import COLD_MODES, MAIN_LEGEND, MODES, PARTS, PARTS_LEGEND

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.result import CaseResult, SuiteResult

_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|~#"} | {"\n": " "})


def render(suite: SuiteResult, cases: Sequence[CaseResult]) -> str:
    """Return the tables, the notes, what was not measured, and what the columns mean."""
    view = suite_view(suite, cases)
    blocks: list[str] = []
    for group in view.groups:
        blocks += _group(group)
    if view.notes:
        blocks.append(_lines(f"{number}. {_escaped(text)}" for number, text in view.notes))
    if view.unavailable:
        blocks.append(_lines(f"- {_escaped(line)}" for line in view.unavailable))
    legend = (*MAIN_LEGEND, *PARTS_LEGEND)
    blocks.append(_lines(f"- **{term}**: {_escaped(meaning)}" for term, meaning in legend))
    # Closing lines name commands in backticks, and are ours: nothing to escape.
    blocks.append(_lines(view.closing))
    return "\n\n".join(blocks) + "\n"


def _group(group: Group) -> list[str]:
    against = f", compared with {_escaped(group.baseline)}" if group.baseline else ""
    blocks = [f"### {_escaped(group.title)}{against}", _escaped(group.layout)]
    if group.rows:
        blocks.append(_main_table(group))
    if group.failures:
        blocks.append(_lines(f"- **failed**: {_escaped(failure)}" for failure in group.failures))
    if any(row.parts for row in group.rows):
        blocks += ["Medians of the parts:", _parts_table(group)]
    return blocks


def _main_table(group: Group) -> str:
    names = ["warm call" if mode == WARM else MODES[mode] for mode in group.modes]
    rows = [
        [_name(row), *(_figure(row.figures[mode]) for mode in group.modes), _figure(row.memory)]
        for row in group.rows
    ]
    return _table(["candidate", *names, "peak memory"], rows)


def _parts_table(group: Group) -> str:
    rows = [
        [MODES[mode], _code(row.candidate), *row.parts[mode].values()]
        for mode in COLD_MODES
        for row in group.rows
        if mode in row.parts
    ]
    return _table(["caches", "candidate", *PARTS.values()], rows, labels=2)


def _name(row: Row) -> str:
    return f"{_code(row.candidate)}{_marks(row.marks)}"


def _code(name: str) -> str:
    """Write a name as code, in which Markdown reads no markup but its own end."""
    return f"`{name.replace('`', '').replace('|', '')}`"


def _figure(cell: Cell) -> str:
    text = " ".join(filter(None, (cell.text, cell.spread))) + _marks(cell.marks)
    return f"{text}<br>{cell.verdict}" if cell.verdict else text


def _marks(marks: tuple[int, ...]) -> str:
    return f"<sup>{', '.join(map(str, sorted(marks)))}</sup>" if marks else ""


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]], *, labels: int = 1) -> str:
    """Lay out a table whose first columns are labels, aligned left, and the others figures."""
    rule = [":--" if place < labels else "--:" for place in range(len(heading))]
    return _lines(f"| {' | '.join(cells)} |" for cells in (heading, rule, *rows))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Keep Markdown from reading text as markup."""
    return text.translate(_SPECIAL)
