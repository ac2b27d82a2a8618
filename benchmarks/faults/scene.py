"""One fault: a place for it, the commands that meet it, and what is found afterwards."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psutil
from tests.faults.lab import Lab, read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

LIMIT_S = 60.0
"""A command that takes longer hangs: an honest one is over in some seconds."""
GONE_S = 5.0
"""So long a process may take to end after its command has."""
BOUNDED = ("bash", "-c", f'ulimit -v {8 * 2**20}; exec "$@"', "bash")
"""A command that takes all memory would harm whatever else runs here: 8 GiB."""
RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
    r"|^(?:::|##\[)",
    re.MULTILINE,
)
"""What no output may contain: control characters, changes of direction, commands to a CI."""
OTHER = "other"
"""A run just like the finished one, to compare it with."""
READERS: dict[str, Callable[[Path], Sequence[str | Path]]] = {
    "show": lambda out: ("show", out),
    "plan": lambda out: ("plan", out, "--calls", "10"),
    "compare": lambda out: ("compare", out.with_name(OTHER), out),
    "validate": lambda out: ("validate", out),
    "resume": lambda out: ("run", "--out", out, "--resume"),
}
"""The commands that read a run, by name."""


@dataclass(frozen=True)
class Fault:
    """A fault by kind and name, and the function that brings it about and looks."""

    kind: str
    name: str
    act: Callable[[Scene], None]


@dataclass
class Found:
    """What one fault has led to; empty lists and zeros are as it should be."""

    commands: int = 0
    wrong_codes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)
    raw_output: list[str] = field(default_factory=list)
    processes_left: list[str] = field(default_factory=list)
    observations_lost: int = 0
    files_changed: list[str] = field(default_factory=list)
    not_tried: str | None = None

    def faultless(self) -> bool:
        """Say whether everything is as it should be."""
        return not any(value for name, value in vars(self).items() if name not in _NEUTRAL)


_NEUTRAL = {"commands", "not_tried"}


class NotTriedError(Exception):
    """This machine does not let the fault be brought about."""


@dataclass
class Scene:
    """Where a fault happens: a laboratory, and a finished run to copy."""

    lab: Lab
    finished: Path
    found: Found = field(default_factory=Found)

    def copy(self) -> Path:
        """Return the directory of a finished run, the scene's own, with the other beside it."""
        other = self.finished.with_name(OTHER)
        shutil.copytree(other, self.lab.out.with_name(OTHER), symlinks=True)
        shutil.copytree(self.finished, self.lab.out, symlinks=True)
        return self.lab.out

    def command(
        self,
        *arguments: str | Path,
        codes: Collection[int],
        prefix: tuple[str, ...] = BOUNDED,
        limit_s: float = LIMIT_S,
    ) -> int:
        """Run a command to its end, judge what it said, and return its status."""
        process = self.lab.open(*arguments, prefix=prefix)
        return self.judge(process, codes, limit_s)

    def judge(
        self, process: subprocess.Popen[str], codes: Collection[int], limit_s: float = LIMIT_S
    ) -> int:
        """Wait for a command's end, and judge what it said."""
        named = str(process.args)[-120:]
        self.found.commands += 1
        try:
            out, err = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            self.found.hangs.append(named)
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        else:
            if process.returncode not in codes:
                last = (err.strip().splitlines() or [""])[-1]
                self.found.wrong_codes.append(f"{process.returncode}: {named}: {last[-200:]}")
        if "Traceback (most recent call last)" in out + err:
            self.found.tracebacks.append(named)
        if RAW.search(out) or RAW.search(err):
            self.found.raw_output.append(named)
        return process.returncode

    def read_only(self, name: str, codes: Collection[int]) -> None:
        """Run a command that reads a run; no file may be another one after it.

        A resumed run that is not refused writes its files anew, from the journal.
        """
        before = listing(self.lab.out)
        status = self.command(*READERS[name](self.lab.out), codes=codes)
        if name == "resume" and status == 0:
            return
        changed = [path for path, text in before.items() if listing(self.lab.out).get(path) != text]
        self.found.files_changed += [f"{name}: {path}" for path in changed]

    def look_for_processes(self) -> None:
        """Wait a moment for every process to be gone; end and note those that stay.

        Whatever a command has started becomes a child of this process when its own parents are
        gone, whatever session and environment it gave itself.
        """
        deadline = time.monotonic() + GONE_S
        while (left := _alive()) and time.monotonic() < deadline:
            time.sleep(0.02)
        for process in left:
            with suppress(psutil.Error):
                self.found.processes_left.append(" ".join(process.cmdline())[-100:])
                process.kill()

    def intact(self) -> dict[str, Any]:
        """Return the valid observations that the journal has, by what they are of."""
        journal = self.lab.out / "journal.jsonl"
        return {key(one): one for one in observations(journal)}

    def count_lost(self, before: dict[str, Any]) -> None:
        """Count the observations of before that are in no case file now."""
        cases = [read_json(path) for path in (self.lab.out / "cases").glob("*.json")]
        kept = {key(one) for case in cases for one in case["observations"]}
        self.found.observations_lost += len(before.keys() - kept)


def observations(journal: Path) -> list[dict[str, Any]]:
    """Return the finished observations of the lines that are whole."""
    found = []
    for line in journal.read_bytes().splitlines() if journal.is_file() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry.get("kind") == "observation" and entry["record"]["status"] == "ok":
            found.append(entry["record"])
    return found


def key(observation: dict[str, Any]) -> str:
    """Return what tells an observation from every other one of its run."""
    names = ("case", "cache_mode", "round", "attempt")
    return " ".join(str(observation[name]) for name in names)


def listing(folder: Path) -> dict[str, bytes]:
    """Return the contents of the regular files below a folder, but for the lock."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name != ".lock"
        if path.stat().st_size < 2**24
    }


def _alive() -> list[psutil.Process]:
    """Return every descendant of this process that is no mere entry in the table."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                process.wait(0)
            else:
                found.append(process)
    return found
