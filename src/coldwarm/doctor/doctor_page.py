"""The page of a doctor's report: what its document says, a bar, a timeline, and the patterns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldwarm.contracts.codec import cleaned
from coldwarm.doctor.findings_document import (
    ending,
    finding_terms,
    first_change,
    fix_blocks,
    headline,
    is_known,
    misses,
    named_parts,
    pattern_of,
    place,
    sites_table,
)
from coldwarm.doctor.trace import Devices, Import, Stage
from coldwarm.report import units
from coldwarm.report.charts.chart import COLOURS, PART_COLOURS
from coldwarm.report.document import plain
from coldwarm.report.page.template import filled
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Account, DoctorReport, Finding
    from coldwarm.doctor.trace import ProcessTrace


_PAGE_WIDTH = 1000
"""Width of the bar and of the timeline, in units of their own."""
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
    table = sites_table(report.sites[:_MOST_SITES], memory=True)
    named: dict[str, Any] = {
        "title": f"coldwarm doctor: {_program(report.command)}",
        "subtitle": " ".join(report.command),
        "headline": headline(report),
        "first": first_change(report),
        "ending": ending(report),
        "parts": parts,
        "bar_words": ", ".join(f"{one['name']} {one['time']}" for one in parts),
        "fix": [plain(one.text) for one in fix_blocks(report.fix)] if report.fix else [],
        "unseen": [words(one) for one in report.unseen],
        "findings": list(_findings(report)),
        "lessons": list(_lessons(report.findings[:_MOST_FINDINGS])),
        "more": max(0, len(report.findings) - _MOST_FINDINGS),
        "rows": list(_rows(processes, begin_s, account.total_s)),
        "ticks": [units.duration(account.total_s * share) for share in (0.25, 0.5, 0.75, 1.0)],
        "columns": table.columns,
        "table": [[cell.text for cell in row] for row in table.parts[0].rows],
        "left": max(0, report.n_sites - _MOST_SITES),
        "missed": list(misses(report.sites, _MOST_SITES)),
        "versions": ", ".join(f"{name} {version}" for name, version in report.versions.items()),
        "python": report.python,
        "started_at": report.started_at,
    }
    return filled("doctor.html.j2", (), **cleaned(named))


def _program(command: Sequence[str]) -> str:
    """Return what was run: a file or a module."""
    return next((Path(one).name for one in command[1:] if not one.startswith("-")), "")


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
    for rank, one in enumerate(report.findings[:_MOST_FINDINGS], 1):
        spec = pattern_of(one.pattern)
        said = finding_terms(rank, one)
        yield {
            "title": said.title,
            "place": f"{place(one.path)}:{one.line}",
            "width": round(_PAGE_WIDTH * min(1.0, (one.cost_s or 0.0) / whole), 2),
            "items": [(term, plain(text)) for term, text in said.items],
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
                "addresses": [spec.page, *spec.docs],
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
