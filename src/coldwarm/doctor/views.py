"""What the doctor says in a terminal, in a notebook and as a page.

First where the time went, then what to change, then where it compiled.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from coldwarm.contracts.codec import cleaned
from coldwarm.doctor.describe import (
    ending,
    evidence,
    first_change,
    headline,
    is_known,
    lines,
    missed,
    most,
    named_parts,
    page_of,
    pattern_of,
    place,
    saved,
    temporary,
    told,
)
from coldwarm.doctor.judge import SMALL, is_small
from coldwarm.doctor.rules import change_of
from coldwarm.doctor.trace import Devices, Import, Stage
from coldwarm.errors import printable
from coldwarm.report import units
from coldwarm.report.charts.chart import COLOURS, PART_COLOURS
from coldwarm.report.page.template import filled
from coldwarm.report.sentences import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from coldwarm.contracts.doctor import Account, CallSite, DoctorReport, Finding
    from coldwarm.doctor.trace import ProcessTrace


_STYLES = {
    "import": "blue",
    "devices": "cyan",
    "trace": "magenta",
    "lower": "yellow",
    "compile": "red",
    "cache": "bright_yellow",
    "run": "green",
    "other": "bright_black",
}
"""The colours of the bar."""
_WIDTH = 76
MOST_FINDINGS, MOST_SITES = 8, 10
_MOST_MISSES = 2
_MANY = 100
"""Calls that are worth a word."""
_INDENT, _CHANGE = 4, 8


def shown(report: DoctorReport, *, everything: bool = False) -> RenderableType:
    """Return what the doctor says."""
    parts: list[RenderableType] = [line(headline(report), "bold")]
    if is_known(report):
        parts += [_bar(report.account), *_legend(report.account)]
    if ending(report):
        parts.append(line(ending(report), "bold"))
    findings = report.findings if everything else _worth(report)[:MOST_FINDINGS]
    parts.append(line(""))
    for rank, one in enumerate(findings, 1):
        parts += [_finding(rank, one), line("")]
    left = len(report.findings) - len(findings)
    if left:
        small = all(is_small(one, report.account.total_s) for one in report.findings[-left:])
        why = f", each of less than {SMALL:.0%} of the time" if small else ""
        parts += [line(f"… and {left} more{why}: --verbose shows them", "dim"), line("")]
    if report.sites:
        parts += [_sites(report.sites if everything else report.sites[:MOST_SITES]), line("")]
        parts += [*_memory(report), *_slow(report)]
        for said in missed(report.sites, MOST_SITES if everything else _MOST_MISSES):
            parts += [line(said), line("")]
    parts += [line(f"Not seen: {words(one)}.", "dim") for one in report.unseen]
    return Group(*parts, *_last(report))


def _worth(report: DoctorReport) -> list[Finding]:
    """Return the findings that matter; all of them where none does."""
    worth = [one for one in report.findings if not is_small(one, report.account.total_s)]
    return worth or report.findings


def _memory(report: DoctorReport) -> list[RenderableType]:
    """Return the line whose programs take most memory of their own, where that is much."""
    one = most(report.sites)
    if one is None:
        return []
    where = f"{place(one.path)}:{one.line}, {one.function}"
    return [line(f"Most temporary memory: {where}: {temporary(one)}"), line("")]


def _slow(report: DoctorReport) -> list[RenderableType]:
    """Return the line whose calls JAX's fast path does not take, where these are many."""
    one = max(report.sites, key=lambda one: one.n_slow_calls or 0)
    n, n_calls = one.n_slow_calls or 0, one.n_calls or 0
    if n < _MANY or 2 * n < n_calls:
        return []
    what = f"{place(one.path)}:{one.line}, {one.function}: {n} of {n_calls} calls"
    return [line(f"Through Python, not JAX's fast dispatch: {what}"), line("")]


def _last(report: DoctorReport) -> Iterator[RenderableType]:
    """Yield the last lines, which are those that a terminal still shows."""
    for one in report.findings[:1]:
        spec = pattern_of(one.pattern)
        if spec is not None and not is_small(one, report.account.total_s):
            yield line(f"coldwarm patterns show {spec.id}: what to do instead, and why", "dim")
    yield line(first_change(report), "bold green")


