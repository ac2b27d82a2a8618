"""A suite as a document: its answers, its figures in tables, its caveats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.report import care, filled, loop_shares, units
from coldwarm.report.answer_text import TITLE, budget_option, lines
from coldwarm.report.document import (
    Cell,
    Document,
    Heading,
    Notice,
    Paragraph,
    Piece,
    Rows,
    Table,
    command,
    name,
    table,
    terms,
)
from coldwarm.report.document import row as cells
from coldwarm.report.headline import (
    bounds,
    comparison,
    group_name,
    headline,
    n_few,
    peak_memory,
    ratio,
    reached,
    seen,
)
from coldwarm.report.sentences import with_advice
from coldwarm.report.words import (
    COLD_MODES,
    HEADINGS,
    LOOP_HEADINGS,
    LOOP_PARTS,
    LOOP_TERM,
    MADE_TITLE,
    MODE_NAMES,
    NOT_YET,
    PARTS,
    legend,
    marked,
    parts_title,
)
from coldwarm.stats.cautions import held_back
from coldwarm.stats.costs import making_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.result import CaseResult, ColdSummary, SuiteResult
    from coldwarm.report.answer_text import Line as Answered
    from coldwarm.report.care import Remark
    from coldwarm.report.document import Block, Line
    from coldwarm.report.filled import Needed
    from coldwarm.report.loop_shares import Loops


_CARE = "Caveats"
"""Title of a list of what weakens figures."""


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
    answer: tuple[Answered, ...]
    """Which candidate is the cheapest, and who leads: at most three lines."""
    modes: tuple[CacheMode, ...]
    rows: tuple[Row, ...]
    failures: tuple[str, ...]
    headings: Mapping[CacheMode, tuple[str, str]]
    """Headings of the figures, in two lines."""
    parts: Mapping[str, str]
    """Keys of the parts, and their headings."""
    parts_title: str
    made: tuple[tuple[str, str], ...]
    """Candidates of which something was compiled ahead of time, and what that cost."""
    filled: tuple[Needed, ...]
    """Settings of programs for the filled caches of the figures."""
    by_default: tuple[tuple[str, str], ...]
    """Candidates with other figures where that is not set, and those."""
    care: tuple[Remark, ...]


@dataclass(frozen=True)
class View:
    """A whole suite."""

    groups: tuple[Group, ...]
    loops: Loops
    care: tuple[tuple[str, str], ...]
    """Caveats: of each group, then of all or of the machine."""
    unavailable: tuple[str, ...]
    legend: tuple[tuple[str, str], ...]
    closing: tuple[Line, ...]


def suite_view(  # noqa: PLR0913 - what is told, each by name
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    answers: Sequence[Answer] = (),
    *,
    remarks: Sequence[Remark] = (),
    verbose: bool = True,
    budget: Callable[[float], str] | None = budget_option,
) -> View:
    """Put a suite into words and numbers, in the order in which its cases stand.

    ``answers``: of its groups. ``remarks``: further caveats. ``verbose``: all caveats with what to
    do about them; the parts of the first results are shown, so that their columns are explained.
    ``budget``: as of an answer's lines.
    """
    said = {one.group: lines(one, budget=budget) for one in answers}
    grouped: dict[str, list[CaseResult]] = {}
    for case in cases:
        grouped.setdefault(group_name(case), []).append(case)
    names = {case.case: case.candidate for case in cases}
    groups = [
        _group(title, members, names, said.get(members[0].group, ()))
        for title, members in grouped.items()
    ]
    shown = tuple(group for group in groups if group.rows or group.failures)
    by_group = [(group.title, group.care) for group in shown]
    loops = loop_shares.loops(cases)
    of_all = (*care.of_suite([case for case in cases if _has_row(case)]), *remarks)
    return View(
        groups=shown,
        loops=loops,
        care=(care.joined if verbose else care.brief)(by_group, of_all),
        unavailable=_unavailable(cases),
        legend=_legend(shown, cases, parts=verbose)
        + ((LOOP_TERM, *loop_shares.LOOPS_LEGEND) if loops.rows else ()),
        closing=_closing(suite),
    )


def document(  # noqa: PLR0913 - what stands where, each by name
    suite: SuiteResult,
    cases: Sequence[CaseResult],
    *,
    answers: Sequence[Answer] = (),
    ahead: Sequence[Block] = (),
    more: Sequence[Block] = (),
    remarks: Sequence[Remark] = (),
    verbose: bool = False,
    budget: Callable[[float], str] | None = budget_option,
) -> Document:
    """Return the answers, the tables, the caveats and a legend.

    ``answers`` are of its groups, ``ahead`` leads, ``more`` follows the tables, ``remarks`` are
    caveats, too. ``verbose``: also the parts of the first results, what filled caches need, what to
    do about caveats, and the legend. ``budget``: as ``answer_text.lines`` has it.
    """
    view = suite_view(suite, cases, answers, remarks=remarks, verbose=verbose, budget=budget)
    blocks: list[Block] = [*ahead, *_answered(view.groups)]
    for group in view.groups:
        blocks += _group_blocks(group, verbose=verbose)
    if view.loops.rows:
        blocks += [Heading(loop_shares.LOOPS_TITLE), _shares(view.loops)]
    blocks += more
    if verbose:
        blocks += terms(view.care, "care", _CARE)
    elif view.groups:
        # In Python there is no option that shows more.
        in_terminal = budget in {budget_option, None}
        blocks += terms(care.shortened(view.care) if in_terminal else view.care, "brief")
    blocks += terms((("not measured", why) for why in view.unavailable), "note")
    if verbose:
        blocks += terms(view.legend, "legend", "How to read this")
    blocks += [Paragraph(line, "strong") for line in view.closing[not verbose :]]
    return Document(f"coldwarm {'bench' if suite.suite == 'bench' else 'run'}", tuple(blocks))


def _answered(groups: Sequence[Group]) -> Iterator[Block]:
    """Yield the answers under their workloads, where there are several."""
    told = [group for group in groups if group.answer]
    if told:
        yield Heading(TITLE, 1)
    for group in told:
        name_of = group.title if len(told) > 1 else ""
        yield from terms(((one.label, one.pieces) for one in group.answer), "answer", name_of)


def _group_blocks(group: Group, *, verbose: bool) -> Iterator[Block]:
    yield Heading(group.title, 1)
    if verbose:
        yield Paragraph(group.about, "dim")
    if group.rows:
        yield main_table(group)
    for failure in group.failures:
        yield Paragraph(f"failed: {failure}", "failure")
        yield Notice("error", "coldwarm: failed", failure)
    if verbose and any(row.parts for row in group.rows):
        yield Heading(group.parts_title)
        yield _parts_table(group)
    yield from terms(group.made, title=MADE_TITLE)
    if verbose:
        yield from filled.blocks(group.filled, group.by_default)


def main_table(group: Group) -> Table:
    """Return a row for each candidate; under each figure its verdict against the baseline."""
    memory = [] if group.rows[0].memory is None else ["peak\nmemory"]
    columns = ["candidate", *("\n".join(group.headings[mode]) for mode in group.modes), *memory]
    rows = (
        cells(
            name(row.candidate),
            *(row.figures[mode] for mode in group.modes),
            *([] if row.memory is None else [row.memory]),
        )
        for row in group.rows
    )
    return table(columns, rows)


def _parts_table(group: Group) -> Table:
    """Return where the first results went, a part for each cold cache mode."""
    found = [(mode, [row for row in group.rows if mode in row.parts]) for mode in COLD_MODES]
    parts = [
        Rows(MODE_NAMES[mode], tuple(cells(name(row.candidate), *row.parts[mode]) for row in rows))
        for mode, rows in found
        if rows
    ]
    return Table(("", *group.parts.values()), tuple(parts), of_parts="caches")


def _shares(loops: Loops) -> Table:
    """Return how much of each scenario's total went into compiling, a part for each scenario."""
    parts = [
        Rows(scenario, tuple(cells(name(candidate), *figures) for candidate, figures in candidates))
        for scenario, candidates in loops.rows.items()
    ]
    return Table(("", *loops.headings), tuple(parts), of_parts="scenario")


