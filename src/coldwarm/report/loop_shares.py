"""How much of each scenario's wall clock is spent compiling: one table for a whole suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.report import units
from coldwarm.report.headline import cold_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult, ColdSummary

LOOPS_TITLE = "Share of wall clock spent compiling, in whole loops"
_CACHES: dict[CacheMode, str] = {
    "cold_process_cold_cache": "empty",
    "cold_process_warm_cache": "filled",
}
"""The cache modes that have columns, and what their headings call them."""
_FIGURES = ("first", "total", "compiling")
_NONE = (units.MISSING,) * len(_FIGURES)
LOOPS_LEGEND = (
    ("first", "from the start of a process, caches empty or filled, to the first step's result"),
    ("total", "the same to the end of the loop; it contains all imports"),
    ("compiling", "how much of the total was tracing, lowering, compiling and reading caches"),
)


class Loops(NamedTuple):
    """Share of whole loops that went into compiling."""

    headings: list[str]
    """Headings of the figures, in two lines."""
    rows: dict[str, list[tuple[str, list[str]]]]
    """By scenario, its candidates, each with its figures."""


def loops(cases: Sequence[CaseResult]) -> Loops:
    """Return the scenarios that have figures, in the order in which they stand."""
    found = [
        (case, {mode: _cells(cold_summary(case, mode)) for mode in _CACHES})
        for case in cases
        if case.scenario
    ]
    modes = [mode for mode in _CACHES if any(cells[mode] for _, cells in found)]
    rows: dict[str, list[tuple[str, list[str]]]] = {}
    for case, cells in found:
        if any(cells.values()):
            texts = [text for mode in modes for text in cells[mode] or _NONE]
            title = f"{case.workload} {case.size} {case.dtype}"
            rows.setdefault(title, []).append((case.candidate, texts))
    return Loops([f"{_CACHES[mode]}\n{name}" for mode in modes for name in _FIGURES], rows)


def _cells(summary: ColdSummary | None) -> tuple[str, ...]:
    if summary is None or "total" not in summary.seconds:
        return ()
    times = [summary.seconds.get(name) for name in ("ttfr_process", "total")]
    share = summary.compiling_share
    return (
        *(units.MISSING if one is None else units.duration(one.median) for one in times),
        units.MISSING if share is None else f"{share.median:.0%}",
    )
