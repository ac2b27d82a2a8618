"""Counts of what was compiled, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report import terminal, units
from coldwarm.report.reasons import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from coldwarm.contracts.summary import CountVerdict

_STYLES = {"more": "red", "less": "green", "same": "bold", "undecided": "dim italic"}


def shown(counts: Sequence[CountVerdict], *, everything: bool = False) -> list[CountVerdict]:
    """Return those that a build guards, or all."""
    return [one for one in counts if everything or one.guarded]


def cells(one: CountVerdict) -> list[str]:
    """Return the case, the name, how many there were and are, and the verdict."""
    numbers = [units.MISSING if n is None else f"{n}" for n in (one.reference, one.count)]
    return [one.case, one.name, *numbers, _verdict(one, ", ")]


def laid_out(counts: Sequence[CountVerdict], sides: tuple[str, str], width: int) -> Table:
    """Lay them out; ``sides`` names what each is held against, and what is held."""
    rows = []
    for one in counts:
        case, name, before, now, _ = cells(one)
        style = _STYLES[one.verdict] if one.fails_beyond is None else "bold red"
        verdict = Text(_verdict(one, "\n"), style)
        rows.append([line(case, "bold"), line(name), Text(before), Text(now), verdict])
    return terminal.table(["", "", *sides, "verdict"], rows, width)


def _verdict(one: CountVerdict, between: str) -> str:
    if one.fails_beyond is not None:
        return f"{one.verdict}{between}FAIL: beyond {one.fails_beyond}"
    return one.verdict


def unknown(counts: Sequence[CountVerdict]) -> list[tuple[str, str]]:
    """Return the names that are undecided, and why."""
    reasons = {one.name: words(one.reason) for one in counts if one.reason is not None}
    return list(reasons.items())
