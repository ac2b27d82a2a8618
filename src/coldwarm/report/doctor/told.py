"""The words of a report, for those who read it as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.report.doctor.changes import change_of
from coldwarm.report.reasons import words

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import DoctorReport


def told(report: DoctorReport) -> DoctorReport:
    """Return a report with the evidence, and what to change, in words."""
    findings = [
        replace(one, text=words(one.says), change=change_of(one)) for one in report.findings
    ]
    return replace(report, findings=findings)