def _bar(account: Account) -> Text:
    bar = Text()
    parts = named_parts(account)
    whole = sum(seconds for *_, seconds in parts) or 1.0
    done, drawn = 0.0, 0
    for _, name, seconds in parts:
        done += seconds
        end = round(_WIDTH * done / whole)
        bar.append("█" * (end - drawn), style=_STYLES[name])
        drawn = end
    return bar


def _legend(account: Account) -> Iterator[Text]:
    """Yield the lines of the legend: no part of it is broken."""
    text = Text()
    for called, name, seconds in named_parts(account):
        part = Text("█ ", style=_STYLES[name]).append(
            f"{called} {units.duration(seconds)}", style="default"
        )
        if text and text.cell_len + part.cell_len + 2 > _WIDTH:
            yield text
            text = Text()
        text = text.append("  " if text else "").append_text(part)
    yield text


def _finding(rank: int, one: Finding) -> RenderableType:
    cost = units.duration(one.cost_s) if one.cost_s else ""
    head = Text(f"{rank:2}  ", style="bold")
    head.append_text(line(one.pattern, "bold red"))
    head.append_text(line(f"  {place(one.path)}:{one.line}", "cyan"))
    head.append_text(line(f"  {cost}" if cost else "", "bold"))
    body: list[RenderableType] = []
    if one.source:
        body.append(line(one.source, "dim"))
    body += [
        line(evidence(one)),
        _labelled("change", change_of(one)),
        _labelled("saves", saved(one)),
    ]
    return Group(head, Padding(Group(*body), (0, 0, 0, _INDENT), expand=False))


def _labelled(label: str, said: str) -> RenderableType:
    grid = Table.grid(padding=0)
    grid.add_column(width=_CHANGE)
    grid.add_column()
    grid.add_row(line(label, "green"), line(said))
    return grid


