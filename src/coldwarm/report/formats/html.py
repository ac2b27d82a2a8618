"""One page for a browser: no network, and nothing beside the file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.contracts.reasons import because
from coldwarm.report import comparison_text, provenance, sweep, units
from coldwarm.report.charts import compared as both
from coldwarm.report.charts import sizes
from coldwarm.report.charts.chart import looks, shown
from coldwarm.report.charts.every import charts, of_result
from coldwarm.report.charts.workload import workloads
from coldwarm.report.document import Folded, Terms
from coldwarm.report.formats import Format
from coldwarm.report.headline import cold_figure, comparison, group_name, headline
from coldwarm.report.page import template
from coldwarm.report.page.page_sections import of_charts, section
from coldwarm.report.provenance import source
from coldwarm.report.sections import ShownResult, sections
from coldwarm.report.sentences import words
from coldwarm.report.view import suite_view
from coldwarm.report.words import MODE_NAMES
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.contracts.sweep import SweepReport
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.document import Block
    from coldwarm.report.page.template import Drawing, Section
    from coldwarm.report.verdict_table import VerdictTable
    from coldwarm.report.view import Group, Row


@dataclass(frozen=True)
class _FigureRow:
    """A headline figure of a case: its median, and the verdict against the baseline."""

    workload: str
    candidate: str
    anchor: str
    """Anchor of the workload's section."""
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
    why: str
    """Basis of a verdict; of a missing figure, the reason."""


@dataclass(frozen=True)
class _Part:
    """One result of those on the page."""

    name: str
    path: str
    machine: str
    complete: bool
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    together: Section | None
    """Figures of all workloads together."""
    figures: tuple[_FigureRow, ...]
    colours: Mapping[str, str]
    said: Mapping[str, tuple[Block, ...]]
    """By the title of a section of every report, what it says."""


def _part(measured: Measured, place: int) -> _Part:
    cases, suite, machine = list(measured.cases.values()), measured.suite, measured.environment
    told = answers(cases)
    view = suite_view(suite, cases, told) if suite else None
    groups = {group.title: group for group in view.groups} if view else {}
    where = source(measured)
    found = workloads(cases, told)
    drawn = {
        (name := group_name(one.cases[0])): section(one, groups.get(name), f"r{place}w{at}", where)
        for at, one in enumerate(found)
    }
    together = of_charts(partial(of_result, found), "All scenarios", f"r{place}", where)
    shown = ShownResult(measured, cases, view, first=not place)
    return _Part(
        name=suite.suite if suite else cases[0].case,
        path=Path(measured.path).name,  # where it lies is of its owner alone
        machine=provenance.machine_line(machine) if machine else "an unknown machine",
        complete=suite is None or suite.complete,
        facts=tuple(provenance.facts(measured)),
        sections=tuple(drawn.values()),
        together=next(together, None),
        figures=tuple(_figures(cases, groups, drawn)),
        colours={name: c for one in drawn.values() for name, c in one.looks.items()},
        said={one.title: tuple(one.blocks(shown)) for one in sections()},
    )


def _opening(parts: Sequence[_Part]) -> list[tuple[Section, Drawing]]:
    """Return the figure that follows the answer; of several workloads, each has its own below."""
    found = [one for part in parts for one in part.sections]
    if len(found) > 1:
        return []
    return [(one, drawing) for one in found for drawing in one.drawings if drawing.kind == "cold"]


def _figures(
    cases: Sequence[CaseResult], groups: Mapping[str, Group], drawn: Mapping[str, Section]
) -> list[_FigureRow]:
    """Return the headline figures of all cases in their order, also missing ones of failures."""
    rows = {(title, row.candidate): row for title, group in groups.items() for row in group.rows}
    found = []
    for case in cases:
        title = group_name(case)
        row = rows.get((title, case.candidate))
        if row is not None or case.status == "failed":
            anchor = drawn[title].anchor if title in drawn else ""
            asked = (mode for mode in MODE_NAMES if mode in case.protocol.cache_modes)
            found += [_figure(case, mode, row, anchor) for mode in asked]
    return found


def _figure(case: CaseResult, mode: CacheMode, row: Row | None, anchor: str) -> _FigureRow:
    summary, judged = headline(case, mode), comparison(case, mode)
    cell = row.figures.get(mode) if row else None
    told = judged.verdict if judged else "baseline" if case.baseline and summary else ""
    holder = (
        case.warm if mode == WARM else next((c for c in case.cold if c.cache_mode == mode), None)
    )
    missing = case.reason or because("unstated")
    why = words(judged.reason) if judged else "" if summary else words(missing)
    return _FigureRow(
        workload=group_name(case),
        candidate=case.candidate,
        anchor=anchor,
        what=_what(case, mode),
        median_s=summary.median if summary else None,
        median=cell.text if cell else units.MISSING,
        spread=cell.spread if cell else "",
        verdict=told,
        ratio=(cell.note or cell.below) if cell and judged else "",
        ratio_value=judged.ratio if judged else None,
        n_processes=summary.n_processes if summary else 0,
        n_rejected=holder.n_rejected if holder else 0,
        why=why,
    )


