"""Starts a program as it would start by itself, with a recorder inside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import coldwarm
from coldwarm.doctor.journal import FIRST, KEPT, LOOKED_FOR, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HOOK = Path(coldwarm.__file__).parent / "doctor" / "hook"
"""The folder that starts the recorder, where it is on ``PYTHONPATH``."""
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@dataclass(frozen=True)
class Ended:
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
    others = [path for path in before.split(os.pathsep) if path and path != str(HOOK)]
    return os.pathsep.join([str(HOOK), *others])


def files_of(command: Sequence[str]) -> list[Path]:
    """Return where a program lies; of a module the places in this folder where it would."""
    if command[0] != "-m":
        return [Path(command[0])]
    place = Path(*command[1].split("."))
    return [place.with_suffix(".py"), place / "__main__.py"]


def run(
    command: Sequence[str],
    journal: Path,
    python: str = sys.executable,
    one: Pass = "timing",
    *,
    asks: Sequence[str] = (),
) -> Ended:
    """Run a Python program to its end; in the timing pass its output and errors are ours.

    ``command`` is what stands behind ``python``: a file or ``-m`` and a module, and arguments.
    Another pass repeats the program without input, and what it prints is left out. ``asks`` are
    variables that ask the recorder for more.

    Raises:
        OSError: it could not be started.
    """
    variables = environment(journal, os.environ, one)
    variables |= dict.fromkeys(asks, "1")
    begin_s = time.perf_counter()
    process = subprocess.Popen(
        [python, *command],
        env=variables,
        stdin=None if one == "timing" else subprocess.DEVNULL,
        stdout=None if one == "timing" else subprocess.DEVNULL,
        stderr=None if one == "timing" else subprocess.DEVNULL,
    )
    with _handed_on(process):
        status = process.wait()
    return Ended(begin_s, time.perf_counter(), status)


@contextmanager
def _handed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave Ctrl-C to the program, which gets it from the terminal, and pass on other signals."""

    def pass_on(number: int, _frame: object) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
