"""The runner's end of the guard."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from coldwarm.runner.process import guard

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "COLDWARM_RUN"


class Guard:
    """A side process that ends the workers if this process ends without doing so."""

    def __init__(self) -> None:
        """Start the side process in a session of its own, so that Ctrl-C misses it."""
        self.mark_value = uuid.uuid4().hex
        self.ends_s: float | None = None
        """When the time of the whole run is over, on the monotonic clock; ``None``: never."""
        self._groups: set[int] = set()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(guard.__file__)), self.mark],
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
        guard.kill_marked(self.mark.encode())

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
    """Let SIGTERM end a run as Ctrl-C does: with its results written."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not the main thread: signals are somebody else's
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
