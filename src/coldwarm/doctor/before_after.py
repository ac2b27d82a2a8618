"""The same program before a change and after it, measured: ``coldwarm doctor --then bench``.

An earlier state is a revision, a folder or a file; both sides run in turns, each in a fresh
process, to its end, and the rounds are judged as ``compare`` does.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.caches import HOME, modes
from coldwarm.caches import jax as jax_cache
from coldwarm.contracts.reasons import because
from coldwarm.doctor import watch
from coldwarm.doctor.findings_document import say
from coldwarm.doctor.judge import fix
from coldwarm.doctor.watch import environment
from coldwarm.errors import ColdwarmError, ExitCode, ProgramFailedError, UsageError
from coldwarm.report import units
from coldwarm.runner import isolation, spawn, temporary
from coldwarm.runner.functions import revisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.doctor import CachesAs, DoctorReport


_PACKAGES = {"site-packages", "dist-packages"}
_DIGITS, _HASH = 10, 40
"""Digits of a commit: those that are shown, and all."""
_PLACES = """
import json, os, sys
finders = [sys.modules.get(getattr(one, "__module__", "")) for one in sys.meta_path]
editable = [path for one in finders for path in getattr(one, "MAPPING", {}).values()]
print(json.dumps(sys.path[1:] + [os.path.dirname(path) for path in editable]))
"""
"""Prints where modules are looked for, those of editable installs by setuptools too."""


@dataclass(frozen=True)
class _ProgramState:
    """How a program is started as it was, or as it is."""

    command: Sequence[str]
    """Arguments behind ``python``."""
    folder: Path
    """Folder that it is started in."""
    search: Sequence[Path] = field(default=())
    """Where its modules are looked for first."""


@contextmanager
def _before(
    what: str | None, command: Sequence[str], python: str, work: Path
) -> Iterator[tuple[str, _ProgramState]]:
    """Give what an earlier program is called, and how it is started.

    ``what`` is a file, a folder or a revision; without it the last commit, as long as something
    has changed since. A script of a revision or a folder runs in the folder of today, so that it
    finds its data; a module (``-m``) runs in the folder that it was in. ``work`` is where a
    revision is checked out.

    Raises:
        UsageError: there is no such earlier state, or the program is not in it.
    """
    path = Path(what or "")
    if what and path.is_file():
        yield what, _of_file(path, command)
    elif what and path.is_dir():
        yield what, _of_tree(path.resolve(), _root(path, command), command, python)
    else:
        named, revision = (what, what) if what else _last_commit(command)
        try:
            root = revisions.root_of(_place(command))
        except UsageError:
            if not shutil.which("git"):
                raise
            text = "is no file, no folder, and there is no git repository here"
            raise UsageError(f"--before: {what} {text}") from None
        with revisions.tree_of(root, revision, work / "before") as (_, tree):
            was = _name_then(root, revision, command)
            yield named, _of_tree(tree, root, command, python, was)


def _last_commit(command: Sequence[str]) -> tuple[str, str]:
    """Return how the last commit is called, and its hash, where the program was another one.

    Raises:
        UsageError: there is none, it has no such program, or nothing has changed since.
    """
    folder, program = _place(command), " ".join(command[:2] if command[0] == "-m" else command[:1])
    name = "--before FILE, DIR or REVISION"
    try:
        root, (commit, _) = revisions.root_of(folder), revisions.committed(folder, "HEAD")
    except UsageError as error:
        text = f"nothing says what {program} was before its change, as it is in no commit of git"
        raise UsageError(f"{text} ({error}): name a copy of its earlier state: {name}") from None
    _name_then(root, commit, command)
    short = commit[:_DIGITS]
    if not revisions.changes(root, commit):
        text = f"nothing has changed since the last commit ({short}), so that there is nothing"
        raise UsageError(f"{text} to compare; name an earlier state, such as --before HEAD~1")
    return f"HEAD ({short})", commit


def _name_then(root: Path, revision: str, command: Sequence[str]) -> str:
    """Return the name of a script at a revision, from the root; of a module nothing.

    Raises:
        UsageError: it was not there.
    """
    if command[0] == "-m":
        return ""
    script = Path(command[0]).resolve()
    now = script.relative_to(root.resolve()).as_posix()
    was = revisions.changes(root, revision).get(now, now)
    if not was or not revisions.is_in(root, revision, was):
        text = f"{now} is not in {revision[:_DIGITS] if len(revision) == _HASH else revision}"
        raise UsageError(
            f"{text}; name a state that has it, or a copy: --before FILE, DIR or REVISION"
        )
    return was


def _place(command: Sequence[str]) -> Path:
    """Return the folder that a script lies in, or that a module is started in."""
    return Path.cwd() if command[0] == "-m" else Path(command[0]).resolve().parent


def _of_file(path: Path, command: Sequence[str]) -> _ProgramState:
    if command[0] == "-m":
        raise UsageError(f"--before {path}: for a module, name a revision or a folder")
    return _ProgramState([str(path), *command[1:]], Path.cwd(), [_place(command)])


def _root(folder: Path, command: Sequence[str]) -> Path:
    """Return the folder of today that another one was copied from."""
    if command[0] == "-m":
        return Path.cwd()
    script = Path(command[0]).resolve()
    for root in (Path.cwd(), *script.parents):
        if script.is_relative_to(root) and (folder / script.relative_to(root)).is_file():
            return root
    raise UsageError(f"--before {folder}: it holds no {script.name}; name the folder that does")


def _of_tree(
    tree: Path, root: Path, command: Sequence[str], python: str, was: str = ""
) -> _ProgramState:
    """Return how a program is started in a copy of its folder; ``was`` is the script's name there.

    Raises:
        UsageError: the program is not in it.
    """
    search = list(_search(tree, root, python))
    here = Path.cwd()
    if command[0] == "-m":
        folder = tree / here.relative_to(root) if here.is_relative_to(root) else tree
        return _ProgramState(command, folder, search)
    script = Path(command[0]).resolve()
    if not script.is_relative_to(root):
        raise UsageError(f"{command[0]} is not in {root}, whose earlier state is asked for")
    old = tree / (was or script.relative_to(root))
    if not old.is_file():
        raise UsageError(f"{script.relative_to(root)} is not in the earlier state; name another")
    return _ProgramState([str(old), *command[1:]], here, search)


def _search(tree: Path, root: Path, python: str) -> Iterator[Path]:
    """Yield where modules of the project were, in the places where they are looked for today."""
    done = subprocess.run([python, "-c", _PLACES], capture_output=True, text=True, check=False)
    entries = json.loads(done.stdout) if done.returncode == 0 else []
    for entry in dict.fromkeys([str(root / "src"), *filter(None, entries)]):
        path = Path(os.path.realpath(entry))
        inside = path.is_relative_to(root) and not _PACKAGES & set(path.parts)
        if inside and (tree / path.relative_to(root)).is_dir():
            yield tree / path.relative_to(root)


_SIDES = ("before", "after")


class _TimeOverError(Exception):
    """The time for all runs is over; the one that was running was ended."""


@dataclass(frozen=True)
class _TimedRun:
    """One process."""

    seconds: float
    """From its start to its end."""
    status: int
    stdout: bytes
    stderr: bytes


def _moved(folder: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that move the caches of compiled programs into a folder.

    That of JAX only where ``base`` has one: without a folder JAX keeps nothing on disk. Nothing
    else is set: what a cache keeps is for the program, and its user, to say.
    """
    folder.mkdir(parents=True, exist_ok=True)
    root = temporary.plain(folder)
    found: dict[str, str] = {}
    for owner in modes.of_programs():
        place = root / owner.name
        place.mkdir(exist_ok=True)
        variables = owner.isolate(place, by_default=True)
        places = {key: value for key, value in variables.items() if value.startswith(str(place))}
        if owner.name != jax_cache.OWNER.name or any(base.get(key) for key in places):
            found.update(places)
    return found


