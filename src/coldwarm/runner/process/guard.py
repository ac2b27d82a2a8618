"""The guard: outlives the runner just long enough to end its workers. Run by path.

Reads ``+PID`` and ``-PID`` lines from standard input. When the pipe closes, because the
runner ended in whatever way, it kills the process groups still registered, and every
process that carries the run's mark in its environment (a compiler's worker may have left
the group). It sleeps in a read meanwhile.
"""

import os
import signal
import sys


def kill_group(group: int) -> None:
    """Kill a process group; one that is gone is fine."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def kill_marked(mark: bytes) -> None:
    """Kill every process whose environment holds ``mark``."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - bare modules only
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123 - likewise
                marked = mark in file.read().split(b"\0")
            if marked:
                os.kill(int(name), signal.SIGKILL)
        except OSError:
            continue


def watch(mark: bytes) -> None:
    """Keep the list until the pipe closes, then kill."""
    groups = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        kill_group(group)
    kill_marked(mark)


if __name__ == "__main__":
    watch(sys.argv[1].encode())