def _what(case: CaseResult, mode: CacheMode) -> str:
    if mode == WARM:
        return "loop again, warm" if case.scenario else "warm call"
    whole = "whole loop" if cold_figure(case) == "total" else "first result"
    return f"{whole}, {MODE_NAMES[mode]}"


def _begin() -> None:
    """Begin what takes long and needs no result."""
    template.begun()


def _files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return the page."""
    return _with_verdicts(results, (), name)


def _with_verdicts(
    results: Sequence[Measured], verdicts: Sequence[VerdictTable], name: str
) -> dict[str, bytes]:
    """Return the page with verdicts on patterns and claims; of these alone it has no figures."""
    if not results:
        kinds = " and ".join(one.kind for one in verdicts)
        named = {"title": f"coldwarm: {kinds}", "subtitle": f"verdicts on {kinds}"}
        return {name: template.filled("verdicts.html.j2", (), verdicts=verdicts, **named).encode()}
    _begin()
    parts = [_part(measured, place) for place, measured in enumerate(results)]
    shown = [one for each in parts for one in each.figures]
    page = template.filled(
        "page.html.j2",
        [one for each in parts for one in (each.together, *each.sections) if one is not None],
        parts=parts,
        opening=_opening(parts),
        said=sections(),
        verdicts=verdicts,
        title=f"coldwarm: {', '.join(each.name for each in parts)}",
        subtitle=" · ".join(
            f"{each.name}, {dict(each.facts).get('on', 'an unknown machine')}" for each in parts
        ),
        whats=list(dict.fromkeys(one.what for one in shown)),
        told=list(dict.fromkeys(one.verdict for one in shown if one.verdict)),
    )
    return {name: page.encode()}


def _compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return the page of what changed from one result to another."""
    _begin()
    drawn = list(_of_both(comparison, sides))
    differing = tuple((one.name, f"{one.a} in A, {one.b} in B") for one in comparison.software)
    rows = [(item, comparison_text.row(item), words(item.reason)) for item in comparison.metrics]
    page = template.filled(
        "compared.html.j2",
        drawn,
        changes={
            "summary": comparison_text.summary(comparison),
            "sides": comparison_text.sides(comparison),
            "remarks": comparison_text.remarks(comparison),
            "legend": comparison_text.legend(comparison),
            "rows": rows,
            "sections": drawn,
            "software": Folded("What else differs", (Terms(differing),)) if differing else None,
        },
        title="coldwarm: B against A",
        subtitle=" against ".join(Path(side.path).name for side in reversed(sides)),
        whats=list(dict.fromkeys(what.text for _, (what, *_), _ in rows)),
        told=list(dict.fromkeys(item.verdict for item, _, _ in rows)),
    )
    return {name: page.encode()}


def _of_both(comparison: RunComparison, sides: tuple[Measured, Measured]) -> Iterator[Section]:
    """Yield a section of all ratios, and one for each workload."""
    where = "measured here, in the runs A and B"

    def judged(width: int) -> list[Chart]:
        return [one for one in [both.ratios(comparison, width)] if one is not None]

    yield from of_charts(judged, "All figures", "ratios", where)
    for place, workload in enumerate(both.pairs(*sides)):
        looks = {name: look.colour for name, look in workload.looks.items()}
        draw = partial(charts, workload, kinds=both.KINDS)
        yield from of_charts(draw, workload.title, f"w{place}", where, looks)


def _swept(report: SweepReport, name: str) -> dict[str, bytes]:
    """Return the page of a sweep."""
    _begin()
    told, drawn = [], []
    for number, one in enumerate(report.slices):
        heading = sweep.title(report, one)
        colours = {each: look.colour for each, look in looks(map(shown, one.candidates)).items()}
        draw = partial(sizes.charts, report, one)
        made = list(of_charts(draw, heading, f"s{number}", "measured here", colours))
        told.append((heading, f"t{number}", tuple(sweep.blocks_of(report, one)), made))
        drawn += made
    named = {"title": f"coldwarm: the cheapest by {report.name}", "subtitle": report.path}
    return {name: template.filled("sweep.html.j2", drawn, told=told, **named).encode()}


FORMAT = Format(
    suffix=".html",
    files=_files,
    compared=_compared,
    with_verdicts=_with_verdicts,
    swept=_swept,
    begin=_begin,
)