def _legend(
    groups: Sequence[Group], cases: Sequence[CaseResult], *, parts: bool
) -> tuple[tuple[str, str], ...]:
    """Return the meaning of what is there, and of nothing else."""
    rows = [row for group in groups for row in group.rows]
    cells = [cell for row in rows for cell in row.figures.values()]
    given = {cell.verdict for cell in cells}
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
        "not_yet": any(NOT_YET in (cell.below or "") for cell in cells),
        "same": "same" in given,
        "start": parts,
        "rest": parts,
        "in all": parts,
        "missing": any(text == units.MISSING for text in texts),
    }
    thresholds = {one.threshold for case in cases for one in case.comparisons}
    return legend({name for name, shown in there.items() if shown}, thresholds)


def _has_row(case: CaseResult) -> bool:
    """Say whether a case has a figure, or was tried without a failure that says all."""
    figures = any(summary.seconds for summary in case.cold) or (case.warm and case.warm.call_s)
    return bool(figures or (case.observations and case.status != "failed"))


def _group(
    title: str, cases: Sequence[CaseResult], names: Mapping[str, str], answer: tuple[Answered, ...]
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
    half_width = reached(case, mode)
    if half_width is not None:
        cell = Cell(units.duration(summary.median), units.spread(half_width))
    elif summary.low is None or summary.high is None:
        cell = Cell(units.duration(summary.median), "(1)")
    else:
        span = units.between(summary.low, summary.high)
        cell = Cell(span, f"({summary.n_processes})")
    if judged is None:
        return cell
    way = seen(judged) if n_few(judged.reason) is not None else ""
    return cell._replace(
        below=marked(f"{way}{NOT_YET}" if way else ratio(judged), held_back(case)).replace(
            " (", "\n("
        ),
        verdict=judged.verdict,
        note="" if judged.verdict in {"faster", "slower"} else bounds(judged),
    )


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


def _closing(suite: SuiteResult) -> tuple[Line, ...]:
    summary = (
        f"suite {suite.suite}: {suite.n_ok} ok, {suite.n_warn} with a warning or not measured, "
        f"{suite.n_failed} failed; {units.duration(suite.wall_s)} in all, of which "
        f"{units.duration(suite.measured_s)} in measured processes"
    )
    if suite.complete:
        return (summary,)
    if suite.suite == "bench":
        return (summary, "this bench was interrupted: what it had measured is here")
    resume = command("coldwarm run --resume")
    return (summary, (Piece("this run is not complete; "), resume, Piece(" continues it")))
