"""The words of a report, for those who read it as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.report.doctor.learning import page_of, pattern_of
from coldwarm.report.doctor.saving import estimate
from coldwarm.report.sentences import words
from coldwarm.stats.doctor.rules import change_of

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import DoctorReport, Finding


def told(report: DoctorReport) -> DoctorReport:
    """Return a report with the evidence, and what to change, in words."""
    return replace(report, findings=[_told(one) for one in report.findings])


def evidence(one: Finding) -> str:
    """Return what was seen, and in how many processes, in words."""
    said = "; ".join([words(one.says), *map(words, one.says.parts)])
    n_read = one.says.values.get("n_read")
    if n_read:
        which = "all" if n_read == one.says.values.get("n_again") else str(n_read)
        said += f"; {which} of these programs were found in a cache on disk"
    if caller := one.says.values.get("caller"):
        said += f"; first for {caller}"
    if not one.function:
        said += "; no line of the program calls it: a thread does, or a package"
    if one.after is not None:
        said += f"; {words(one.after)}"
    if one.n_processes == 1:
        return said
    return f"{said}; in {one.n_processes} processes: this is of one of them"


def _told(one: Finding) -> Finding:
    spec = pattern_of(one.pattern)
    return replace(
        one,
        text=evidence(one),
        change=change_of(one),
        estimate=estimate(one),
        page=page_of(spec) if spec is not None else "",
    )
