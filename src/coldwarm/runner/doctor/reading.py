"""Reads the journals of a program's processes, and says what they show."""

from __future__ import annotations

import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import coldwarm
from coldwarm.contracts import codec
from coldwarm.contracts.doctor import DoctorReport
from coldwarm.contracts.reasons import because
from coldwarm.doctor.journal import BESIDE, COUNTS, LINES, LOST, VARIABLE
from coldwarm.errors import UsageError
from coldwarm.runner.doctor.rows import rows
from coldwarm.runner.user_input import of_program
from coldwarm.stats.doctor.account import account, beyond, unseen_before
from coldwarm.stats.doctor.code.sources import Sources
from coldwarm.stats.doctor.findings import findings, ranked
from coldwarm.stats.doctor.processes import findings_of_all, sites_of_all
from coldwarm.stats.doctor.processes import others as others_of
from coldwarm.stats.doctor.seen import Seen
from coldwarm.stats.doctor.sites import call_sites

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.runner.doctor.starting import Ended
    from coldwarm.stats.doctor.seen import Call

_NOTHING = "nothing"
"""The kind of the one row of a program that has left no journal."""
_MOST_SITES, _MOST_FINDINGS = 1000, 1000
"""That a report has: it is read by people and by programs."""
_MOST_SOURCE = 2**20
"""Bytes of a source file that is read."""


@dataclass(frozen=True)
class Watched:
    """The processes of a program, the first one first."""

    processes: Sequence[Seen]
    sources: Sources

    @property
    def begin_s(self) -> float:
        """The first moment that is known, on the clock that the processes use."""
        return float(self.processes[0].rows[0]["at_s"])


def read(folder: Path) -> Watched:
    """Return what the processes of a program have written into a folder.

    Raises:
        UsageError: there is no journal in it.
        ContractError: a line of a journal is not what the doctor writes.
    """
    journals = sorted(folder.glob(f"*{LINES}"), key=lambda one: one.stat().st_mtime_ns)
    read = [(list(rows(one)), one) for one in journals]
    paired = [(own, path) for own, path in read if own and own[0]["kind"] == "process"]
    if not paired:
        text = f"{folder} holds no journal of the doctor's: was the program a Python program?"
        raise UsageError(text)
    found = texts([row for own, _ in paired for row in own])
    sources = Sources({of_program(name): text for name, text in found.items()})
    seen = [
        Seen(of_program(own), _counts(path.with_suffix(COUNTS)), sources) for own, path in paired
    ]
    seen.sort(key=lambda one: one.rows[0]["at_s"])
    first, *others = seen
    return Watched([first, *(one for one in others if one.calls or not _is_pythons(one))], sources)


def _is_pythons(seen: Seen) -> bool:
    """Say whether a process is what ``multiprocessing`` starts beside those of the program."""
    return bool(seen.process.get("is_tracker"))


def left(path: Path) -> Watched | None:
    """Return what a program has left that was told of a report (``COLDWARM_DOCTOR``), or a folder.

    ``None``: the report alone is there.

    Raises:
        UsageError: nothing is there.
        ContractError: a line of a journal is not what the doctor writes.
    """
    folder = path if path.is_dir() else path.with_name(path.name + BESIDE)
    if any(folder.glob(f"*{LINES}")):
        return read(folder)
    if path.is_file():
        return None
    raise UsageError(
        f"{path}: neither a report nor journals beside it; start the program with"
        f" {VARIABLE}={path} and PYTHONPATH=$(coldwarm doctor --hook)"
    )


def stored(path: Path) -> DoctorReport:
    """Return a report that lies there.

    Raises:
        ContractError: it is none.
    """
    return codec.load_as(DoctorReport, path)


def nothing(command: Sequence[str]) -> Watched:
    """Return what is known of a program that has left no journal: how it was started."""
    row = {"kind": _NOTHING, "argv": list(command), "at_s": 0.0}
    sources = Sources({})
    return Watched([Seen([row], memoryview(b""), sources)], sources)


