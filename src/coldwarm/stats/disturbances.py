"""What others may do on a machine before a process is flagged for it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.observation import Telemetry

FOREIGN_CPU_FLAG = 0.15
STEAL_FLAG = 0.01
THROTTLED_FLAG = 0.01
"""Of the wall clock, held up by a quota."""
_FEWEST_S = 0.05
"""Processor time below which nothing can be said: kernels count in ticks of 10 ms."""


def must_be_flagged(
    measured: Telemetry, start_s: float | None, warm_s: float, whole_s: float
) -> set[str]:
    """Return what a reading has to be flagged for that lasted at least so long.

    ``start_s`` and ``warm_s``: at least so many seconds of the start, and of the warm blocks;
    ``whole_s``: no reading lasted longer than the whole process.
    """
    busy = {
        "foreign_cpu": (measured.foreign_cpu, start_s or 0.0),
        "foreign_cpu_warm": (measured.warm_foreign_cpu, warm_s),
    }
    found = {
        code
        for code, (used, lasted_s) in busy.items()
        if used is not None and used > FOREIGN_CPU_FLAG and used * lasted_s > _FEWEST_S
    }
    if measured.steal_share is not None and measured.steal_share > STEAL_FLAG:
        found.add("steal")
    held = {"throttled": measured.throttled_s, "throttled_warm": measured.warm_throttled_s}
    found |= {code for code, held_s in held.items() if (held_s or 0) > THROTTLED_FLAG * whole_s}
    return found | ({"thermal"} if measured.thermal_throttles else set())
