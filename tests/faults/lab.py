"""Runs of the real command with plug-ins that misbehave, and a look at what they leave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from tests.started import coldwarm

from coldwarm.contracts.reasons import Reason
from coldwarm.runner.recompute import validated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLUGIN = Path(__file__).parent / "plugin"
SOURCE = Path(__file__).resolve().parents[2] / "src"
_MARK = "COLDWARM_TEST"
GOOD = "numpy_small_8_f32"


def shown(reason: object) -> str:
    """Return a reason of an artifact in brief."""
    return str(msgspec.convert(reason, Reason))


def install(folder: Path, name: str, points: Mapping[str, Mapping[str, str]]) -> Path:
    """Make ``folder`` a place where a distribution with these entry points is installed."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, entries in points.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


@dataclass
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str

    def one_line(self) -> str:
        """Return standard error, which must be a single line of words."""
        assert "Traceback" not in self.err, self.err
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


@dataclass
class Lab:
    """A directory to run in, with the plug-ins in place."""

    path: Path
    sites: list[Path] = field(default_factory=list)
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def out(self) -> Path:
        """The directory of the run."""
        return self.path / "out"

    def environment(self) -> dict[str, str]:
        """Return the variables of a command: marked, with the plug-ins importable."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("COLDWARM")}
        paths = [str(path) for path in (*self.sites, PLUGIN, SOURCE)]
        # One thread is plenty, and the machine may have many.
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        return {**kept, **threads, "PYTHONPATH": os.pathsep.join(paths), _MARK: self.mark}

    def open(self, *arguments: str | Path, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start a command in a session of its own, with Ctrl-C as a terminal gives it."""
        # A test run in the background may ignore the signal, and children inherit that.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return subprocess.Popen(
                [*prefix, sys.executable, "-m", "coldwarm", *map(str, arguments)],
                env=self.environment(),
                cwd=self.path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        finally:
            signal.signal(signal.SIGINT, before)

    def command(
        self, *arguments: str | Path, prefix: tuple[str, ...] = (), timeout_s: float = 120.0
    ) -> Done:
        """Run a command to its end; one that hangs is killed, and that is a failure."""
        if prefix:
            return collect(self.open(*arguments, prefix=prefix), timeout_s)
        done = coldwarm(*arguments, cwd=self.path, env=self.environment(), timeout_s=timeout_s)
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start ``coldwarm run`` on the small workload into ``out``."""
        return self.open("run", *self.arguments(*arguments))

    def run(self, *arguments: str | Path, timeout_s: float = 120.0) -> Done:
        """Run ``coldwarm run`` on the small workload into ``out``."""
        return self.command("run", *self.arguments(*arguments), timeout_s=timeout_s)

    def arguments(self, *arguments: str | Path) -> list[str | Path]:
        """Return arguments with the ones that most runs have."""
        usual: dict[str, list[str | Path]] = {
            "--case": ["--case", "small_8_f32"],
            "--rounds": ["--rounds", "1"],
            "--max-rounds": ["--max-rounds", "1"],
            "--out": ["--out", self.out],
        }
        added = [part for name, pair in usual.items() if name not in arguments for part in pair]
        return [*added, *arguments]

    def case(self, name: str) -> dict[str, Any]:
        """Return a case's result as it is on disk."""
        return read_json(self.out / "cases" / f"{name}.json")

    def suite(self) -> dict[str, Any]:
        """Return the index as it is on disk."""
        return read_json(self.out / "suite.json")

    def journal(self) -> list[bytes]:
        """Return the lines of the journal."""
        return (self.out / "journal.jsonl").read_bytes().splitlines(keepends=True)

    def observations(self) -> int:
        """Return how many lines of the journal are there besides the first."""
        return max(len(self.journal()) - 1, 0) if (self.out / "journal.jsonl").exists() else 0

    def alive(self) -> list[str]:
        """Return the command lines of every process that this lab has started."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                line = self._command_line(entry)
                if line is not None:
                    found.append(f"{entry.name} {line}")
        return found

    def _command_line(self, entry: Path) -> str | None:
        try:
            marked = f"{_MARK}={self.mark}".encode() in (entry / "environ").read_bytes()
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return None
        return line if marked else None

    def workers(self) -> list[int]:
        """Return the process ids of the measured processes that are alive."""
        return [int(line.split()[0]) for line in self.alive() if "worker/main.py" in line]

    def assert_no_orphans(self) -> None:
        """Wait a moment for every process of this lab to be gone."""
        wait_for(lambda: not self.alive(), self.alive)

    def assert_clean(self) -> None:
        """Look at what a run that came to its end has left behind."""
        self.assert_no_orphans()
        self.assert_whole()
        assert not (self.out / "work").exists()
        assert {path.name for path in self.out.iterdir()} == {
            ".lock",
            "answers.json",
            "cases",
            "environment.json",
            "journal.jsonl",
            "nextstat",
            "suite.json",
        }

    def assert_whole(self) -> None:
        """Look at what any run has left: valid, nothing half-written, nobody's lock."""
        assert not list(self.out.rglob("*.part"))
        # What ``coldwarm validate`` does, without starting it.
        faults = [found.fault for found in validated(self.out) if found.fault]
        assert not faults, "\n".join(map(str, faults))
        locks = Path("/proc/locks").read_text(encoding="ascii")
        inode = (self.out / ".lock").stat().st_ino
        assert not any(f":{inode} " in line for line in locks.splitlines()), locks


def collect(process: subprocess.Popen[str], timeout_s: float = 120.0) -> Done:
    """Wait for a command's end; one that hangs is killed, and that is a failure."""
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    assert "Traceback" not in err, err
    return Done(process.returncode, out, err)


def read_json(path: Path) -> dict[str, Any]:
    """Return a JSON object from a file."""
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def wait_for(
    condition: Callable[[], bool], state: Callable[[], object], timeout_s: float = 10.0
) -> None:
    """Wait until a condition holds, looking often; say the state if it never does."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, state()
        time.sleep(0.01)