class _NothingMeasuredError(ColdwarmError):
    """The time was over before anything was measured."""

    exit_code = ExitCode.NOTHING_VALID


@dataclass(frozen=True)
class ThenBench:
    """Request of ``--then bench``."""

    before: str | None
    caches: CachesAs
    rounds: int
    time_budget_s: float | None = None


@dataclass(frozen=True)
class BeforeAfterBench:
    """Functions to measure."""

    asked: ThenBench
    named: str
    """Name of the program before."""
    sides: Mapping[str, _ProgramState]
    python: str
    work: Path

    def measured(self, report: DoctorReport, took_s: float) -> DoctorReport:
        """Return the report of the program as it is, with what the change has brought.

        ``took_s`` is what the program has taken under the doctor. Where the time is over, or
        somebody interrupts, the verdict is that of the rounds until then.

        Raises:
            ProgramFailedError: one of both ended with an error.
            _NothingMeasuredError: the time was over before one round was measured.
            KeyboardInterrupt: somebody interrupted before that.
        """
        if report.exit_status:
            say(f"the program ended with {report.exit_status}, so nothing is measured")
            return report
        self._estimate(took_s)
        end_s = time.perf_counter() + (self.asked.time_budget_s or math.inf)
        watched: list[_TimedRun] = []
        reports: list[DoctorReport] = []
        rounds: list[dict[str, _TimedRun]] = []
        code = ""
        try:
            for name in _SIDES:
                journal = self.work / f"{name}-journal"
                watched.append(self._watched(name, journal, end_s))
                reports.append(watch.report(watch.read(journal), None, report.started_at))
            for one in self._rounds(end_s):
                rounds.append(one)
                took = ", ".join(f"{name} {units.duration(one[name].seconds)}" for name in one)
                say(f"round {len(rounds)} of {self.asked.rounds}: {took}")
        except _TimeOverError:
            code = "rounds_out_of_time"
        except KeyboardInterrupt:
            code = "rounds_interrupted"
            if not rounds:
                raise
            say("interrupted; what was measured until then is judged")
        if not rounds:
            text = "the time budget was over before both were measured once; give more"
            raise _NothingMeasuredError(f"{text}: --time-budget {self._whole_s(took_s):.0f}s")
        before, after = ([one[name] for one in rounds] for name in _SIDES)
        found = fix(
            self.named,
            self.asked.caches,
            [(one.seconds, other.seconds) for one, other in zip(before, after, strict=True)],
            (reports[0], reports[1]),
            (_lines([watched[0], *before]), _lines([watched[1], *after])),
        )
        cut = [because(code, n_rounds=len(rounds), n_asked=self.asked.rounds)] if code else []
        return replace(report, fix=replace(found, limitations=[*cut, *found.limitations]))

    def _estimate(self, took_s: float) -> None:
        """Say how long it will take, before it does."""
        n_runs, budget_s = self._n_runs(), self.asked.time_budget_s
        text = (
            f"measuring the program as it was and as it is: {n_runs} runs without input, about"
            f" {units.duration(self._whole_s(took_s))} if each takes as long as this one"
        )
        if budget_s is not None and budget_s < self._whole_s(took_s):
            text += f"; --time-budget ends it after {units.duration(budget_s)}"
        say(f"{text}; Ctrl-C ends it with what was measured by then")

    def _n_runs(self) -> int:
        """Return how often the program is run: counted and measured, and to fill caches."""
        return 2 * (1 + self.asked.rounds + (self.asked.caches == "filled"))

    def _whole_s(self, took_s: float) -> float:
        return max(1.0, self._n_runs() * took_s)

    def _watched(self, name: str, journal: Path, end_s: float) -> _TimedRun:
        """Run one side with the recorder inside, and with empty caches of its own."""
        variables = self._variables(name, self.work / f"{name}-watched")
        run = self._run(self.sides[name], environment(journal, variables), end_s)
        _refuse_failed(name, run)
        return run

    def _rounds(self, end_s: float) -> Iterator[dict[str, _TimedRun]]:
        """Run both sides in turns, each first in every other round; give each round as it ends.

        Raises:
            ProgramFailedError: a process ended with an error.
            _TimeOverError: the time is over in the middle of a round.
        """
        filled = self.asked.caches == "filled"
        if filled:
            for name in _SIDES:
                self._once(name, name, end_s)
        for at in range(self.asked.rounds):
            order = _SIDES if at % 2 == 0 else _SIDES[::-1]
            found = {
                name: self._once(name, name if filled else f"{name}-{at}", end_s) for name in order
            }
            for name, run in found.items():
                _refuse_failed(name, run)
            yield found

    def _once(self, name: str, caches: str, end_s: float) -> _TimedRun:
        variables = self._variables(name, self.work / caches)
        return self._run(self.sides[name], variables, end_s)

    def _variables(self, name: str, folder: Path) -> dict[str, str]:
        """Return the variables of a process whose caches on disk lie in a folder."""
        variables = {**os.environ, **_moved(folder, os.environ)}
        variables.update(isolation.lay_home(os.environ, temporary.plain(folder) / HOME))
        search = [str(path) for path in self.sides[name].search]
        if search:
            known = variables.get("PYTHONPATH")
            variables["PYTHONPATH"] = os.pathsep.join([*search, *([known] if known else [])])
        return variables

    def _run(self, side: _ProgramState, variables: Mapping[str, str], end_s: float) -> _TimedRun:
        """Run a side to its end; what it writes goes to files, which no reader slows down."""
        paths = [self.work / name for name in ("stdout", "stderr")]
        with paths[0].open("wb") as out, paths[1].open("wb") as err:
            begin_s = time.perf_counter()
            status = _ended(
                lambda: subprocess.Popen(
                    [self.python, *side.command],
                    cwd=side.folder,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    process_group=0,
                ),
                end_s,
            )
            seconds = time.perf_counter() - begin_s
        return _TimedRun(seconds, status, *(path.read_bytes() for path in paths))


