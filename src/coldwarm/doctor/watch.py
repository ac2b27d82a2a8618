"""Starts a program with a recorder inside, and reads what its processes have left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tokenize
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

import coldwarm
from coldwarm.contracts import codec
from coldwarm.contracts.doctor import DoctorReport
from coldwarm.contracts.reasons import because
from coldwarm.doctor.judge import findings, findings_across, findings_of_all, ranked, sites_of_all
from coldwarm.doctor.judge import others as others_of
from coldwarm.doctor.record.journal import (
    BESIDE,
    COUNTS,
    FIRST,
    KEPT,
    LINES,
    LOOKED_FOR,
    LOST,
    VARIABLE,
)
from coldwarm.doctor.source_code import SourceFiles, is_installed
from coldwarm.doctor.time_account import (
    account,
    call_sites,
    line_times,
    unlogged_calls,
    unseen_before,
)
from coldwarm.doctor.trace import (
    BlockBegin,
    Cut,
    DebugSettings,
    DoctorFailure,
    Enough,
    Framework,
    Nothing,
    ProcessEnd,
    ProcessTrace,
    Stage,
    Untold,
    journal_lines,
)
from coldwarm.errors import UsageError
from coldwarm.runner.user_input import of_program

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.contracts.reasons import Reason
    from coldwarm.doctor.trace import CompiledCall


_HOOK = Path(coldwarm.__file__).parent / "doctor" / "hook"
"""The folder that starts the recorder, where it is on ``PYTHONPATH``."""
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ENDING, _WITHIN_S, _QUIET_S = 3, 2.0, 1.0
"""Times that Ctrl-C is pressed, and in how many seconds, to end a program that does not hear it;
and seconds without it after which it is for the doctor again."""


@dataclass(frozen=True)
class ProgramEnd:
    """How a program ended."""

    begin_s: float
    """On the clock that its processes use too."""
    end_s: float
    status: int
    """Negative: the signal that ended it."""


Pass = Literal["timing", "keys"]
PASSES: tuple[Pass, ...] = get_args(Pass)
_SETTINGS: dict[Pass, dict[str, str]] = {
    "timing": {},
    # Every use of a key has a value then.
    "keys": {LOOKED_FOR: "keys", "JAX_DISABLE_JIT": "1"},
}


def environment(journal: Path, base: Mapping[str, str], one: Pass = "timing") -> dict[str, str]:
    """Return the variables with which Python starts the recorder."""
    inherited = {FIRST, LOOKED_FOR, KEPT}
    if LOOKED_FOR in base:  # of a doctor around this one, whose program was asked to find others
        inherited |= {name for settings in _SETTINGS.values() for name in settings}
    kept = {name: value for name, value in base.items() if name not in inherited}
    own = {VARIABLE: str(journal), "PYTHONPATH": hook_path(base.get("PYTHONPATH", ""))}
    return {**kept, **own, **_SETTINGS[one]}


def hook_path(before: str) -> str:
    """Return a value of ``PYTHONPATH`` with which Python starts the recorder."""
    others = [path for path in before.split(os.pathsep) if path and path != str(_HOOK)]
    return os.pathsep.join([str(_HOOK), *others])


def files_of(command: Sequence[str]) -> list[Path]:
    """Return where a program lies; of a module the places in this folder where it would."""
    if command[0] != "-m":
        return [Path(command[0])]
    place = Path(*command[1].split("."))
    return [place.with_suffix(".py"), place / "__main__.py"]


def run(  # noqa: PLR0913 - as many as a start has
    command: Sequence[str],
    journal: Path,
    python: str = sys.executable,
    one: Pass = "timing",
    *,
    asks: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    stdout: int | None = None,
) -> ProgramEnd:
    """Run a Python program to its end; in the timing pass its output and errors are ours.

    ``command`` is what stands behind ``python``: a file or ``-m`` and a module, and arguments.
    Another pass repeats the program without input, and what it prints is left out. ``asks`` are
    variables that ask the recorder for more, ``settings`` others that the program is to have;
    ``stdout`` is a file that its output goes to.

    Raises:
        OSError: it could not be started.
    """
    variables = environment(journal, os.environ, one)
    variables |= dict.fromkeys(asks, "1") | dict(settings or {})
    begin_s = time.perf_counter()
    with _handed_on() as hand_on_to:
        process = subprocess.Popen(
            [python, *command],
            env=variables,
            stdin=None if one == "timing" else subprocess.DEVNULL,
            stdout=stdout if one == "timing" else subprocess.DEVNULL,
            stderr=None if one == "timing" else subprocess.DEVNULL,
        )
        hand_on_to(process)
        status = process.wait()
    return ProgramEnd(begin_s, time.perf_counter(), status)


@contextmanager
def _handed_on() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Leave Ctrl-C to the program, which gets it from the terminal, and pass on other signals.

    One that comes while it is started is passed on when it is there. One that is ignored here is
    ignored on, there too. A program that does not hear Ctrl-C, as while XLA compiles, is ended by
    the third within two seconds: what it has told until then makes a report.
    """
    running: list[subprocess.Popen[bytes]] = []
    came: list[int] = []
    interrupts: deque[float] = deque(maxlen=_ENDING)

    def interrupted(*_: object) -> None:
        interrupts.append(time.monotonic())
        if running and _is_several(interrupts):
            running[0].terminate()

    def pass_on(*number: object) -> None:
        came.extend(one for one in number[:1] if isinstance(one, int))
        while running and came:
            running[0].send_signal(came.pop(0))

    def hand_on_to(process: subprocess.Popen[bytes]) -> None:
        running.append(process)
        pass_on()

    before: dict[int, Any] = {}
    for number in (*_PASSED_ON, signal.SIGINT):
        if signal.getsignal(number) is not signal.SIG_IGN:
            handler = pass_on if number in _PASSED_ON else interrupted
            before[number] = signal.signal(number, handler)
    try:
        yield hand_on_to
    finally:
        # Who has pressed so often presses on for a moment, which is not to end the report as well.
        while _is_several(interrupts) and time.monotonic() - interrupts[-1] < _QUIET_S:
            time.sleep(0.05)
        for restored, handler in before.items():
            signal.signal(restored, handler)


