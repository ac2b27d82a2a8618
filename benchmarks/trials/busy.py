"""Whether anything else was using the processors while a trial ran."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

LIMIT = 0.25
"""Processors that others may use, on the average over a trial; the machine's own services take
some hundredths."""
LOOK_S = 0.5
"""Before a trial, for how long."""
WAIT_S = 20.0
"""Until looking again, where it was busy."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Used:
    """Processor seconds since the machine started, and the time of looking."""

    at_s: float
    all_s: float
    own_s: float
    stolen_s: float

    @classmethod
    def now(cls) -> Used:
        """Look; of our own processes those count that have ended."""
        first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
        user, nice, system, _, _, irq, softirq, stolen = (int(n) / _TICKS for n in first[1:9])
        own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        own_s = sum(one.ru_utime + one.ru_stime for one in own)
        busy_s = user + nice + system + irq + softirq
        return cls(time.monotonic(), busy_s, own_s, stolen_s=stolen)

    def others(self, later: Used) -> float:
        """Return how many processors others have used until then, on the average."""
        used_s = (later.all_s - self.all_s) - (later.own_s - self.own_s)
        return max(used_s, 0.0) / (later.at_s - self.at_s)

    def stolen(self, later: Used) -> float:
        """Return how many processors the host has taken away, on the average."""
        return (later.stolen_s - self.stolen_s) / (later.at_s - self.at_s)


def wait_for_quiet(deadline_s: float) -> bool:
    """Wait until others leave the processors alone; ``False`` where that comes too late.

    ``deadline_s`` is of ``time.monotonic``.
    """
    while True:
        before = Used.now()
        time.sleep(LOOK_S)
        used = before.others(Used.now())
        if used <= LIMIT:
            return True
        if time.monotonic() + WAIT_S > deadline_s:
            return False
        print(f"waiting: other processes use {used:.2f} processors", flush=True)
        time.sleep(WAIT_S)
