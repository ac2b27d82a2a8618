"""Two reports of the doctor, of a program before and after a change: what is gone, what is new."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.doctor.findings_document import compiling, finding_terms, notice, place
from coldwarm.doctor.judge import is_small
from coldwarm.report import units
from coldwarm.report.document import Document, Paragraph, table
from coldwarm.report.sentences import counted
from coldwarm.report.shown import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import DoctorReport, Finding
    from coldwarm.report.document import Block

    Pair = tuple[Finding | None, Finding | None]
    """A finding before and after the change; ``None``: it is not there."""


def pairs(before: DoctorReport, after: DoctorReport) -> list[Pair]:
    """Return the findings that matter in either report: the new ones, those gone, and the others.

    A finding is the same at another line of its function: lines move.
    """
    earlier: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
    for one in before.findings:
        earlier[_key(one)].append(one)
    found: list[Pair] = []
    for one in after.findings:
        same = earlier[_key(one)]
        found.append((same.pop(0) if same else None, one))
    found += [(one, None) for rest in earlier.values() for one in rest]
    return sorted(
        (one for one in found if _matters(one, before, after)),
        key=lambda one: (one[0] is not None, one[1] is not None),
    )


def _key(one: Finding) -> tuple[str, ...]:
    argument = one.cause.argument if one.cause is not None else ""
    return one.pattern, place(one.path), one.function, argument


def _matters(pair: Pair, before: DoctorReport, after: DoctorReport) -> bool:
    return any(
        one is not None and not is_small(one, report.account.total_s)
        for one, report in zip(pair, (before, after), strict=True)
    )


def new(found: Sequence[Pair]) -> list[Finding]:
    """Return the findings that were not there before the change."""
    return [now for was, now in found if was is None and now is not None]


def document(before: DoctorReport, after: DoctorReport, found: Sequence[Pair]) -> Document:
    """Return what the change has brought, by its ``pairs``: what is new is told in full."""
    blocks: list[Block] = [Paragraph(_answer(before, after, found), "strong")]
    if found:
        columns = ("finding", "where", "before", "after")
        blocks.append(table(columns, map(_row, found), labels=2))
    blocks += _told(new(found))
    return without_secrets(Document("coldwarm doctor", tuple(blocks)))


def _answer(before: DoctorReport, after: DoctorReport, found: Sequence[Pair]) -> str:
    n_new = len(new(found))
    n_gone = sum(now is None for _, now in found)
    n_left = len(found) - n_new - n_gone
    spent = [f"{units.duration(compiling(one.account))} compiling" for one in (before, after)]
    numbers = f"{counted(n_new, 'finding')} new, {n_gone} gone, {n_left} as before"
    return f"{numbers}; {spent[0]} before the change, {spent[1]} after it."


def _row(pair: Pair) -> tuple[str, ...]:
    one = next(one for one in reversed(pair) if one is not None)
    return one.pattern, f"{place(one.path)}:{one.line}", *map(_cost, pair)


def _cost(one: Finding | None) -> str:
    if one is None:
        return units.MISSING
    return "found" if one.cost_s is None else units.duration(one.cost_s)


def _told(found: Sequence[Finding]) -> Iterator[Block]:
    for rank, one in enumerate(found, 1):
        yield finding_terms(rank, one)
        yield notice(one)