def _is_several(interrupts: deque[float]) -> bool:
    return len(interrupts) == _ENDING and interrupts[-1] - interrupts[0] < _WITHIN_S


_MOST_SITES, _MOST_FINDINGS, _MOST_LINES = 1000, 1000, 1000
"""Largest numbers in a report: it is read by people and by programs."""
_MOST_SOURCE, _MOST_SOURCES = 2**20, 400
"""Bytes of a source file that is read, and files."""
_IMPORTS = re.compile(r"^[ \t]*(?:from|import)[ \t]+(.+)$", re.MULTILINE)
_NAMES = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Watched:
    """The processes of a program, the first one first."""

    processes: Sequence[ProcessTrace]
    sources: SourceFiles

    @property
    def begin_s(self) -> float:
        """The first moment that is known, on the clock that the processes use."""
        return self.processes[0].rows[0].at_s


def read(folder: Path) -> Watched:
    """Return what the processes of a program have written into a folder.

    Raises:
        UsageError: there is no journal in it.
        ContractError: a line of a journal is not what the doctor writes.
    """
    journals = sorted(folder.glob(f"*{LINES}"), key=lambda one: one.stat().st_mtime_ns)
    read = [(list(journal_lines(one)), one) for one in journals]
    paired = [(own, path) for own, path in read if own and own[0]["kind"] == "process"]
    if not paired:
        text = f"{folder} holds no journal of the doctor's: was the program a Python program?"
        raise UsageError(text)
    found = texts([row for own, _ in paired for row in own])
    sources = SourceFiles({of_program(name): text for name, text in found.items()})
    traces = [
        ProcessTrace.of(of_program(own), _counts(path.with_suffix(COUNTS)), sources)
        for own, path in paired
    ]
    traces.sort(key=lambda one: one.rows[0].at_s)
    first, *others = traces
    return Watched(
        [first, *(one for one in others if one.calls or not one.process.is_tracker)], sources
    )


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
    sources = SourceFiles({})
    rows = [Nothing(at_s=0.0, argv=list(command))]
    return Watched([ProcessTrace(rows, (), sources)], sources)


