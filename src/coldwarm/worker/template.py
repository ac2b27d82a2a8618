"""Processes forked from a template: one that has imported a program and called nothing yet.

To import a framework takes a second or more, and a fork has it at once. What processes of a program
differ by, beside the libraries' place in memory, is made after the fork: devices, inputs,
executables. ``python -m benchmarks.nested`` measures how much of their scatter forks keep.
"""

import os
import sys
import time

from coldwarm import wire
from coldwarm.wire import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

_THREADS = "/proc/self/task"
_TRIES, _PAUSE_S = 20, 0.001
"""How often the threads are counted: one that has ended is listed for a moment."""


class Template:
    """A process that forks another one each time that it is asked, and waits for it."""

    def __init__(self, process: int, asks: int, answers: int) -> None:
        """Keep its number, and the pipes to it and from it."""
        self._process, self._asks, self._answers = process, asks, answers

    def fork(self, message: "dict[str, Any]", most_s: int) -> "dict[str, Any]":
        """Return what a new fork answers to a message, nothing where it ended or took longer.

        Raises:
            PipeClosedError: the template is gone.
        """
        wire.write_all(self._asks, wire.encode({"most_s": most_s, "message": message}))
        return wire.decode(wire.read_line(self._answers))

    def end(self) -> None:
        """Let it end, and wait for that."""
        os.close(self._asks)
        os.close(self._answers)
        os.waitpid(self._process, 0)


def made(
    answer: "Callable[[dict[str, Any]], dict[str, Any]]", pipes: "Iterable[int]"
) -> "Template | None":
    """Fork a template whose forks answer messages; ``None``: not here, or threads would be lost.

    ``pipes`` are this process's own, which nobody else may hold open. Libraries that know of forks
    end their threads before one; a thread that is still there would be missing in the fork.
    """
    if not os.path.isdir(_THREADS):
        return None
    sys.stdout.flush()
    (for_asks, asks), (answers, for_answers) = os.pipe(), os.pipe()
    process = _forked()
    if process == 0:
        for pipe in (asks, answers, *pipes):
            os.close(pipe)
        _serve(answer, for_asks, for_answers)
    os.close(for_asks)
    os.close(for_answers)
    template = Template(process, asks, answers)
    if _is_alone():
        return template
    template.end()
    return None


def _forked() -> int:
    """Fork; frameworks warn of threads, of which there are none."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()


def _is_alone() -> bool:
    """Say whether this process has one thread."""
    for _ in range(_TRIES):
        if len(os.listdir(_THREADS)) == 1:
            return True
        time.sleep(_PAUSE_S)
    return False


def _serve(
    answer: "Callable[[dict[str, Any]], dict[str, Any]]", asks: int, answers: int
) -> "NoReturn":
    """Be the template, until nobody asks any more."""
    import signal

    try:
        while True:
            asked = wire.decode(wire.read_line(asks))
            process = _forked()
            if process == 0:
                signal.alarm(asked["most_s"])
                wire.write_all(answers, wire.encode(answer(asked["message"])))
                os._exit(0)
            _, status = os.waitpid(process, 0)
            if status:
                wire.write_all(answers, wire.encode({}))
    finally:  # of a fork, too, in which something was raised
        os._exit(1)
