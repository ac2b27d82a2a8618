"""What the doctor says as HTML for a notebook: the bar, the findings, the lines folded away."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report import units
from coldwarm.report.doctor.summary import (
    evidence,
    first_change,
    headline,
    named_parts,
    place,
    saved,
)
from coldwarm.report.doctor.terminal import MOST_FINDINGS, MOST_SITES, reads, row, stages
from coldwarm.report.page.doctor import COLOUR
from coldwarm.report.sentences import words
from coldwarm.stats.doctor.rules import change_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Account, DoctorReport, Finding

_NAMES = ("where it compiled", "what")
"""The columns before those of numbers."""
_LEFT, _RIGHT = "text-align:left", "text-align:right"
# Each is read on a white page and on a dark one.
_PATTERN, _CHANGE = "#e0353f", "#1f8a3d"


def as_html(report: DoctorReport) -> str:
    """Return the report as a part of a page, without scripts and without a style of its own."""
    findings = report.findings
    parts = [f"<p><b>{_text(headline(report))}</b></p>", *_bar(report.account)]
    parts.append(f"<p><b style='color:{_CHANGE}'>{_text(first_change(report))}</b></p>")
    if findings:
        parts.append(f"<ol>{''.join(map(_finding, findings[:MOST_FINDINGS]))}</ol>")
    left = len(findings) - MOST_FINDINGS
    if left > 0:
        parts.append(f"<p>… and {left} more: <code>.report.findings</code> has all</p>")
    if report.sites:
        parts.append(_sites(report))
    parts += [f"<p><small>Not seen: {_text(words(one))}.</small></p>" for one in report.unseen]
    return "".join(parts)


def _text(text: str) -> str:
    return html.escape(printable(text))


def _bar(account: Account) -> Iterator[str]:
    known = named_parts(account)
    pieces = [
        f"<span style='flex:{seconds:.9f};background:{COLOUR[name]}'></span>"
        for _, name, seconds in known
    ]
    yield f"<div style='display:flex;height:1em;max-width:60em'>{''.join(pieces)}</div>"
    words_of = [
        f"<span style='color:{COLOUR[name]}'>█</span> {called} {units.duration(seconds)}"
        for called, name, seconds in known
    ]
    yield f"<p>{' &nbsp; '.join(words_of)}</p>"


def _finding(one: Finding) -> str:
    cost = f" &nbsp; <b>{units.duration(one.cost_s)}</b>" if one.cost_s else ""
    where = f"{place(one.path)}:{one.line}"
    head = f"<b style='color:{_PATTERN}'>{_text(one.pattern)}</b> &nbsp; {_text(where)}{cost}"
    source = f"<br><code>{_text(one.source)}</code>" if one.source else ""
    change = f"<b style='color:{_CHANGE}'>change</b> {_text(change_of(one))}"
    saves = f"<b style='color:{_CHANGE}'>saves</b> {_text(saved(one))}"
    return f"<li>{head}{source}<br>{_text(evidence(one))}<br>{change}<br>{saves}</li>"


def _sites(report: DoctorReport) -> str:
    cache = reads(report.sites)
    columns = (*_NAMES, "times", *stages(cache=cache))
    sides = [_LEFT] * len(_NAMES) + [_RIGHT] * (len(columns) - len(_NAMES))
    head = "".join(
        f"<th style='{side}'>{one}</th>" for one, side in zip(columns, sides, strict=True)
    )
    lines = "".join(
        "<tr>"
        + "".join(
            f"<td style='{side}'>{_text(cell)}</td>"
            for cell, side in zip(row(one, cache=cache), sides, strict=True)
        )
        + "</tr>"
        for one in report.sites[:MOST_SITES]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<details open><summary>Where it compiled</summary>{table}</details>"
