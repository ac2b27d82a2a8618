"""How much of each scenario's wall clock is spent compiling: one table for a whole suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.figures import cold_summary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult, ColdSummary

TITLE = "Share of wall clock spent compiling, in whole loops"
_CACHES: dict[CacheMode, str] = {
    "cold_process_cold_cache": "empty",
    "cold_process_warm_cache": "filled",
}
"""The cache modes that have columns, and what their headings call them."""
FIGURES = ("first", "total", "compiling")
LEGEND = (
    "first, total",
    (
        "compiling: of a process with empty or with filled caches: from its start to the first"
        " step's result, and to the end of the loop; and how much of that whole was tracing,"
        " lowering, compiling and reading caches. Imports are in the total, also the compiler's own"
    ),
)


@dataclass(frozen=True)
class Row:
    """A candidate's figures by cache mode, each a text for each of ``FIGURES``."""

    candidate: str
    cells: Mapping[CacheMode, tuple[str, ...]]


@dataclass(frozen=True)
class Section:
    """The candidates of one scenario."""

    title: str
    rows: tuple[Row, ...]


def sections(cases: Sequence[CaseResult]) -> tuple[Section, ...]:
    """Return the scenarios that have figures, in the order in which they stand."""
    by_title: dict[str, list[Row]] = {}
    for case in cases:
        cells = {mode: _cells(cold_summary(case, mode)) for mode in _CACHES}
        shown = {mode: texts for mode, texts in cells.items() if texts}
        if case.scenario and shown:
            title = f"{case.workload} {case.size} {case.dtype}"
            by_title.setdefault(title, []).append(Row(case.candidate, shown))
    return tuple(Section(title, tuple(rows)) for title, rows in by_title.items())


def columns(shown: Sequence[Section]) -> list[tuple[CacheMode, int, str]]:
    """Return cache mode, place in the row and heading of each column, in two lines."""
    measured = {mode for section in shown for row in section.rows for mode in row.cells}
    return [
        (mode, place, f"{name}\n{figure}")
        for mode, name in _CACHES.items()
        if mode in measured
        for place, figure in enumerate(FIGURES)
    ]


def cells(row: Row, wanted: Sequence[tuple[CacheMode, int, str]]) -> list[str]:
    """Return a row's texts for these columns."""
    none = (units.MISSING,) * len(FIGURES)
    return [row.cells.get(mode, none)[place] for mode, place, _ in wanted]


def _cells(summary: ColdSummary | None) -> tuple[str, ...]:
    if summary is None or "total" not in summary.seconds:
        return ()
    times = [summary.seconds.get(name) for name in ("ttfr_process", "total")]
    share = summary.compiling_share
    return (
        *(units.MISSING if one is None else units.duration(one.median) for one in times),
        units.MISSING if share is None else f"{share.median:.0%}",
    )