def report(
    watched: Watched,
    ended: Ended | None,
    started_at: str,
    others: Sequence[Watched] = (),
    command: Sequence[str] = (),
) -> DoctorReport:
    """Return what the doctor says; ``ended`` is how the program did, where that is known.

    ``command`` is how it was started, with nothing private in it: a journal has no arguments.
    ``others`` are further passes, each a run of its own, of which only the findings count.
    """
    first = watched.processes[0]
    begin_s = ended.begin_s if ended else watched.begin_s
    end_s = ended.end_s if ended else first.rows[-1]["at_s"]
    found = findings_of_all(map(findings, watched.processes))
    for one_pass in others:
        known = {(one.pattern, one.path, one.line) for one in found}
        of_pass = [list(filter(_of_a_pass, findings(seen))) for seen in one_pass.processes]
        more = findings_of_all(of_pass)
        found += [one for one in more if (one.pattern, one.path, one.line) not in known]
    by_process = list(map(call_sites, watched.processes))
    sites = sites_of_all(by_process)
    made = DoctorReport(
        harness_version=coldwarm.__version__,
        started_at=started_at or str(first.process.get("started_at", "")),
        command=[str(one) for one in command or (first.process or first.rows[0]).get("argv", [])],
        exit_status=ended.status if ended else None,
        python=str(first.process.get("python", "")),
        versions=_versions(watched.processes),
        n_processes=len(watched.processes),
        account=account(first, begin_s, end_s),
        others=others_of(watched.processes, by_process),
        findings=ranked(found, end_s - begin_s)[:_MOST_FINDINGS],
        sites=sites[:_MOST_SITES],
        n_sites=len(sites),
        unseen=list(_unseen(watched.processes, ended)),
    )
    # A line of the program's source may hold a secret too.
    return msgspec.convert(of_program(msgspec.to_builtins(made)), DoctorReport)


def _of_a_pass(one: Finding) -> bool:
    """Say whether a finding is what a further pass is for: its times are of no use."""
    return one.says.code == "doctor_key"


def _unfinished(seen: Seen) -> Iterator[Reason]:
    """Name what a process was compiling when it ended without its last words."""
    if any(True for _ in seen.of_kind("end")):
        return
    newest: dict[int, Call] = {call.thread: call for call in seen.calls}
    stages = {row["call"]: row["stage"] for row in seen.of_kind("stage")}
    for call in newest.values():
        # What a call has lowered it compiles; what is lowered for itself may be left at that.
        begun = {None} if call.cause["kind"] == "apart" else {None, "lower"}
        if call.site is not None and stages.get(call.number) in begun:
            at = f"{call.site.path}:{call.site.line}"
            yield because("ended_compiling", function=call.name, at=at)


def _counts(path: Path) -> memoryview:
    try:
        raw = path.read_bytes()
    except OSError:
        raw = b""
    used = (len(raw.rstrip(b"\0")) + 7) // 8 * 8  # most of it was never written
    return memoryview(raw[:used]).cast("q")


def texts(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the source files that the rows name."""
    found = {}
    for name in {name for row in rows for name in _named(row) if not name.startswith("<")}:
        try:
            if Path(name).is_file() and Path(name).stat().st_size <= _MOST_SOURCE:
                with tokenize.open(name) as file:  # in the encoding that the file declares
                    found[name] = file.read()
        except (OSError, ValueError, SyntaxError):
            continue
    return found


def _named(row: dict[str, Any]) -> Iterator[str]:
    """Yield the files of a row: of who called, of what was called, of what it is made of."""
    program = row.get("program") or {}
    chains = [chain for chain, *_ in program.get("lines") or ()]
    for place in [*(row.get("stack") or ()), *(place for chain in chains for place in chain)]:
        yield str(place[0])
    function = row.get("function") or {}
    if function.get("whose") == "user":
        yield str(function["path"])


def _versions(processes: Sequence[Seen]) -> dict[str, str]:
    rows = [row for seen in processes for row in seen.of_kind("framework")]
    return {name: version for row in rows for name, version in row["versions"].items()}


def _unseen(processes: Sequence[Seen], ended: Ended | None) -> Iterator[Reason]:
    if any(True for _ in processes[0].of_kind(_NOTHING)):
        yield because("no_journal")
        return
    n_lost = sum(one.counts[LOST] for one in processes if len(one.counts) > LOST)
    if n_lost:
        yield because("lines_lost", n_lines=n_lost)
    if not all(one.sees_calls for one in processes):
        yield because("needs_monitoring")
    pid = processes[0].process.get("pid")
    programs = [one for one in processes if pid is not None and one.process.get("pid") == pid]
    if len(programs) > 1:  # of one process, one after the other
        yield because("program_replaced")
    if ended is None and not any((programs or processes[:1])[-1].of_kind("end")):
        yield because("end_not_seen")
    yield from unseen_before(processes[0]).values()
    if not all(row["jit"] for row in processes[0].of_kind("block")):
        yield because("jit_off")
    cut = any(True for one in processes for _ in one.of_kind("cut"))
    if cut or any(map(beyond, processes)):
        yield because("journal_cut")
    for one in processes:
        yield from _unfinished(one)
    yield from _failures(processes)


def _failures(processes: Sequence[Seen]) -> Iterator[Reason]:
    """Yield what the program, or a fault of the doctor's own, has kept from being seen."""
    if any(True for one in processes for _ in one.of_kind("untold")):
        yield because("listeners_removed", framework="JAX")
    failures = {
        (str(row["at"]), str(row["error"])) for one in processes for row in one.of_kind("failed")
    }
    for at, error in sorted(failures):
        yield because("doctor_failed", at=at, error=error)
