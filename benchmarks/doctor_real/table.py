"""The labelled findings as a table of the documentation. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    Row = dict[str, Any]

LABELS = ("right", "minor", "false")
"""What a finding can be: worth a change, true and of no matter, or not true."""


def markdown(rows: Sequence[Row]) -> str:
    """Return what was found, program by program."""
    parts = [_summary(rows), _table(("program", "exit", "output", "s", "findings"), _runs(rows))]
    parts += ["## Every finding", *map(_findings, (one for one in rows if one["findings"]))]
    return "\n\n".join(parts)


def _summary(rows: Sequence[Row]) -> str:
    labels = Counter(each["label"] for one in rows for each in one["findings"])
    silent = sum(not one["findings"] for one in rows)
    changed = sum(one["exit_plain"] != one["exit_doctor"] or not one["same_output"] for one in rows)
    return (
        f"{len(rows)} programs; the doctor changed the output or the exit status of {changed}. In"
        f" {silent} it found nothing. Of {labels.total()} findings {labels['right']} are right,"
        f" {labels['minor']} right and of no matter, and {labels['false']} false."
    )


def _runs(rows: Iterable[Row]) -> Iterator[Sequence[str]]:
    for one in rows:
        ends = {str(one["exit_plain"]), str(one["exit_doctor"])}
        counts = Counter(each["label"] for each in one["findings"])
        found = ", ".join(f"{counts[label]} {label}" for label in LABELS if counts[label])
        output = "same" if one["same_output"] else "differs"
        yield (
            f"`{one['program']}`",
            " then ".join(sorted(ends)),
            output,
            f"{one['plain_s']:.1f}, {one['doctor_s']:.1f}",
            found or "–",
        )


def _findings(one: Row) -> str:
    body = [
        (
            f"`{each['path'].rpartition('/')[2]}:{each['line']}` `{_cell(each['source'])}`",
            each["pattern"],
            "–" if each["cost_s"] is None else f"{each['cost_s']:.2f}",
            _cell(each["text"], code=False),
            each["label"],
            _cell(each["why"], code=False),
        )
        for each in one["findings"]
    ]
    head = ("line", "pattern", "s", "the doctor says", "label", "why")
    return f"`{one['program']}`\n\n{_table(head, body)}"


def _cell(text: str, *, code: bool = True) -> str:
    """Return a text that ends no cell of a table; outside of `code` nothing in it is markup."""
    parts = text.replace("|", r"\|").split("`")
    if not code:
        parts[::2] = [re.sub(r"([<*_])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
