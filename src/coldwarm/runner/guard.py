"""The guard: outlives the runner just long enough to end its workers. Run by path.

Reads ``+PID`` and ``-PID`` lines from standard input. When the pipe closes, because the
runner ended in whatever way, it kills the process groups still registered, and every
process that carries one of the run's two marks (a compiler's worker may have left the group).
It sleeps in a read meanwhile.

One mark stands in the environment. The other is a limit that Linux has, hands down to children
and does not apply since version 2.4.25, that of file locks: a process that has cleared its
environment and begun a session of its own still has it.
"""

import os
import signal
import sys

MARK = "COLDWARM_RUN"
"""The variable that holds the mark of a run."""


def _kill_group(group: int) -> None:
    """Kill a process group; one that is gone is fine."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def kill_marked(mark: bytes, lowest: int, highest: int) -> None:
    """Kill every process with ``mark`` in its environment, or a limit in this range.

    ``lowest`` is 0 where there is no such limit, ``mark`` empty where there is no such entry.
    """
    for name in os.listdir("/proc"):  # noqa: PTH208 - bare modules only
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            if 0 < lowest <= _limit(name) <= highest or (mark and mark in _entries(name)):
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            continue


def _entries(name: str) -> "list[bytes]":
    try:
        with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123 - bare modules only
            return file.read().split(b"\0")
    except OSError:  # somebody else's
        return []


def _limit(name: str) -> int:
    """Return a process's limit of file locks; -1: it has none."""
    with open(f"/proc/{name}/limits", "rb") as file:  # noqa: PTH123 - bare modules only
        for line in file:
            if line.startswith(b"Max file locks"):
                soft = line.split()[3]
                return int(soft) if soft.isdigit() else -1
    return -1


def _watch(mark: bytes, lowest: int, highest: int) -> None:
    """Keep the list until the pipe closes, then kill."""
    groups = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        _kill_group(group)
    kill_marked(mark, lowest, highest)


if __name__ == "__main__":
    _watch(sys.argv[1].encode(), int(sys.argv[2]), int(sys.argv[3]))
