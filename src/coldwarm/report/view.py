"""What every report shows of a suite, as text in cells; the layout is left to each format."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.notes import Notes
from coldwarm.report.words import COLD_MODES, MODES, PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import (
        CaseResult,
        ColdSummary,
        Comparison,
        SuiteResult,
        Summary,
        WarmSummary,
    )

WARM: CacheMode = "warm_process"


@dataclass(frozen=True)
class Cell:
    """A figure: its text, its interval, its verdict against the baseline, its notes."""

    text: str = units.MISSING
    spread: str = ""
    verdict: str = ""
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Row:
    """A candidate: its figures by cache mode, its memory, the parts of its first results."""

    candidate: str
    figures: Mapping[CacheMode, Cell]
    memory: Cell
    parts: Mapping[CacheMode, Mapping[str, str]]
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Group:
    """The candidates of one workload, size and dtype."""

    title: str
    layout: str
    baseline: str | None
    modes: tuple[CacheMode, ...]
    rows: tuple[Row, ...]
    failures: tuple[str, ...]


@dataclass(frozen=True)
class View:
    """A whole suite."""

    groups: tuple[Group, ...]
    notes: tuple[tuple[int, str], ...]
    unavailable: tuple[str, ...]
    closing: tuple[str, ...] = field(default=())


def suite_view(suite: SuiteResult, cases: Sequence[CaseResult]) -> View:
    """Put a suite into words and numbers, in the order in which its cases stand."""
    notes = Notes()
    keys = list(dict.fromkeys(_group_key(case) for case in cases))
    groups = [_group([c for c in cases if _group_key(c) == key], notes) for key in keys]
    return View(
        groups=tuple(group for group in groups if group.rows or group.failures),
        notes=tuple(notes.texts()),
        unavailable=_unavailable(cases),
        closing=_closing(suite),
    )


def headline(case: CaseResult, mode: CacheMode) -> Summary | None:
    """Return the figure that stands for a mode: time to the first result, or a warm call."""
    if mode == WARM:
        return case.warm.call_s if case.warm else None
    return next((s.seconds.get("ttfr") for s in case.cold if s.cache_mode == mode), None)


def _group_key(case: CaseResult) -> tuple[str, int, str]:
    return (case.workload, case.size, case.dtype)


def _measured(case: CaseResult) -> bool:
    """Whether a case has anything to show in a table."""
    return bool(case.warm or case.cold)


def _group(cases: Sequence[CaseResult], notes: Notes) -> Group:
    first = cases[0]
    shown = [case for case in cases if _measured(case)]
    asked = {mode for case in shown for mode in case.protocol.cache_modes}
    modes = tuple(mode for mode in MODES if mode in asked)
    baselines = {c.baseline for case in cases for c in case.comparisons}
    baselines |= {case.candidate for case in shown if case.baseline}
    return Group(
        title=f"{first.workload} · {first.size} · {first.dtype}",
        layout=first.protocol.data_layout,
        baseline=", ".join(sorted(baselines)) or None,
        modes=modes,
        rows=tuple(_row(case, modes, notes) for case in shown),
        failures=tuple(_failure(case) for case in cases if case.status == "failed"),
    )


def _failure(case: CaseResult) -> str:
    return f"{case.candidate}: {case.reason or 'no reason was recorded'}"


def _row(case: CaseResult, modes: Sequence[CacheMode], notes: Notes) -> Row:
    remarks = list(case.warnings)
    if case.status == "warn" and case.reason:
        remarks.insert(0, case.reason)
    if case.warm and not case.warm.steady.steady and case.warm.steady.reason not in remarks:
        remarks.append(case.warm.steady.reason)
    cold = {summary.cache_mode: summary for summary in case.cold}
    return Row(
        candidate=case.candidate,
        figures={mode: _figure(case, mode, cold.get(mode), notes) for mode in modes},
        memory=_memory(case, cold, notes),
        parts={
            mode: {key: _duration(cold[mode].seconds.get(key)) for key in PARTS}
            for mode in COLD_MODES
            if mode in cold and cold[mode].seconds
        },
        marks=tuple(notes.number(remark) for remark in remarks),
    )


def _figure(case: CaseResult, mode: CacheMode, cold: ColdSummary | None, notes: Notes) -> Cell:
    """Return the headline figure of a mode: time to the first result, or a warm call."""
    summary = headline(case, mode)
    if summary is None:
        return Cell(marks=(notes.number(_why_missing(case, mode, cold)),))
    holder = case.warm if mode == WARM else cold
    reached = holder.precision_reached if holder else None
    comparison = _comparison(case, mode)
    marks = []
    if reached is None:
        marks.append(notes.number(_why_no_interval(summary)))
    if comparison and comparison.verdict == "undecided":
        marks.append(notes.number(f"undecided: {comparison.reason}"))
    return Cell(
        text=units.duration(summary.median),
        spread="" if reached is None else units.spread(reached),
        verdict=_verdict(comparison),
        marks=tuple(marks),
    )


def _why_missing(case: CaseResult, mode: CacheMode, cold: ColdSummary | None) -> str:
    """Find the reason for a missing figure where its record keeps it."""
    name = MODES[mode]
    reasons = [
        *(_reasons(case.warm, "call_s") if mode == WARM else _reasons(cold, "ttfr", "seconds")),
        *_reasons(case, mode, "warm" if mode == WARM else "cold"),
    ]
    if not reasons and mode not in case.protocol.cache_modes:
        reasons = ["not asked for"]
    if not reasons and case.reason:
        reasons = [case.reason]
    return f"{name}: {reasons[0] if reasons else 'no process gave a valid result'}"


def _reasons(record: CaseResult | ColdSummary | WarmSummary | None, *keys: str) -> list[str]:
    if record is None:
        return []
    return [record.null_reasons[key] for key in keys if key in record.null_reasons]


def _why_no_interval(summary: Summary) -> str:
    reason = summary.null_reasons.get("low") or summary.null_reasons.get("high")
    return f"no interval: {reason or f'{summary.n_processes} process'}"


def _comparison(case: CaseResult, mode: CacheMode) -> Comparison | None:
    """Return the comparison of a mode's headline figure: its metric names the mode."""
    wanted = {WARM, "warm", "call_s", "warm.call_s"} if mode == WARM else {mode, f"{mode}.ttfr"}
    return next((c for c in case.comparisons if c.metric in wanted), None)