def _sites(sites: list[CallSite]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("where it compiled", overflow="fold", ratio=1)
    table.add_column("what", overflow="fold", ratio=1)
    cache = _reads(sites)
    for name in ("times", *_stages(cache=cache)):
        table.add_column(name, justify="right", no_wrap=True)
    for one in sites:
        table.add_row(*map(line, _row(one, cache=cache)))
    if all(one.n_processes == 1 for one in sites):
        return table
    return Group(table, line("Times of several processes are added up.", "dim"))


def _reads(sites: Iterable[CallSite]) -> bool:
    """Say whether something was read from a cache on disk, which has a column then."""
    return any(one.n_reads or one.cache_s for one in sites)


def _stages(*, cache: bool) -> tuple[str, ...]:
    """Return the names of the columns of times; those before the last add up to it."""
    return ("trace", "lower", "compile", *(("cache",) if cache else ()), "in all")


def _row(one: CallSite, *, cache: bool = False) -> Iterator[str]:
    """Yield the cells of a line of the program; ``cache``: reading from one has a cell too."""
    yield f"{place(one.path)}:{one.line}"
    yield one.function
    read = f"{one.n_reads} read" if one.n_reads else ""
    yield "+".join(filter(None, (str(one.n_compiles) if one.n_compiles or not read else "", read)))
    cached = (one.cache_s,) if cache else ()
    for seconds in (one.trace_s, one.lower_s, one.compile_s, *cached, one.total_s):
        yield units.MISSING if seconds is None else units.duration(seconds)


_NAMES = ("where it compiled", "what")
"""The columns before those of numbers."""
_LEFT, _RIGHT = "text-align:left", "text-align:right"
# Each is read on a white page and on a dark one.
_PATTERN, _HTML_CHANGE = "#e0353f", "#1f8a3d"


def as_html(report: DoctorReport) -> str:
    """Return the report as a part of a page, without scripts and without a style of its own."""
    findings = report.findings
    parts = [f"<p><b>{_text(headline(report))}</b></p>", *_html_bar(report.account)]
    parts.append(f"<p><b style='color:{_HTML_CHANGE}'>{_text(first_change(report))}</b></p>")
    if findings:
        parts.append(f"<ol>{''.join(map(_html_finding, findings[:MOST_FINDINGS]))}</ol>")
    left = len(findings) - MOST_FINDINGS
    if left > 0:
        parts.append(f"<p>… and {left} more: <code>.report.findings</code> has all</p>")
    if report.sites:
        parts.append(_html_sites(report))
    parts += [f"<p><small>Not seen: {_text(words(one))}.</small></p>" for one in report.unseen]
    return "".join(parts)


def _text(text: str) -> str:
    return html.escape(printable(text))


def _html_bar(account: Account) -> Iterator[str]:
    known = named_parts(account)
    pieces = [
        f"<span style='flex:{seconds:.9f};background:{_COLOUR[name]}'></span>"
        for _, name, seconds in known
    ]
    yield f"<div style='display:flex;height:1em;max-width:60em'>{''.join(pieces)}</div>"
    words_of = [
        f"<span style='color:{_COLOUR[name]}'>█</span> {called} {units.duration(seconds)}"
        for called, name, seconds in known
    ]
    yield f"<p>{' &nbsp; '.join(words_of)}</p>"


def _html_finding(one: Finding) -> str:
    cost = f" &nbsp; <b>{units.duration(one.cost_s)}</b>" if one.cost_s else ""
    where = f"{place(one.path)}:{one.line}"
    head = f"<b style='color:{_PATTERN}'>{_text(one.pattern)}</b> &nbsp; {_text(where)}{cost}"
    source = f"<br><code>{_text(one.source)}</code>" if one.source else ""
    change = f"<b style='color:{_HTML_CHANGE}'>change</b> {_text(change_of(one))}"
    saves = f"<b style='color:{_HTML_CHANGE}'>saves</b> {_text(saved(one))}"
    return f"<li>{head}{source}<br>{_text(evidence(one))}<br>{change}<br>{saves}</li>"


def _html_sites(report: DoctorReport) -> str:
    cache = _reads(report.sites)
    columns = (*_NAMES, "times", *_stages(cache=cache))
    sides = [_LEFT] * len(_NAMES) + [_RIGHT] * (len(columns) - len(_NAMES))
    head = "".join(
        f"<th style='{side}'>{one}</th>" for one, side in zip(columns, sides, strict=True)
    )
    lines = "".join(
        "<tr>"
        + "".join(
            f"<td style='{side}'>{_text(cell)}</td>"
            for cell, side in zip(_row(one, cache=cache), sides, strict=True)
        )
        + "</tr>"
        for one in report.sites[:MOST_SITES]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<details open><summary>Where it compiled</summary>{table}</details>"


_PAGE_WIDTH = 1000
"""Of the bar and of the timeline, in units of their own."""
_NARROWEST = 1.5
_MOST_ROWS, _MOST_SPANS, _MOST_SITES, _MOST_FINDINGS = 14, 400, 500, 50
_COLOUR = {
    **PART_COLOURS,
    "devices": COLOURS[3],
    "cache": PART_COLOURS["cache_read"],
    "run": COLOURS[2],
    "other": "#8c959f",
}
"""The same part has the same colour in every report."""


def page_of_doctor(report: DoctorReport, processes: Sequence[ProcessTrace], begin_s: float) -> str:
    """Return the page of a report; ``begin_s`` is where the program's time begins."""
    account = report.account
    parts = list(_parts(account)) if is_known(report) else []
    cache = _reads(report.sites[:_MOST_SITES])
    rows = list(_rows(processes, begin_s, account.total_s))
    named: dict[str, Any] = {
        "title": f"coldwarm doctor: {_program(report.command)}",
        "subtitle": " ".join(report.command),
        "headline": headline(report),
        "first": first_change(report),
        "ending": ending(report),
        "parts": parts,
        "bar_words": ", ".join(f"{one['name']} {one['time']}" for one in parts),
        "fix": [one.plain for one in lines(report.fix)] if report.fix is not None else [],
        "unseen": [words(one) for one in report.unseen],
        "findings": list(_findings(report)),
        "lessons": list(_lessons(report.findings[:_MOST_FINDINGS])),
        "more": max(0, len(report.findings) - _MOST_FINDINGS),
        "rows": rows,
        "ticks": [units.duration(account.total_s * share) for share in (0.25, 0.5, 0.75, 1.0)],
        "columns": (
            "line",
            "what",
            "compiled",
            *_stages(cache=cache),
            "called",
            "temporary memory",
        ),
        "table": [list(_cells(one, cache=cache)) for one in report.sites[:_MOST_SITES]],
        "left": max(0, report.n_sites - _MOST_SITES),
        "missed": list(missed(report.sites, _MOST_SITES)),
        "versions": ", ".join(f"{name} {version}" for name, version in report.versions.items()),
        "python": report.python,
        "started_at": report.started_at,
    }
    return filled("doctor.html.j2", (), **cleaned(named))


def _program(command: Sequence[str]) -> str:
    """Return what was run: a file or a module."""
    return next((Path(one).name for one in command[1:] if not one.startswith("-")), "")


def _cells(one: CallSite, *, cache: bool) -> Iterator[str]:
    yield from _row(one, cache=cache)
    yield units.MISSING if one.n_calls is None else units.count(one.n_calls)
    yield temporary(one)


def _parts(account: Account) -> Iterator[dict[str, Any]]:
    known = named_parts(account)
    whole = sum(seconds for *_, seconds in known) or 1.0
    done = 0.0
    for called, name, seconds in known:
        yield {
            "name": called,
            "time": units.duration(seconds),
            "begin": round(_PAGE_WIDTH * done / whole, 2),
            "width": round(_PAGE_WIDTH * seconds / whole, 2),
            "colour": _COLOUR[name],
        }
        done += seconds


def _findings(report: DoctorReport) -> Iterator[dict[str, Any]]:
    whole = report.account.total_s or 1.0
    for one in told(report).findings[:_MOST_FINDINGS]:
        spec = pattern_of(one.pattern)
        share = min(1.0, (one.cost_s or 0.0) / whole)
        yield {
            "pattern": one.pattern,
            "cost": units.duration(one.cost_s) if one.cost_s else "",
            "width": round(_PAGE_WIDTH * share, 2),
            "place": f"{place(one.path)}:{one.line}",
            "source": one.source,
            "text": one.text,
            "change": one.change,
            "saving": saved(one),
            "lesson": spec.id if spec is not None else "",
        }


def _lessons(findings: Sequence[Finding]) -> Iterator[dict[str, Any]]:
    """Yield the patterns that show what to do instead of what was found, each once."""
    for spec in dict.fromkeys(pattern_of(one.pattern) for one in findings):
        if spec is not None:
            yield {
                "id": spec.id,
                "title": spec.title,
                "mechanism": " ".join(spec.mechanism.split()),
                "exception": " ".join(spec.exception.split()),
                "sides": [
                    ("Do", spec.code["do"].splitlines()),
                    ("Don't", spec.code["dont"].splitlines()),
                ],
                "addresses": [page_of(spec), *spec.docs],
            }


def _rows(
    processes: Sequence[ProcessTrace], begin_s: float, total_s: float
) -> Iterator[dict[str, Any]]:
    """Yield imports, devices, and the lines that compiled longest, with when that was."""
    groups: dict[str, list[tuple[str, str, float, float]]] = {}
    for trace in processes:
        for name, kind, words_of, from_s, seconds in _spans(trace):
            groups.setdefault(name, []).append((kind, words_of, from_s - begin_s, seconds))
    whole_s = max(total_s, 1e-9)
    longest = sorted(groups.items(), key=lambda item: -sum(one[3] for one in item[1]))
    for name, spans in longest[:_MOST_ROWS]:
        yield {
            "name": name,
            "spans": [
                {
                    "begin": round(_PAGE_WIDTH * from_s / whole_s, 2),
                    "width": round(max(_NARROWEST, _PAGE_WIDTH * seconds / whole_s), 2),
                    "colour": _COLOUR[kind],
                    "words": f"{words_of}, {units.duration(seconds)}",
                }
                for kind, words_of, from_s, seconds in spans[:_MOST_SPANS]
            ],
        }


def _spans(trace: ProcessTrace) -> Iterator[tuple[str, str, str, float, float]]:
    """Yield what lasted: its row, its part of the account, its words, when, how long (s)."""
    for one in trace.rows_of(Import):
        yield "imports", "import", f"import {one.name}", one.begin_s, one.seconds
    for start in trace.rows_of(Devices):
        yield "devices", "devices", "devices start", start.span[0], start.seconds
    calls = {call.number: call for call in trace.calls}
    for stage in trace.rows_of(Stage):
        call = calls.get(stage.call)
        if call is not None and call.site is not None:
            name = f"{place(call.site.path)}:{call.site.line}"
            kind = "cache" if stage.hit else stage.stage
            yield name, kind, f"{kind} {call.name}", stage.begin_s, stage.seconds
