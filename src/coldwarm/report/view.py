"""What every report shows of a suite, as text in cells; the layout is left to each format."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.report import care, filled, scenarios, units
from coldwarm.report.answers import lines
from coldwarm.report.figures import (
    bounds,
    comparison,
    group_name,
    headline,
    peak_memory,
    ratio,
    reached,
)
from coldwarm.report.sentences import with_advice
from coldwarm.report.words import (
    HEADINGS,
    LOOP_HEADINGS,
    LOOP_PARTS,
    LOOP_TERM,
    MODE_NAMES,
    PARTS,
    legend,
    marked,
    parts_title,
)
from coldwarm.stats.cautions import held_back
from coldwarm.stats.plan.costs import making_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult, ColdSummary, SuiteResult
    from coldwarm.report.answers import Line
    from coldwarm.report.care import Remark
    from coldwarm.report.filled import Needed
    from coldwarm.report.scenarios import Loops


@dataclass(frozen=True)
class Cell:
    """A figure: its text, its interval, its verdict against the baseline."""

    text: str = units.MISSING
    spread: str = ""
    verdict: str = ""
    """As the bounds of the ratio, or ``same`` or ``undecided``; and why no headline rests on it."""
    kind: str = ""
    """The verdict alone."""
    bounds: str = ""
    """Of a ratio that is called the same or undecided."""


@dataclass(frozen=True)
class Row:
    """A candidate: its figures by cache mode, its memory, the parts of its first results."""

    candidate: str
    figures: Mapping[CacheMode, Cell]
    memory: str | None
    """``None`` for all where no fresh process was asked for, which alone says it."""
    parts: Mapping[CacheMode, tuple[str, ...]]
    """For each mode that has any, a text for each of its group's ``parts``."""


@dataclass(frozen=True)
class Group:
    """The candidates of one workload, size and dtype."""

    title: str
    about: str
    answer: tuple[Line, ...]
    """Which candidate is the cheapest, and who leads: at most three lines."""
    modes: tuple[CacheMode, ...]
    rows: tuple[Row, ...]
    failures: tuple[str, ...]
    headings: Mapping[CacheMode, tuple[str, str]]
    """Of the figures, in two lines."""
    parts: Mapping[str, str]
    """Keys of the parts, and their headings."""
    parts_title: str
    made: tuple[tuple[str, str], ...]
    """Candidates of which something was compiled ahead of time, and what that cost."""
    filled: tuple[Needed, ...]
    """What programs must set for the filled caches of the figures."""
    by_default: tuple[tuple[str, str], ...]
    """Candidates with other figures where that is not set, and those."""
    care: tuple[Remark, ...]


@dataclass(frozen=True)
class View:
    """A whole suite."""

    groups: tuple[Group, ...]
    loops: Loops
    care: tuple[tuple[str, str], ...]
    """What to read with care: of each group, then of all or of the machine."""
    unavailable: tuple[str, ...]
    legend: tuple[tuple[str, str], ...]
    closing: tuple[str, ...]


def suite_view(
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    answers: Sequence[Answer] = (),
    *,
    verbose: bool = True,
) -> View:
    """Put a suite into words and numbers, in the order in which its cases stand.

    ``answers``: of its groups. ``verbose``: the parts of the first results are shown, so that
    their columns are explained.
    """
    said = {one.group: lines(one) for one in answers}
    grouped: dict[str, list[CaseResult]] = {}
    for case in cases:
        grouped.setdefault(group_name(case), []).append(case)
    names = {case.case: case.candidate for case in cases}
    groups = [
        _group(title, members, names, said.get(members[0].group, ()))
        for title, members in grouped.items()
    ]
    shown = tuple(group for group in groups if group.rows or group.failures)
    loops = scenarios.loops(cases)
    of_all = care.of_suite([case for case in cases if _has_row(case)])
    return View(
        groups=shown,
        loops=loops,
        care=care.joined([(group.title, group.care) for group in shown], of_all),
        unavailable=_unavailable(cases),
        legend=_legend(shown, cases, parts=verbose)
        + (((LOOP_TERM, scenarios.LEGEND)) if loops.rows else ()),
        closing=_closing(suite),
    )


