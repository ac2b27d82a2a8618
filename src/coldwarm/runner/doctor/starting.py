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
from typing import TYPE_CHECKING, Any, Literal, get_args

import coldwarm
from coldwarm.doctor.journal import FIRST, KEPT, LOOKED_FOR, VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
    with _handed_on() as hand_on_to:
        process = subprocess.Popen(
            [python, *command],
            env=variables,
            stdin=None if one == "timing" else subprocess.DEVNULL,
            stdout=None if one == "timing" else subprocess.DEVNULL,
            stderr=None if one == "timing" else subprocess.DEVNULL,
        )
        hand_on_to(process)
        status = process.wait()
    return Ended(begin_s, time.perf_counter(), status)


@contextmanager
def _handed_on() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Leave Ctrl-C to the program, which gets it from the terminal, and pass on other signals.

    One that comes while it is started is passed on when it is there. One that is ignored here is
    ignored on, there too.
    """
    running: list[subprocess.Popen[bytes]] = []
    came: list[int] = []

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
            handler = pass_on if number in _PASSED_ON else (lambda *_: None)
            before[number] = signal.signal(number, handler)
    try:
        yield hand_on_to
    finally:
        for restored, handler in before.items():
            signal.signal(restored, handler)
