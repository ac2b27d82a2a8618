"""Runs on several machines: each is handed to one that is free, and to another where that is lost.

A run is whole: sides that are compared are measured on the same machine. A host has one at a time.
A host that is too noisy, or on which a run fails, gets no other.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import coldwarm
from coldwarm.contracts.history import HistoryMeasurement
from coldwarm.contracts.reasons import RefusedError
from coldwarm.errors import ColdwarmError, UsageError, printable, shorten
from coldwarm.history import remote, store
from coldwarm.publish.archive import unpack
from coldwarm.report.sentences import with_advice
from coldwarm.runner import recompute, temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.history.executors import Carrier, SentTask

_LOOKS_S = 0.5
_MOST_BYTES = 2**26
_LONGEST_LINE = 200
_NOT_KEPT = {
    "--command": "programs",
    "--sweep": "many sizes",
    "--before": "two commits",
    "--after": "two commits",
    "--out": "a folder: results go into the history",
    "-o": "a folder: results go into the history",
}
"""Options of a bench whose result no history takes, and what they ask for."""


@dataclass(frozen=True)
class MachinePlan:
    """What every run does."""

    arguments: Sequence[str]
    """Of ``coldwarm``."""
    files: dict[str, bytes]
    most_noise: float | None
    n_runs: int | None = None
    """``None``: one for each host that is there."""


def refuse_others(arguments: Sequence[str]) -> None:
    """Refuse a command whose result no history takes.

    Raises:
        UsageError: it is such.
    """
    if arguments[:1] not in {("bench",), ("run",)}:
        raise UsageError("name what to measure behind --, such as: -- bench a.py:f b.py:f")
    for one in arguments:
        option = one.partition("=")[0]
        if option in _NOT_KEPT:
            raise UsageError(f"{option} is for {_NOT_KEPT[option]}; remove it")


def files_of(arguments: Sequence[str], further: Sequence[Path]) -> dict[str, bytes]:
    """Return the Python files that arguments name, and further files, by their path as typed.

    Raises:
        UsageError: one cannot be read or is not below this folder, or they are too large.
    """
    named = (Path(one.partition(".py")[0] + ".py") for one in _targets(arguments))
    paths = [*named, *(path for one in further for path in _below(one))]
    try:
        for path in paths:
            if path.is_absolute() or ".." in path.parts:
                raise UsageError(f"{path} is not below this folder: write it from here")
        if sum(path.stat().st_size for path in paths) > _MOST_BYTES:
            text = f"the files to send are larger than {_MOST_BYTES // 2**20} MiB"
            raise UsageError(f"{text}; leave out what is not needed")
        return {str(path): path.read_bytes() for path in paths}
    except OSError as error:
        text = f"{error.filename} cannot be read: {error.strerror}"
        raise UsageError(f"{text}; name another file") from None


def _targets(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments that name a function in a Python file, without their labels."""
    for one in arguments:
        head, equals, rest = one.partition("=")
        name = rest if equals and not head.startswith("-") else one
        if ".py:" in name and not name.startswith("-"):
            yield name


def _below(path: Path) -> Iterator[Path]:
    """Yield a file, or the files in a folder without those that are hidden."""
    if not path.is_dir():
        yield path
        return
    for one in sorted(path.rglob("*")):
        hidden = any(part.startswith(".") for part in one.relative_to(path).parts)
        if one.is_file() and not hidden:
            yield one


@dataclass
class _Outcome:
    """How the runs have ended, so far."""

    n_runs: int
    n_kept: int = 0
    lost: list[str] = field(default_factory=list)
    noisy: dict[str, float] = field(default_factory=dict)
    interrupted: bool = False


def measure(
    carrier: Carrier,
    plan: MachinePlan,
    folder: Path,
    tell: Callable[[str], None],
    commit: str | None = None,
) -> HistoryMeasurement:
    """Hand out runs until each has a result in the history, or no host is left.

    Args:
        carrier: The machines.
        plan: What each run does.
        folder: The history.
        tell: Is told what happens, in a line each.
        commit: That of the program; ``None``: nobody says.
    """
    made = _Outcome(plan.n_runs or 1)
    try:
        made.n_runs = plan.n_runs or len({*carrier.machines().values()})
        _hand_out(carrier, plan, made, partial(_keep, folder, commit), tell)
    except KeyboardInterrupt:
        made.interrupted = True
    except OSError as error:  # of what carries tasks
        made.lost.append(f"the machines are not to be reached any more: {_line(error)}")
    finally:
        carrier.close()
    return HistoryMeasurement(
        harness_version=coldwarm.__version__, folder=str(folder), **vars(made)
    )