def _legend(
    groups: Sequence[Group], cases: Sequence[CaseResult], *, parts: bool
) -> tuple[tuple[str, str], ...]:
    """Return the meaning of what is there, and of nothing else."""
    rows = [row for group in groups for row in group.rows]
    cells = [cell for row in rows for cell in row.figures.values()]
    given = {cell.kind for cell in cells}
    modes = {mode for group in groups if group.headings is HEADINGS for mode in group.modes}
    parts = parts and any(row.parts for row in rows)
    texts = [text for row in rows for part in row.parts.values() for text in part] if parts else []
    texts += [*(cell.text for cell in cells), *(row.memory or "" for row in rows)]
    there = {
        "first": bool(modes - {WARM}),
        "built": any("build" in group.parts for group in groups),
        "first_ever": any("first_ever" in group.modes for group in groups),
        "warm": WARM in modes,
        "half_width": any(cell.spread[:1] in {"±", ">", "<"} for cell in cells if cell.spread),
        "few": any(cell.spread.startswith("(") for cell in cells),
        "ratio": bool(given & {"faster", "slower"}),
        "same": "same" in given,
        "parts": parts,
        "missing": any(text == units.MISSING for text in texts),
    }
    thresholds = {one.threshold for case in cases for one in case.comparisons}
    return legend({name for name, shown in there.items() if shown}, thresholds)


def _has_row(case: CaseResult) -> bool:
    """Say whether a case has a figure, or was tried without a failure that says all."""
    figures = any(summary.seconds for summary in case.cold) or (case.warm and case.warm.call_s)
    return bool(figures or (case.observations and case.status != "failed"))


def _group(
    title: str, cases: Sequence[CaseResult], names: Mapping[str, str], answer: tuple[Line, ...]
) -> Group:
    shown = [case for case in cases if _has_row(case)]
    asked = {mode for case in shown for mode in case.protocol.cache_modes}
    modes = tuple(mode for mode in MODE_NAMES if mode in asked)
    baselines = {names.get(c.baseline, c.baseline) for case in shown for c in case.comparisons}
    baselines |= {case.candidate for case in shown if case.baseline}
    against = f" · baseline: {', '.join(sorted(baselines))}" if baselines else ""
    unit = units.table_unit(_longest_s(shown))
    loop = any(case.scenario for case in cases)
    names_of_parts = LOOP_PARTS if loop else PARTS
    columns = _columns(shown, names_of_parts)
    return Group(
        headings=LOOP_HEADINGS if loop else HEADINGS,
        parts={key: name for key, name in names_of_parts.items() if key in columns},
        parts_title=parts_title(unit, loop=loop),
        title=title,
        answer=answer,
        about=cases[0].protocol.data_layout + against,
        modes=modes,
        rows=tuple(_row(case, modes, unit, columns) for case in shown),
        failures=tuple(f"{c.candidate}: {_why(c)}" for c in cases if c.status == "failed"),
        made=tuple((case.candidate, _made(case)) for case in shown if case.made),
        filled=tuple(filled.of_cases(shown)) if FILLED in modes else (),
        by_default=tuple(filled.by_default(shown)),
        care=care.of_group(shown, modes),
    )


def _why(case: CaseResult) -> str:
    return with_advice(case.reason or because("unstated"))


def _made(case: CaseResult) -> str:
    """Write what a making cost: the whole process, and the parts of the last one."""
    last = case.made[-1]
    steps = {phase.name: phase.duration_s for phase in last.phases}
    parts = {name: getattr(last.parts, f"{name}_s") for name in ("trace", "lower", "compile")}
    known = {"import": steps.get("import"), **parts, "writing": last.parts.rest_s}
    listed = ", ".join(f"{name} {units.duration(s)}" for name, s in known.items() if s)
    wall = units.duration(making_s(case) or last.wall_s)
    again = f" (median of {len(case.made)})" if len(case.made) > 1 else ""
    peak = "" if last.peak_rss_bytes is None else f"; peak memory {units.size(last.peak_rss_bytes)}"
    return f"{wall}{again}: {listed}; {units.size(last.artifact_bytes)} to load{peak}"


