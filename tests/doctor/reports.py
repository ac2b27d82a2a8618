"""Reports as the doctor would make them, with what a test is about and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.contracts.doctor import Account, CallSite, DoctorReport, Finding
from coldwarm.contracts.reasons import because
from coldwarm.doctor.findings_document import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.doctor import CauseKind

_SPENT: dict[str, Any] = {f"{name}_s": 0.0 for name in ("trace", "lower", "compile", "cache")}


def site(
    n_compiles: int = 1,
    n_reads: int = 0,
    causes: Mapping[CauseKind, int] | None = None,
    line: int = 1,
) -> CallSite:
    return CallSite(
        path="a.py",
        line=line,
        caller="",
        framework="jax",
        function="f",
        n_compiles=n_compiles,
        n_reads=n_reads,
        n_calls=None,
        causes=dict(causes or {}),
        temporary_bytes=None,
        arguments_bytes=None,
        total_s=0.0,
        **_SPENT,
    )


def report(findings: Sequence[Finding] = (), sites: Sequence[CallSite] = ()) -> DoctorReport:
    return DoctorReport(
        harness_version="0",
        started_at="",
        command=[],
        exit_status=0,
        python="",
        versions={},
        n_processes=1,
        account=Account(
            total_s=0.0,
            import_s=None,
            devices_s=None,
            run_s=None,
            other_s=0.0,
            doctor_s=None,
            **_SPENT,
        ),
        findings=list(findings),
        sites=list(sites),
        n_sites=len(sites),
    )


def finding(pattern: str, cost_s: float | None) -> Finding:
    return Finding(
        pattern=pattern,
        framework="jax",
        path="/a.py",
        line=3,
        function="<module>",
        source="",
        n=1,
        cost_s=cost_s,
        saving_s=None,
        says=because("doctor_operations", n_operations=1),
    )


def worded(one: Finding) -> Finding:
    """Return a finding with its words, as a report has them."""
    return in_words(report([one])).findings[0]