def report(
    watched: Watched,
    ended: ProgramEnd | None,
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
    end_s = ended.end_s if ended else first.rows[-1].at_s
    found = findings_of_all(map(findings, watched.processes))
    found += findings_across(watched.processes)
    for one_pass in others:
        known = {(one.pattern, one.path, one.line) for one in found}
        of_pass = [list(filter(_of_a_pass, findings(trace))) for trace in one_pass.processes]
        more = findings_of_all(of_pass)
        found += [one for one in more if (one.pattern, one.path, one.line) not in known]
    by_process = list(map(call_sites, watched.processes))
    sites = sites_of_all(by_process)
    made = DoctorReport(
        harness_version=coldwarm.__version__,
        started_at=started_at or first.process.started_at,
        command=list(command) or _argv(first),
        exit_status=ended.status if ended else None,
        python=first.process.python,
        versions=_versions(watched.processes),
        n_processes=len(watched.processes),
        account=account(first, begin_s, end_s),
        others=others_of(watched.processes, by_process),
        findings=ranked(found, end_s - begin_s)[:_MOST_FINDINGS],
        sites=sites[:_MOST_SITES],
        n_sites=len(sites),
        lines=line_times(first)[:_MOST_LINES],
        unseen=list(_unseen(watched.processes, ended)),
    )
    # A line of the program's source may hold a secret too.
    return msgspec.convert(of_program(msgspec.to_builtins(made)), DoctorReport)


def _argv(trace: ProcessTrace) -> list[str]:
    untold = trace.rows_of(Nothing)
    return untold[0].argv if untold else trace.process.argv


def _of_a_pass(one: Finding) -> bool:
    """Say whether a finding is what a further pass is for: its times are of no use."""
    return one.says.code == "doctor_key"


def _unfinished(trace: ProcessTrace) -> Iterator[Reason]:
    """Name what a process was compiling when it ended without its last words."""
    if trace.rows_of(ProcessEnd):
        return
    newest: dict[int, CompiledCall] = {call.thread: call for call in trace.calls}
    stages = {row.call: row.stage for row in trace.rows_of(Stage)}
    for call in newest.values():
        # What a call has lowered it compiles; what is lowered for itself may be left at that.
        begun = {None} if call.cause.kind == "apart" else {None, "lower"}
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
    """Return the source files that the rows name, and those beside them that these import."""
    names = {name for row in rows for name in _named(row) if not name.startswith("<")}
    folders = {Path(name).parent for name in names if not is_installed(name)}
    found: dict[str, str] = {}
    left = names
    while left:
        new = {name: source for name in left if (source := _source(Path(name))) is not None}
        found |= new
        ours = [source for name, source in new.items() if Path(name).parent in folders]
        beside = {path for source in ours for path in _imported(source, folders)} - found.keys()
        left = beside if len(found) + len(beside) <= _MOST_SOURCES else set()
    return found


def _source(path: Path) -> str | None:
    """Return a source file; ``None``: there is none, or a very large one."""
    try:
        if path.is_file() and path.stat().st_size <= _MOST_SOURCE:
            with tokenize.open(path) as file:  # in the encoding that the file declares
                return file.read()
    except (OSError, ValueError, SyntaxError):
        return None
    return None


def _imported(source: str, folders: Collection[Path]) -> Iterator[str]:
    """Yield the files in folders that may be what a file imports."""
    for name in {name for row in _IMPORTS.findall(source) for name in _NAMES.findall(row)}:
        for folder in folders:
            path = folder.joinpath(*name.split(".")).with_suffix(".py")
            if path.is_file():
                yield str(path)


def _named(row: dict[str, Any]) -> Iterator[str]:
    """Yield the files of a row: of who called, of what was called, of what it is made of."""
    program = row.get("program") or {}
    chains = [chain for chain, *_ in program.get("lines") or ()]
    chains += [chain for _, chain in program.get("heavy") or ()]
    alone = [*(program.get("asking") or ()), *(one[0] for one in program.get("kept_steps") or ())]
    if program.get("constants_line"):
        alone.append(program["constants_line"])
    for place in (*(row.get("stack") or ()), *alone, *(one for chain in chains for one in chain)):
        yield str(place[0])
    function = row.get("function") or {}
    if function.get("whose") == "user":
        yield str(function["path"])


def _versions(processes: Sequence[ProcessTrace]) -> dict[str, str]:
    rows = [row for trace in processes for row in trace.rows_of(Framework)]
    return {name: version for row in rows for name, version in row.versions.items()}


def _unseen(processes: Sequence[ProcessTrace], ended: ProgramEnd | None) -> Iterator[Reason]:
    if processes[0].rows_of(Nothing):
        yield because("no_journal")
        return
    n_lost = sum(one.counts[LOST] for one in processes if len(one.counts) > LOST)
    if n_lost:
        yield because("lines_lost", n_lines=n_lost)
    if not all(one.sees_calls for one in processes):
        yield because("needs_monitoring")
    pid = processes[0].process.pid
    programs = [one for one in processes if pid is not None and one.process.pid == pid]
    if len(programs) > 1:  # of one process, one after the other
        yield because("program_replaced")
    if ended is None and not (programs or processes[:1])[-1].rows_of(ProcessEnd):
        yield because("end_not_seen")
    yield from unseen_before(processes[0]).values()
    yield from _not_watched(processes)
    cut = any(one.rows_of(Cut) for one in processes)
    if cut or any(map(unlogged_calls, processes)):
        yield because("journal_cut")
    for one in processes:
        yield from _unfinished(one)
    yield from _failures(processes)


def _not_watched(processes: Sequence[ProcessTrace]) -> Iterator[Reason]:
    """Yield what nobody looks at in such a program, or no longer."""
    if any(one.rows_of(Enough) for one in processes):
        yield because("operations_many")
    if not all(row.jit for row in processes[0].rows_of(BlockBegin)):
        yield because("jit_off")
    if any(row.torch_gpu for one in processes for row in one.rows_of(DebugSettings)):
        yield because("torch_on_gpu")


def _failures(processes: Sequence[ProcessTrace]) -> Iterator[Reason]:
    """Yield what the program, or a fault of the doctor's own, has kept from being seen."""
    if any(one.rows_of(Untold) for one in processes):
        yield because("listeners_removed", framework="JAX")
    failures = {(row.at, row.error) for one in processes for row in one.rows_of(DoctorFailure)}
    for at, error in sorted(failures):
        yield because("doctor_failed", at=at, error=error)
