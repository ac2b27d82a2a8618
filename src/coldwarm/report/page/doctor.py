"""The page of what the doctor saw: the account, the findings, a timeline, the call sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.report import units
from coldwarm.report.charts.looks import COLOURS, PART_COLOURS
from coldwarm.report.doctor.terminal import PARTS, headline, place, row
from coldwarm.report.doctor.told import told
from coldwarm.report.page.making import filled
from coldwarm.report.reasons import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Account, DoctorReport
    from coldwarm.stats.doctor.seen import Call, Seen

_WIDTH = 1000
"""Of the bar and of the timeline, in units of their own."""
_NARROWEST = 0.8
_MOST_ROWS, _MOST_SPANS = 14, 400
_COLUMNS = ("line", "what", "compiled", "trace", "lower", "compile", "in all")
COLOUR = {
    **PART_COLOURS,
    "devices": PART_COLOURS["start"],
    "cache": PART_COLOURS["cache_read"],
    "run": COLOURS[2],
    "other": "#8c959f",
}
"""The same part has the same colour in every report."""


def page_of_doctor(report: DoctorReport, processes: Sequence[Seen], begin_s: float) -> str:
    """Return the page of a report; ``begin_s`` is where the program's time begins.

    Raises:
        UsageError: what makes pages is not installed.
    """
    account = report.account
    parts = list(_parts(account))
    return filled(
        "doctor.html.j2",
        (),
        title=f"coldwarm doctor: {report.command[-1] if report.command else ''}",
        subtitle=" ".join(report.command),
        headline=headline(report),
        parts=parts,
        bar_words=", ".join(f"{one['name']} {one['time']}" for one in parts),
        unseen=[words(one) for one in report.unseen],
        findings=list(_findings(report)),
        rows=list(_rows(processes, begin_s, account.total_s)),
        total=units.duration(account.total_s),
        columns=_COLUMNS,
        table=[list(row(one)) for one in report.sites],
    )


def _parts(account: Account) -> Iterator[dict[str, Any]]:
    known = [(name, getattr(account, field) or 0.0) for name, field, _ in PARTS]
    whole = sum(seconds for _, seconds in known) or 1.0
    done = 0.0
    for name, seconds in known:
        if seconds > 0:
            yield {
                "name": name,
                "time": units.duration(seconds),
                "begin": round(_WIDTH * done / whole, 2),
                "width": round(_WIDTH * seconds / whole, 2),
                "colour": COLOUR[name],
            }
        done += seconds


def _findings(report: DoctorReport) -> Iterator[dict[str, str]]:
    for one in told(report).findings:
        yield {
            "pattern": one.pattern,
            "cost": units.duration(one.cost_s) if one.cost_s else "",
            "place": f"{place(one.path)}:{one.line}",
            "source": one.source,
            "text": one.text,
            "change": one.change,
            "saving": units.duration(one.saving_s) if one.saving_s else "",
        }


def _rows(processes: Sequence[Seen], begin_s: float, total_s: float) -> Iterator[dict[str, Any]]:
    """Yield the lines that compiled longest, with when they did."""
    groups: dict[str, list[Call]] = {}
    for seen in processes:
        for call in seen.calls:
            if call.site is not None:
                groups.setdefault(f"{place(call.site.path)}:{call.site.line}", []).append(call)
    longest = sorted(groups.items(), key=lambda item: -sum(one.total_s for one in item[1]))
    for name, calls in longest[:_MOST_ROWS]:
        spans = [
            {
                "begin": round(_WIDTH * (begin - begin_s) / total_s, 2),
                "width": round(max(_NARROWEST, _WIDTH * (end - begin) / total_s), 2),
                "colour": COLOUR["cache" if call.hit else "compile"],
                "words": f"{call.name}, {units.duration(end - begin)}",
            }
            for call in calls
            for begin, end in call.spans
        ]
        yield {"name": name, "spans": spans[:_MOST_SPANS]}
