"""The runner's end of the guard."""

from __future__ import annotations

import resource
import secrets
import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from coldwarm.runner.process import guard, temporary

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "COLDWARM_RUN"
ENDING: tuple[int, ...] = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command as Ctrl-C does."""
_LOCKS = 10
"""The limit of file locks, which Python has no name for."""
_MOST_LABELS = 2**20


def _free_limits() -> range:
    """Return limits that are this run's alone; only 0 where the limit cannot be chosen freely."""
    _, hard = resource.getrlimit(_LOCKS)
    highest = 2**62 if hard == resource.RLIM_INFINITY else hard
    if highest <= 2**40:
        return range(1)
    lowest = 2**30 + secrets.randbelow(highest - 2**31)
    return range(lowest, lowest + _MOST_LABELS)


class Guard:
    """A side process that ends the workers if this process ends without doing so."""

    def __init__(self) -> None:
        """Start the side process in a session of its own, so that Ctrl-C misses it."""
        temporary.sweep()
        self.mark_value = uuid.uuid4().hex
        self._limits = _free_limits()
        self._labelled = 0
        temporary.note(f"{self.mark} {self._limits[0]} {self._limits[-1]}")
        self.ends_s: float | None = None
        """When the time of the whole run is over, on the monotonic clock; ``None``: never."""
        self._groups: set[int] = set()
        self._lock = Lock()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-I", "-S", str(Path(guard.__file__)), self.mark),
                *(str(self._limits[0]), str(self._limits[-1])),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def mark(self) -> str:
        """The environment entry that every process of this run carries."""
        return f"{MARK}={self.mark_value}"

    def _tell(self, line: str) -> None:
        """Tell the side process; where it is gone, start another that knows everything."""
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(line.encode())
                pipe.flush()
        except BrokenPipeError:
            self._process.wait()
            self._start()
            for group in self._groups:
                self._tell(f"+{group}\n")

    def add(self, group: int) -> None:
        """Register a worker's process group."""
        self._groups.add(group)
        self._tell(f"+{group}\n")

    def remove(self, group: int) -> None:
        """Strike a worker that has ended."""
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    def sweep(self) -> None:
        """Kill whatever of this run is still alive, now."""
        guard.kill_marked(self.mark.encode(), self._limits[0], self._limits[-1])

    def label(self, process: int) -> int:
        """Give a process, and with it all that it starts, a mark of its own; return it, or 0.

        Of two threads that ask at once each gets another.
        """
        with self._lock:
            label = self._limits[self._labelled % len(self._limits)]
            self._labelled += 1
        if label:
            with suppress(OSError):
                resource.prlimit(process, _LOCKS, (label, label))
        return label

    @staticmethod
    def kill_labelled(label: int) -> None:
        """Kill whatever a process has started that is still alive."""
        if label:
            guard.kill_marked(b"", label, label)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the pipe, which makes the side process finish its work and end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a run as Ctrl-C does: with its results written, folders removed.

    One that whoever started this process has it ignore (``nohup``) is ignored on.
    """

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before: dict[int, Any] = {}
    try:
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, interrupt)
    except ValueError:  # not the main thread: signals are somebody else's
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def starting() -> Iterator[None]:
    """Let a signal that interrupts wait while a process is started, which would be nobody's else.

    It is not blocked, as the process would inherit that. Leaving this raises what was held back.
    """
    came: list[int] = []
    before: dict[int, Any] = {}
    try:
        with suppress(ValueError):  # not the main thread, which no signal interrupts
            for number in (signal.SIGINT, *ENDING):
                handler = signal.getsignal(number)
                if callable(handler):
                    before[number] = handler
                    signal.signal(number, lambda number, _frame: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):
                signal.signal(number, handler)
    if came:
        before[came[0]](came[0], None)
