"""The table of the trials: what each tool said, how often it was wrong, and at what price."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

CONFIDENCE = 0.95
CALLS = ("faster", "slower", "same", "undecided")
STEPS = 60
"""Halvings when a bound is searched for: more than a float can tell apart."""


@dataclass
class Row:
    """All trials of a tool's rule, a kind and a neighbourhood.

    In A/B rows the calls are of the side with more work: ``slower`` is right.
    """

    tool: str
    rule: str
    kind: str
    neighbours: str
    calls: list[str] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def wrong(self) -> int:
        """Trials with a difference that is none, or without the one that is."""
        right = ("same", "undecided") if self.kind.endswith("aa") else ("slower",)
        return sum(call not in right for call in self.calls)


def rows(lines: Iterable[dict[str, Any]]) -> list[Row]:
    """Gather the lines of a file of trials, in the order of tools, kinds and neighbours.

    A failed trial counts in every row of its tool, kind and neighbours.
    """
    found: dict[tuple[str, str, str, str], Row] = {}
    failed: dict[tuple[str, str, str], int] = {}
    for line in lines:
        if line["record"] != "trial":
            continue
        setting = (line["tool"], line["kind"], line["neighbours"])
        if line["failed"]:
            failed[setting] = failed.get(setting, 0) + 1
            continue
        turn = line["a"] == "more"
        for rule, call in line["calls"].items():
            key = (line["tool"], rule, *setting[1:])
            row = found.setdefault(key, Row(*key))
            row.calls.append(_turned(call) if turn else call)
            row.seconds.append(line["seconds"])
            if line["ratio"]:
                row.ratios.append(1 / line["ratio"] if turn else line["ratio"])
    for setting, count in failed.items():
        mine = [row for row in found.values() if setting == (row.tool, row.kind, row.neighbours)]
        key = (setting[0], "", *setting[1:])
        for row in mine or [found.setdefault(key, Row(*key))]:
            row.failed = count
    return sorted(found.values(), key=lambda row: (row.kind, row.neighbours != "none", row.tool))


def _turned(call: str) -> str:
    return {"faster": "slower", "slower": "faster"}.get(call, call)


def table(found: Sequence[Row]) -> Table:
    """Return the rows as a table."""
    made = Table(title="A/A and A/B trials", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("kind", "tool and rule"):
        made.add_column(name)
    for name in ("trials", *CALLS, "failed", "wrong", "in % at 95 %", "ratio", "s a trial"):
        made.add_column(name, justify="right")
    setting = ""
    for row in found:
        here = f"{row.kind}, {row.neighbours}"
        if setting and setting != here:
            made.add_section()
        made.add_row(here if setting != here else "", *_cells(row))
        setting = here
    return made


def _cells(row: Row) -> list[str]:
    n = len(row.calls)
    low, high = clopper_pearson(row.wrong, n) if n else (0.0, 1.0)
    return [
        f"{row.tool} {row.rule}".strip(),
        str(n),
        *(str(row.calls.count(call)) for call in CALLS),
        str(row.failed),
        str(row.wrong),
        f"{100 * low:.1f} to {100 * high:.1f}" if n else "–",
        f"{statistics.median(row.ratios):.3f}" if row.ratios else "–",
        f"{statistics.median(row.seconds):.1f}" if row.seconds else "–",
    ]


def clopper_pearson(k: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bound the chance of an event that came k times in n trials.

    Above the upper bound, as few as k would come in less than half of ``1 - confidence``;
    below the lower one, as many.
    """
    tail = (1 - confidence) / 2
    low = 0.0 if k == 0 else _root(lambda p: 1 - at_most(k - 1, n, p) - tail)
    high = 1.0 if k == n else _root(lambda p: tail - at_most(k, n, p))
    return low, high


def at_most(k: int, n: int, p: float) -> float:
    """Return the chance of at most k events in n trials of chance p each."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


def _root(rising: Callable[[float], float]) -> float:
    """Return where a function that rises from 0 to 1 crosses zero."""
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