@contextmanager
def prepared(
    command_line: Sequence[str], asked: ThenBench | None, python: str
) -> Iterator[BeforeAfterBench | None]:
    """Give what is to be measured; ``None``: nothing is.

    Raises:
        UsageError: there is no earlier state of the program.
    """
    if asked is None:
        yield None
        return
    with (
        temporary.made() as work,
        _before(asked.before, command_line, python, work) as (named, side),
    ):
        sides = {"before": side, "after": _ProgramState(command_line, Path.cwd())}
        yield BeforeAfterBench(asked, named, sides, python, work)


def requested(then: str | None, wanted: ThenBench, command: Sequence[str]) -> ThenBench | None:
    """Return what is asked; ``None``: nothing is.

    Raises:
        UsageError: an earlier state is named, and nothing is to be done with it; or it is not known
            which file the program is.
    """
    if then is None and wanted.before is not None:
        raise UsageError(f"--before {wanted.before} is for --then bench; give both, or neither")
    if then and command[0].startswith("-") and command[0] != "-m":
        text = (
            "--then bench needs a script, or -m and a module, without options of Python before it"
        )
        raise UsageError(
            f"{text}, not {command[0]}; set them by variables, such as PYTHONUNBUFFERED"
        )
    return wanted if then else None


def _ended(start: Callable[[], subprocess.Popen[bytes]], end_s: float) -> int:
    """Return how a process ended; whatever ends the waiting ends it and its children."""
    process = None
    try:
        with spawn.starting():
            process = start()
        left_s = end_s - time.perf_counter()
        return process.wait(None if math.isinf(left_s) else max(left_s, 0))
    except BaseException as error:
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise _TimeOverError from None
        raise


def _lines(runs: Sequence[_TimedRun]) -> list[list[str]]:
    return [run.stdout.decode("utf-8", "replace").splitlines() for run in runs]


def _refuse_failed(name: str, run: _TimedRun) -> None:
    if run.status:
        said = run.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        ended = f"run without input, ended with {run.status}"
        text = f"the program {name} the change, {ended}: {said[-1]:.200}"
        raise ProgramFailedError(text)
