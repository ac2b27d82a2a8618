"""Rows of the page's tables: figures with verdicts, correctness, and what was rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.contracts.reasons import because
from coldwarm.report import units
from coldwarm.report.figures import cold_figure, comparison, group_name, headline
from coldwarm.report.sentences import with_advice, words
from coldwarm.report.words import MODE_NAMES, mode_name
from coldwarm.stats.outcome import gates
from coldwarm.stats.selection import rejects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.view import Row


@dataclass(frozen=True)
class Figure:
    """A headline figure of a case: its median, and the verdict against the baseline."""

    workload: str
    candidate: str
    anchor: str
    """Of the workload's section."""
    what: str
    """``warm call``, ``first result, empty caches``, …"""
    median_s: float | None
    median: str
    spread: str
    verdict: str
    """``faster``, ``slower``, ``same``, ``undecided``, ``baseline``; empty: there is none."""
    ratio: str
    """The bounds of the ratio, as words."""
    ratio_value: float | None
    n_processes: int
    n_rejected: int
    status: str
    why: str
    """Of a verdict, what it rests on; of a missing figure, why."""


@dataclass(frozen=True)
class GateRow:
    """The correctness of a case: its outputs against the reference."""

    workload: str
    candidate: str
    passed: str
    """``all 12 processes``, or how many."""
    failed: bool
    error: str
    tolerance: str
    checked: str
    reason: str


@dataclass(frozen=True)
class RejectedRow:
    """A process that counts for nothing, and why."""

    workload: str
    candidate: str
    mode: str
    place: str
    what: str
    reason: str
    stderr: str


def figures(
    cases: Sequence[CaseResult], rows: dict[tuple[str, str], Row], anchors: dict[str, str]
) -> list[Figure]:
    """Return the headline figures of all cases in their order, also missing ones of failures."""
    return [
        _figure(case, mode, rows.get((group_name(case), case.candidate)), anchors)
        for case in cases
        for mode in MODE_NAMES
        if mode in case.protocol.cache_modes
        if case.status == "failed" or (group_name(case), case.candidate) in rows
    ]


def _figure(case: CaseResult, mode: CacheMode, row: Row | None, anchors: dict[str, str]) -> Figure:
    summary, judged = headline(case, mode), comparison(case, mode)
    cell = row.figures.get(mode) if row else None
    told = judged.verdict if judged else "baseline" if case.baseline and summary else ""
    holder = (
        case.warm if mode == WARM else next((c for c in case.cold if c.cache_mode == mode), None)
    )
    missing = case.reason or because("unstated")
    why = words(judged.reason) if judged else "" if summary else words(missing)
    return Figure(
        workload=group_name(case),
        candidate=case.candidate,
        anchor=anchors.get(group_name(case), ""),
        what=_what(case, mode),
        median_s=summary.median if summary else None,
        median=cell.text if cell else units.MISSING,
        spread=cell.spread if cell else "",
        verdict=told,
        ratio=(cell.note or cell.below) if cell and judged else "",
        ratio_value=judged.ratio if judged else None,
        n_processes=summary.n_processes if summary else 0,
        n_rejected=holder.n_rejected if holder else 0,
        status=case.status,
        why=why,
    )


def _what(case: CaseResult, mode: CacheMode) -> str:
    if mode == WARM:
        return "loop again, warm" if case.scenario else "warm call"
    whole = "whole loop" if cold_figure(case) == "total" else "first result"
    return f"{whole}, {MODE_NAMES[mode]}"


def gate_rows(cases: Sequence[CaseResult]) -> Iterator[GateRow]:
    """Yield the correctness of each case that was checked."""
    for case in cases:
        found = gates(case.observations)
        if found is None:
            continue
        whole = found.n_passed == found.n_checked
        yield GateRow(
            workload=group_name(case),
            candidate=case.candidate,
            passed=f"{'all ' if whole else ''}{found.n_passed} of {found.n_checked}",
            failed=not whole,
            error="–" if found.worst is None else f"{found.worst:.2g}",
            tolerance=f"{found.tolerance:.2g}",
            checked=", ".join(name.replace("_", " ") for name in found.checked),
            reason=words(found.reason) if found.reason else "",
        )


def rejected_rows(cases: Sequence[CaseResult]) -> Iterator[RejectedRow]:
    """Yield the processes that count for nothing."""
    for case in cases:
        for one in rejects(case.observations):
            yield RejectedRow(
                workload=group_name(case),
                candidate=case.candidate,
                mode=mode_name(one.mode),
                place=f"round {one.observation.round}, try {one.observation.attempt + 1}",
                what=one.observation.status if one.observation.status != "ok" else "rejected",
                reason=with_advice(one.reason),
                stderr=one.observation.stderr_tail or "",
            )
