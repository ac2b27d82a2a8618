"""What is said of a whole report: how much was compiling, how it ended, what to change first."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.sentences import counted
from coldwarm.stats.doctor.rules import change_of
from coldwarm.stats.doctor.small import SMALL, is_small

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Account, DoctorReport

_COMPILING = ("trace_s", "lower_s", "compile_s", "cache_s")
_PARTS = (
    ("import", "import_s"),
    ("devices", "devices_s"),
    ("trace", "trace_s"),
    ("lower", "lower_s"),
    ("compile", "compile_s"),
    ("cache", "cache_s"),
    ("run", "run_s"),
    ("other", "other_s"),
)
"""The parts of an account, in the order of the bar."""
_BEFORE = {"imported_before", "devices_before"}
"""Reasons of parts that were over before a block began, and are no part of its time."""
NOTHING = "Nothing to change was found."
NOTHING_SEEN = "Nothing to change was found in what could be seen."
NOTHING_LARGE = f"Nothing that matters was found: all of it is less than {SMALL:.0%} of the time."
_UNKNOWN = "Nothing could be watched."


def headline(report: DoctorReport) -> str:
    """Return how much of the time was compiling."""
    total = units.duration(report.account.total_s)
    if not is_known(report):
        return f"The program took {total}; more is not known."
    compiling_s = sum(getattr(report.account, name) for name in _COMPILING)
    others = report.others
    if others is not None:
        total += f" of the first of {report.n_processes} processes"
    if compiling_s:
        said = _compiling(report, compiling_s)
    elif others is not None and others.compiling_s:
        said = "nothing was compiling"
    else:
        said = f"nothing was compiling: {_why_nothing(report)}"
    return f"Of {total}, {said}{_beside(report)}."


def _compiling(report: DoctorReport, seconds: float) -> str:
    """Return how much of the time of the first process was compiling, or reading from a cache."""
    others = report.others
    n = sum(one.n_compiles for one in report.sites) - (others.n_compiles if others else 0)
    n_reads = sum(one.n_reads for one in report.sites) - (others.n_reads if others else 0)
    if report.n_sites > len(report.sites):
        return f"{units.duration(seconds)} were compiling"
    said = f"{units.duration(seconds)} were {_spent_on(n, n_reads)}"
    return said if n or not n_reads else f"{said}, and nothing was compiled"


def _spent_on(n: int, n_reads: int) -> str:
    """Return what was done for so many programs that were compiled, and read from a cache."""
    if n_reads and not n:
        return f"getting {counted(n_reads, 'program')} from a cache"
    read = f"; {n_reads} more from a cache" if n_reads else ""
    return f"compiling ({counted(n, 'program')}{read})" if n else "compiling"


def _beside(report: DoctorReport) -> str:
    """Return what the other processes compiled: it is no part of the time of the first."""
    others = report.others
    if others is None:
        return ""
    if not others.compiling_s:
        begun = any(one.code == "ended_compiling" for one in report.unseen)
        return f"; the others compiled nothing{' to its end' if begun else ''}"
    spent = units.duration(others.compiling_s)
    return f"; the others spent {spent} {_spent_on(others.n_compiles, others.n_reads)}, added up"


def is_known(report: DoctorReport) -> bool:
    """Say whether anything could be watched."""
    return all(one.code != "no_journal" for one in report.unseen)


def _why_nothing(report: DoctorReport) -> str:
    if report.sites:
        return "what was begun was not compiled to its end"
    loaded = [name for name in ("jax", "torch", "numba") if name in report.versions]
    if not loaded:
        return "neither JAX, torch.compile nor Numba was loaded"
    return f"{' and '.join(loaded)} compiled nothing"


def ending(report: DoctorReport) -> str:
    """Return how the program ended, where it did not end as it should; else nothing."""
    status = report.exit_status
    if not status:
        return ""
    if status > 0:
        return f"The program ended with exit status {status}."
    known = {one.value: one.name for one in signal.Signals}
    return f"The program was ended by the signal {known.get(-status, -status)}."


def first_change(report: DoctorReport) -> str:
    """Return what to change first, in one sentence, or that nothing was found."""
    if not report.findings:
        if not is_known(report):
            return _UNKNOWN
        return NOTHING_SEEN if report.unseen else NOTHING
    one = report.findings[0]
    if is_small(one, report.account.total_s):  # then all others are: those that matter come first
        return NOTHING_LARGE
    saves = f"; saves about {units.duration(one.saving_s)}" if one.saving_s else ""
    if saves and one.n_processes > 1:
        saves += f" in one of {one.n_processes} processes"
    return f"Change first: {place(one.path)}:{one.line}, {change_of(one)}{saves}."


def named_parts(account: Account) -> list[tuple[str, str, float]]:
    """Return the parts that took time: what each is called, its name in the bar, and its seconds.

    What could not be told apart is named together.
    """
    unseen = [
        name
        for name, field in _PARTS
        if getattr(account, field) is None and account.null_reasons[field].code not in _BEFORE
    ]
    found = []
    for name, field in _PARTS:
        seconds = getattr(account, field) or 0.0
        if seconds > 0:
            called = ", ".join([*unseen, "other"]) if name == "other" and unseen else name
            found.append((called, name, seconds))
    return found


def place(path: str) -> str:
    """Return a path as short as it can be from here."""
    near = os.path.relpath(path) if Path(path).is_absolute() else path
    return near if not near.startswith("..") else path
