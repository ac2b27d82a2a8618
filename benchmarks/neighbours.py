"""Neighbours: a process pinned to each core that is busy in bursts, as on a shared machine.

Run as a program it is one such neighbour: ``python neighbours.py CORE SEED``. It computes and
moves memory for a while, sleeps for a while, both exponentially distributed and from a seed, and
ends with the process that started it.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_S = 0.3
"""Mean length of a burst."""
IDLE_S = 0.3
"""Mean length of the pause after it."""
COPIED_BYTES = 8 << 20
"""More than a core's own caches hold, so that a copy goes to shared ones or to memory."""
COUNTED = 20_000
"""Numbers summed between two copies: about as long as a copy takes."""


@contextmanager
def bursty(seed: int) -> Iterator[None]:
    """Keep one neighbour on each core that this process may run on, until the block ends."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for core in sorted(os.sched_getaffinity(0)):
            command = [sys.executable, __file__, str(core), f"{seed}-{core}"]
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        for one in started:
            assert one.stdout is not None
            # It says when it is in place: until then the machine would be quiet.
            one.stdout.readline()
        yield
    finally:
        for one in started:
            one.terminate()
        for one in started:
            one.communicate()


def keep_busy(core: int, seed: str) -> None:
    """Be busy and idle in turns on one core, for as long as the parent lives."""
    os.sched_setaffinity(0, {core})
    parent = os.getppid()
    chance = random.Random(seed)  # noqa: S311 - lengths of time, no secrets
    source, target = bytes(COPIED_BYTES), bytearray(COPIED_BYTES)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while os.getppid() == parent:
        until = time.monotonic() + chance.expovariate(1 / BUSY_S)
        while time.monotonic() < until:
            target[:] = source
            sum(range(COUNTED))
        time.sleep(chance.expovariate(1 / IDLE_S))


if __name__ == "__main__":
    keep_busy(int(sys.argv[1]), sys.argv[2])
