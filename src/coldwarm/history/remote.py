"""One run on a machine of others: what it is asked for comes as bytes, and its result goes as such.

It is called by whatever carries tasks to machines, in a process of theirs that has coldwarm.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.runner import temporary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

RESULT = "result"
"""The folder in the archive that comes back."""
_FINE = (0, 1)
"""Exit statuses of a bench with figures: 1, where a limit was exceeded."""
_SAMPLE = f"{Path(__file__).resolve().parents[1] / 'functions' / 'sample.py'}:work"
_NOISE = ("noise", _SAMPLE, "--input", "x=f64[131072]", "--warm-only", "--time-budget", "40s")
"""A call of several milliseconds: one of 0.3 ms mostly ends before another process gets its turn on
that processor, so that it does not show a machine with others on it."""
_BENCH_S = 60.0
"""Seconds of a bench for which a machine's noise is told."""
_SET_BY_CARRIERS = frozenset(f"{name}_NUM_THREADS" for name in ("OMP", "MKL", "OPENBLAS")) | {
    *("MALLOC_TRIM_THRESHOLD_", "PYTHONHASHSEED", "__DASK_PARENT_PID"),
}
"""Variables that workers of Dask are started with: they would change what is measured. With one
hash seed all processes have one layout of memory: calls were 8 % quicker."""
_STARTS = """
import ctypes, os, sys
parent, arguments = int(sys.argv[1]), sys.argv[2:]
ctypes.CDLL(None).prctl(1, 15)  # end when the parent does
if os.getppid() == parent:
    os.execv(sys.executable, [sys.executable, "-P", "-m", "coldwarm", *arguments])
"""
"""Program that becomes coldwarm, and that ends with the process that has started it."""
_TAIL = 2000


@dataclass(frozen=True)
class MachineAnswer:
    """What a machine sends."""

    machine: str
    """Its name."""
    noise: float | None = None
    """The relative difference that it can show in a minute; ``None``: it was not measured."""
    failure: str = ""
    """What went wrong, in a line."""
    archive: bytes = b""
    """The result, packed; empty: there is none."""


def run(
    arguments: Sequence[str], files: Mapping[str, bytes], most_noise: float | None
) -> MachineAnswer:
    """Measure in a new folder, unless the machine is too noisy, and return the result.

    Args:
        arguments: Of ``coldwarm``.
        files: Contents of the files that they name, by relative path.
        most_noise: The smallest difference that the machine has to show, as a share; ``None``: any.
    """
    machine = os.uname().nodename
    with _alone(), temporary.made() as place:
        work, out = place / "work", place / RESULT
        for name, data in files.items():
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        work.mkdir(exist_ok=True)
        noise = None
        if most_noise is not None:
            done = _coldwarm([*_NOISE, "--json", "--out", str(place / "noise")], work)
            noise = _detectable(done.stdout) if done.returncode == 0 else None
            if noise is None:
                return MachineAnswer(machine, failure=f"its noise was not measured: {_last(done)}")
            if noise > most_noise:
                return MachineAnswer(machine, noise)
        done = _coldwarm([*arguments, "--out", str(out)], work)
        if done.returncode not in _FINE or not out.is_dir():
            failure = f"it ended with exit status {done.returncode}: {_last(done)}"
            return MachineAnswer(machine, noise, failure)
        return MachineAnswer(machine, noise, archive=_packed(out))


@contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other run is on this machine, whoever has sent it."""
    name = Path(tempfile.gettempdir(), f"coldwarm-measuring-{os.getuid()}")
    with name.open("a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _detectable(told: str) -> float | None:
    """Return the difference that a bench of a minute can show; ``None``: it is not known.

    Where too little was measured to tell that, it is the larger one that this could show.
    """
    known = []
    for figure in json.loads(told)["figures"]:
        horizons = (one["detectable"] for one in figure["horizons"] if one["seconds"] == _BENCH_S)
        of_minute = next(horizons, None)
        known.append(of_minute or figure["comparison"]["smallest_detectable"])
    return max((one for one in known if one is not None), default=None)


def _coldwarm(arguments: Sequence[str], place: Path) -> subprocess.CompletedProcess[str]:
    """Run a command, which ends when what has called it does."""
    return subprocess.run(  # noqa: S603 - coldwarm itself
        [sys.executable, "-P", "-c", _STARTS, str(os.getpid()), *arguments],
        cwd=place,
        env={k: v for k, v in os.environ.items() if k not in _SET_BY_CARRIERS},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _last(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that a command has printed."""
    return (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2][-_TAIL:]


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        archive.add(folder, RESULT)
    return packed.getvalue()
