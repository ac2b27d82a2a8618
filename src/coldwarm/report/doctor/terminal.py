"""What the doctor says, in a terminal: where the time went, what to change, where it compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from coldwarm.report import units
from coldwarm.report.doctor.summary import (
    ending,
    evidence,
    first_change,
    headline,
    is_known,
    missed,
    most,
    named_parts,
    pattern_of,
    place,
    saved,
    temporary,
)
from coldwarm.report.sentences import words
from coldwarm.report.shown import line
from coldwarm.stats.doctor.rules import change_of
from coldwarm.stats.doctor.small import SMALL, is_small

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from coldwarm.contracts.doctor import Account, CallSite, DoctorReport, Finding

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
    cache = reads(sites)
    for name in ("times", *stages(cache=cache)):
        table.add_column(name, justify="right", no_wrap=True)
    for one in sites:
        table.add_row(*map(line, row(one, cache=cache)))
    if all(one.n_processes == 1 for one in sites):
        return table
    return Group(table, line("Times of several processes are added up.", "dim"))


def reads(sites: Iterable[CallSite]) -> bool:
    """Say whether something was read from a cache on disk, which has a column then."""
    return any(one.n_reads or one.cache_s for one in sites)


def stages(*, cache: bool) -> tuple[str, ...]:
    """Return the names of the columns of times; those before the last add up to it."""
    return ("trace", "lower", "compile", *(("cache",) if cache else ()), "in all")


def row(one: CallSite, *, cache: bool = False) -> Iterator[str]:
    """Yield the cells of a line of the program; ``cache``: reading from one has a cell too."""
    yield f"{place(one.path)}:{one.line}"
    yield one.function
    read = f"{one.n_reads} read" if one.n_reads else ""
    yield "+".join(filter(None, (str(one.n_compiles) if one.n_compiles or not read else "", read)))
    cached = (one.cache_s,) if cache else ()
    for seconds in (one.trace_s, one.lower_s, one.compile_s, *cached, one.total_s):
        yield units.MISSING if seconds is None else units.duration(seconds)
