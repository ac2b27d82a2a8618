"""What the doctor says, in a terminal: where the time went, what to change, where it compiled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from coldwarm.report import units
from coldwarm.report.doctor.changes import CHANGES
from coldwarm.report.reasons import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from coldwarm.contracts.doctor import Account, CallSite, DoctorReport, Finding

PARTS = (
    ("import", "import_s", "blue"),
    ("devices", "devices_s", "cyan"),
    ("trace", "trace_s", "magenta"),
    ("lower", "lower_s", "yellow"),
    ("compile", "compile_s", "red"),
    ("cache", "cache_s", "bright_yellow"),
    ("run", "run_s", "green"),
    ("other", "other_s", "bright_black"),
)
"""The parts of an account, in the order of the bar."""
COMPILING = ("trace_s", "lower_s", "compile_s", "cache_s")
_WIDTH = 76
MOST_FINDINGS, MOST_SITES = 8, 10
_INDENT = 4


def shown(report: DoctorReport, *, everything: bool = False) -> RenderableType:
    """Return what the doctor says."""
    parts: list[RenderableType] = [
        line(headline(report), "bold"),
        _bar(report.account),
        _legend(report.account),
    ]
    findings = report.findings if everything else report.findings[:MOST_FINDINGS]
    parts.append(line(""))
    if not findings:
        parts.append(line("Nothing to change was found.", "bold green"))
    for place, one in enumerate(findings, 1):
        parts += [_finding(place, one), line("")]
    left = len(report.findings) - len(findings)
    if left:
        parts += [line(f"… and {left} more: --verbose shows them", "dim"), line("")]
    if report.sites:
        parts += [_sites(report.sites if everything else report.sites[:MOST_SITES]), line("")]
    parts += [line(f"not seen: {words(one)}", "dim") for one in report.unseen]
    return Group(*parts)


def headline(report: DoctorReport) -> str:
    """Return how much of the time was compiling."""
    account = report.account
    compiling_s = sum(getattr(account, name) for name in COMPILING)
    n = sum(one.n_compiles for one in report.sites)
    text = f"Of {units.duration(account.total_s)}, {units.duration(compiling_s)} were compiling"
    text += f" ({n} programs)" if n else ""
    return text + "."


def _bar(account: Account) -> Text:
    bar = Text()
    known = [(getattr(account, name) or 0.0, style) for _, name, style in PARTS]
    whole = sum(seconds for seconds, _ in known) or 1.0
    done, drawn = 0.0, 0
    for seconds, style in known:
        done += seconds
        end = round(_WIDTH * done / whole)
        bar.append("█" * (end - drawn), style=style)
        drawn = end
    return bar


def _legend(account: Account) -> Text:
    text = Text()
    for label, name, style in PARTS:
        seconds = getattr(account, name)
        if seconds == 0:
            continue
        written = units.MISSING if seconds is None else units.duration(seconds)
        text.append("  " if text else "")
        text.append(f"█ {label} ", style=style).append(written)
    return text


def _finding(rank: int, one: Finding) -> RenderableType:
    cost = units.duration(one.cost_s) if one.cost_s else ""
    head = Text(f"{rank:2}  ", style="bold")
    head.append_text(line(one.pattern, "bold red"))
    head.append_text(line(f"  {place(one.path)}:{one.line}", "cyan"))
    head.append_text(line(f"  {cost}" if cost else "", "bold"))
    body: list[RenderableType] = []
    if one.source:
        body.append(line(one.source, "dim"))
    body.append(line(words(one.says)))
    change = line("change  ", "green") + line(CHANGES.get(one.pattern, ""))
    if one.saving_s:
        how = f", {words(one.saving_from)}" if one.saving_from else ""
        change += line(f"; saves about {units.duration(one.saving_s)}{how}")
    body.append(change)
    return Group(head, Padding(Group(*body), (0, 0, 0, _INDENT)))


def place(path: str) -> str:
    """Return a path as short as it can be from here."""
    near = os.path.relpath(path) if Path(path).is_absolute() else path
    return near if not near.startswith("..") else path


def _sites(sites: list[CallSite]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("where it compiled", overflow="fold")
    table.add_column("what", overflow="fold")
    for name in ("times", "trace", "lower", "compile", "in all"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in sites:
        table.add_row(*map(line, row(one)))
    return table


def row(one: CallSite) -> Iterator[str]:
    """Yield the cells of a line of the program."""
    yield f"{place(one.path)}:{one.line}"
    yield one.function
    yield str(one.n_compiles) + (f"+{one.n_reads} read" if one.n_reads else "")
    for seconds in (one.trace_s, one.lower_s, one.compile_s, one.total_s):
        yield units.duration(seconds)