def _longest_s(cases: Sequence[CaseResult]) -> float:
    figures = (s.seconds.get("total", s.seconds.get("ttfr_process")) for c in cases for s in c.cold)
    whole = [summary for summary in figures if summary is not None]
    return max((summary.median for summary in whole), default=0.0)


def _columns(cases: Sequence[CaseResult], names: Iterable[str]) -> list[str]:
    """Return the parts that have a column: ``build`` only where something was built."""
    built = any("build" in summary.seconds for case in cases for summary in case.cold)
    return [name for name in names if built or name != "build"]


def _row(case: CaseResult, modes: Sequence[CacheMode], unit: str, columns: Sequence[str]) -> Row:
    peak = peak_memory(case)
    memory = units.MISSING if peak is None else units.size(peak.median)
    return Row(
        candidate=case.candidate,
        figures={mode: _figure(case, mode) for mode in modes},
        memory=None if set(modes) == {WARM} else memory,
        parts={
            summary.cache_mode: _parts(summary, columns, unit)
            for summary in case.cold
            if summary.seconds
        },
    )


def _figure(case: CaseResult, mode: CacheMode) -> Cell:
    """Return the headline figure of a mode: time to the first result, or a warm call."""
    summary = headline(case, mode)
    if summary is None:
        return Cell()
    judged = comparison(case, mode)
    against: dict[str, str] = {}
    if judged is not None:
        told = judged.verdict in {"faster", "slower"}
        against["verdict"], against["kind"] = marked(ratio(judged), held_back(case)), judged.verdict
        against["bounds"] = "" if told else bounds(judged)
    half_width = reached(case, mode)
    if half_width is not None:
        return Cell(units.duration(summary.median), units.spread(half_width), **against)
    if summary.low is None or summary.high is None:
        return Cell(units.duration(summary.median), "(1)", **against)
    span = units.between(summary.low, summary.high)
    return Cell(span, f"({summary.n_processes})", **against)


def _parts(summary: ColdSummary, names: Iterable[str], unit: str) -> tuple[str, ...]:
    seconds = dict(summary.seconds)
    if "first_call.rest" not in seconds and "first_call" in seconds:
        # Nothing is known of its parts, so all of it is the rest.
        seconds["first_call.rest"] = seconds["first_call"]
    summaries = [seconds.get(key) for key in names]
    return tuple(
        units.MISSING if one is None else units.part(one.median, unit) for one in summaries
    )


def _unavailable(cases: Sequence[CaseResult]) -> tuple[str, ...]:
    skipped = [case for case in cases if case.status != "failed" and not _has_row(case)]
    skipped.sort(key=_why)
    lines = []
    for reason, group in groupby(skipped, key=_why):
        members = list(group)
        names = ", ".join(dict.fromkeys(case.candidate for case in members))
        n_groups = len({group_name(case) for case in members})
        where = f" (in {n_groups} groups)" if n_groups > 1 else ""
        lines.append(f"{reason}: {names}{where}")
    return tuple(lines)


def _closing(suite: SuiteResult) -> tuple[str, ...]:
    summary = (
        f"suite {suite.suite}: {suite.n_ok} ok, {suite.n_warn} with a warning or not measured, "
        f"{suite.n_failed} failed; {units.duration(suite.wall_s)} in all, of which "
        f"{units.duration(suite.measured_s)} in measured processes"
    )
    if suite.complete:
        return (summary,)
    if suite.suite == "bench":
        return (summary, "this bench was interrupted: what it had measured is here")
    return (summary, "this run is not complete; `coldwarm run --resume` goes on from here")
