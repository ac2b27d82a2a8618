"""Verdicts on patterns and claims as Markdown, for a README or a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import markdown

if TYPE_CHECKING:
    from coldwarm.report.catalogue.told import Row, Told


def as_markdown(told: Told) -> str:
    """Return a heading, on what it was measured, how often each verdict was given, and a table."""
    blocks = [
        f"## {markdown.escaped(told.title)}",
        markdown.escaped(told.summary),
        markdown.table(told.headings, map(_row, told.rows), labels=len(told.headings)),
        markdown.terms(told.about),
    ]
    return "\n\n".join(blocks) + "\n"


def _row(row: Row) -> list[str]:
    name = markdown.code(row.name)
    statement = f"{name}<br>{markdown.escaped(row.title)}" if row.title else name
    verdict = f"**{markdown.escaped(row.said)}**"
    why = f"<br>{markdown.escaped(row.why)}" if row.why else ""
    return [statement, *map(markdown.escaped, row.cells), f"{verdict}{why}"]