def _verdict(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    verdict = comparison.verdict
    if verdict in {"faster", "slower"} and comparison.ratio:
        return units.factor(comparison.ratio, "faster" if verdict == "faster" else "slower")
    return verdict


def _memory(case: CaseResult, cold: Mapping[CacheMode, ColdSummary], notes: Notes) -> Cell:
    """Return the peak memory of the first cold mode that has one, empty caches before others."""
    for mode in sorted(cold, key=lambda mode: mode != "cold_process_cold_cache"):
        peak = cold[mode].peak_rss_bytes
        if peak is not None:
            return Cell(text=units.size(peak.median))
    reasons = [r for summary in cold.values() for r in _reasons(summary, "peak_rss_bytes")]
    reason = reasons[0] if reasons else (case.reason or "no fresh process was measured")
    return Cell(marks=(notes.number(f"peak memory: {reason}"),))


def _duration(summary: Summary | None) -> str:
    return units.MISSING if summary is None else units.duration(summary.median)


def _unavailable(cases: Sequence[CaseResult]) -> tuple[str, ...]:
    """Return one line for each reason for which cases were not measured."""
    skipped = [case for case in cases if case.status == "warn" and not _measured(case)]
    skipped.sort(key=lambda case: case.reason or "")
    lines = []
    for reason, group in groupby(skipped, key=lambda case: case.reason or "no reason recorded"):
        members = list(group)
        names = ", ".join(dict.fromkeys(case.candidate for case in members))
        plural = "case" if len(members) == 1 else "cases"
        lines.append(f"not measured, {reason}: {len(members)} {plural} of {names}")
    return tuple(lines)


def _closing(suite: SuiteResult) -> tuple[str, ...]:
    """Return the last lines: what was measured, in how long."""
    told = (
        f"suite {suite.suite}: {suite.n_ok} ok, {suite.n_warn} with a warning or not measured, "
        f"{suite.n_failed} failed; {units.duration(suite.wall_s)} in all, of which "
        f"{units.duration(suite.measured_s)} in measured processes"
    )
    if suite.complete:
        return (told,)
    return (told, "this run is not complete; `coldwarm run --resume` goes on from here")