class _Busy(NamedTuple):
    """What a machine is at."""

    number: int
    """Of its run."""
    host: str
    task: SentTask


@dataclass
class _Runs:
    """Runs on their way: which wait, and which machine has which."""

    waiting: deque[int]
    busy: dict[str, _Busy] = field(default_factory=dict)
    """By machine."""
    out: set[str] = field(default_factory=set)
    """Machines and hosts that get no other run."""


def _hand_out(
    carrier: Carrier,
    plan: MachinePlan,
    made: _Outcome,
    keep: Callable[[remote.MachineAnswer], bool],
    tell: Callable[[str], None],
) -> None:
    runs = _Runs(deque(range(1, made.n_runs + 1)))
    while runs.waiting or runs.busy:
        if not _begin(carrier, plan, made, runs, tell):
            continue
        if not runs.busy:
            text = "no machine is left" if made.lost or made.noisy else "no machine is there"
            made.lost.append(f"{text}: {len(runs.waiting)} of {made.n_runs} runs were not measured")
            return
        ended = [machine for machine, one in runs.busy.items() if one.task.done()]
        for machine in ended:
            number, host, task = runs.busy.pop(machine)
            failed, is_host = _failed(machine, task, keep, made)
            tell(f"run {number} of {made.n_runs}: {failed or 'kept'}")
            if failed is not None:
                runs.out.add(host if is_host else machine)
                runs.waiting.append(number)
        if not ended:
            time.sleep(_LOOKS_S)


def _begin(
    carrier: Carrier,
    plan: MachinePlan,
    made: _Outcome,
    runs: _Runs,
    tell: Callable[[str], None],
) -> bool:
    """Give each free machine a run; say whether none has refused it, so that all are busy."""
    held = {one.host for one in runs.busy.values()}
    for machine, host in carrier.machines().items():
        if not runs.waiting or {machine, host} & (runs.out | held | {*runs.busy}):
            continue
        number = runs.waiting.popleft()
        tell(f"run {number} of {made.n_runs}: begins on {machine}")
        given = [*plan.arguments], plan.files, plan.most_noise
        try:
            runs.busy[machine] = _Busy(number, host, carrier.submit(machine, remote.run, *given))
        except OSError as error:  # the others go on
            made.lost.append(f"{machine} takes no run: {_line(error)}")
            tell(f"run {number} of {made.n_runs}: {made.lost[-1]}")
            runs.out.add(machine)
            runs.waiting.appendleft(number)
            return False
        held.add(host)
    return True


def _failed(
    machine: str, task: SentTask, keep: Callable[[remote.MachineAnswer], bool], made: _Outcome
) -> tuple[str | None, bool]:
    """Take the answer of a machine; say what went wrong, and whether the host is to blame."""
    try:
        answer = _answered(task)
    except Exception as error:  # noqa: BLE001 - whatever a cluster raises, the others go on
        text = f"{machine} was lost: {type(error).__name__}: {_line(error)}"
        made.lost.append(text)
        return text, False
    if answer.noise is not None and not answer.archive and not answer.failure:
        made.noisy[f"{machine} ({answer.machine})"] = answer.noise
        return f"{machine} is too noisy, and gets no run", True
    failure = answer.failure
    if not failure:
        try:
            if keep(answer):
                made.n_kept += 1
                return None, False
            failure = "its result is there already"
        except RefusedError as error:
            failure = f"its result is refused: {with_advice(error.reason)}"
        except (ColdwarmError, OSError) as error:
            failure = f"its result is refused: {error}"
    text = f"{machine} failed: {_line(failure)}"
    made.lost.append(text)
    return text, True


def _line(said: object) -> str:
    """Return what a stranger says of a failure in one line."""
    return shorten(printable(str(said).strip(" ;\n")), _LONGEST_LINE)


def _answered(task: SentTask) -> remote.MachineAnswer:
    """Return what a machine has sent.

    Raises:
        TypeError: it is no answer.
    """
    found = task.result()
    if not isinstance(found, remote.MachineAnswer):
        raise TypeError("it has sent no answer")
    return found


def _keep(history: Path, commit: str | None, answer: remote.MachineAnswer) -> bool:
    """Verify a result, put it into a history, and say whether it is a new one.

    Raises:
        ColdwarmError: it is broken, or holds what no result has.
        OSError: it cannot be unpacked here.
    """
    with temporary.made() as place:
        packed, folder = place / "packed", place / "unpacked"
        packed.write_bytes(answer.archive)
        folder.mkdir()
        unpack(packed, folder)
        found = recompute.read_whole(folder / remote.RESULT)
        return store.add(history, found, commit, node=answer.machine) is not None
