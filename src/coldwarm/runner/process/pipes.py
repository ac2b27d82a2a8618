"""Pipes between the runner and a measured process."""

from __future__ import annotations

import fcntl
import os
import signal
from contextlib import suppress

_LAST_STREAM = 2


def pipe() -> tuple[int, int]:
    """Return a pipe of which no end has the number of a standard stream, which may be closed."""
    ends = os.pipe()
    if min(ends) > _LAST_STREAM:
        return ends
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _LAST_STREAM + 1) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]


def die_with_this(end: int, group: int) -> None:
    """Let the kernel kill a process group when this process ends, even without its guard.

    The group is sent a signal when the other end of a pipe is closed, into which nobody writes.
    ``PR_SET_PDEATHSIG`` would have to be asked for by the measured process itself, and reaches
    neither its children nor a process whose parent is a thread that has ended.
    """
    with suppress(OSError, AttributeError):  # not on every kernel; the guard is there
        fcntl.fcntl(end, fcntl.F_SETOWN, -group)
        fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
