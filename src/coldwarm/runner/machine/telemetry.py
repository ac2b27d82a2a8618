"""What the machine did while a process ran, read before and after it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts.observation import Telemetry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOREIGN_CPU_FLAG = 0.15
STEAL_FLAG = 0.01
SWITCHES_PER_S_FLAG = 200.0
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
FEWEST_TICKS_S = 5 * _TICK_S
"""The kernel counts in ticks: below a few of them nothing can be said."""
_STEAL_COLUMN = 7


@dataclass(frozen=True)
class Reading:
    """The kernel's counters at one moment; ``None`` where this system has none."""

    now_s: float
    load_1m: float | None
    busy_s: float | None
    total_s: float | None
    steal_s: float | None
    pressure_s: float | None
    throttled_s: float | None
    thermal: int | None
    runner_s: float = 0.0
    """Processor time of the runner itself, which is nobody else's."""


@dataclass(frozen=True)
class BlockReading:
    """The counters around one block, and the processor time of its process meanwhile."""

    before: Reading
    after: Reading
    own_cpu_s: float | None


def read(now_s: float) -> Reading:
    """Read the counters; a few small files, well under a millisecond."""
    busy_s, total_s, steal_s = _processors()
    return Reading(
        now_s=now_s,
        load_1m=_load(),
        busy_s=busy_s,
        total_s=total_s,
        steal_s=steal_s,
        pressure_s=_pressure(),
        throttled_s=_throttled(),
        thermal=_thermal(),
        runner_s=time.process_time(),
    )


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return None


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _processors() -> tuple[float | None, float | None, float | None]:
    text = _text("/proc/stat")
    if text is None:
        return None, None, None
    ticks = [int(word) for word in text.split("\n", 1)[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    steal = ticks[_STEAL_COLUMN]
    return (sum(ticks) - idle - steal) * _TICK_S, sum(ticks) * _TICK_S, steal * _TICK_S


def _pressure() -> float | None:
    text = _text("/proc/pressure/cpu")
    if text is None:
        return None
    return int(text.split("\n", 1)[0].rsplit("total=", 1)[1]) / 1e6


def _throttled() -> float | None:
    for path, key, scale in (
        ("/sys/fs/cgroup/cpu.stat", "throttled_usec", 1e6),
        ("/sys/fs/cgroup/cpu/cpu.stat", "throttled_time", 1e9),
    ):
        for line in (_text(path) or "").splitlines():
            if line.startswith(key + " "):
                return int(line.split()[1]) / scale
    return None


def _thermal() -> int | None:
    counts = [
        int(text)
        for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/core*count")
        if (text := _text(str(path))) is not None
    ]
    return sum(counts) if counts else None


def between(
    before: Reading, after: Reading, own_cpu_s: float | None, said: Mapping[str, float | None]
) -> Telemetry:
    """Return what happened between two readings, with the flags it deserves.

    ``own_cpu_s`` is the processor time of the process and its children meanwhile;
    ``said`` what the process said of itself when it ended.
    """
    wall_s = max(after.now_s - before.now_s, 1e-9)
    foreign = _foreign(before, after, own_cpu_s, wall_s)
    steal_share = _share(before.steal_s, after.steal_s, before.total_s, after.total_s)
    throttled_s = _difference(before.throttled_s, after.throttled_s)
    thermal = _difference(before.thermal, after.thermal)
    pressure_s = _difference(before.pressure_s, after.pressure_s)
    switches = said.get("involuntary_switches")
    flags = []
    if foreign is not None and foreign > FOREIGN_CPU_FLAG and foreign * wall_s > FEWEST_TICKS_S:
        flags.append(f"other processes used {foreign:.2g} processors")
    if steal_share is not None and steal_share > STEAL_FLAG:
        flags.append(f"the host took {steal_share:.1%} of the processor time")
    if throttled_s:
        flags.append(f"the CPU quota throttled it for {throttled_s:.3g} s")
    if thermal:
        flags.append(f"{int(thermal)} thermal throttles")
    if switches is not None and switches / wall_s > SWITCHES_PER_S_FLAG:
        flags.append(f"{switches / wall_s:.0f} involuntary switches a second")
    values = {
        "load_1m_before": before.load_1m,
        "load_1m_after": after.load_1m,
        "foreign_cpu": foreign,
        "cpu_pressure_share": None if pressure_s is None else min(1.0, pressure_s / wall_s),
        "steal_share": steal_share,
        "throttled_s": throttled_s,
        "thermal_throttles": None if thermal is None else int(thermal),
        "involuntary_switches": None if switches is None else int(switches),
        "cpu_user_s": said.get("cpu_user_s"),
        "cpu_system_s": said.get("cpu_system_s"),
        "child_cpu_s": said.get("child_cpu_s"),
    }
    missing = {name: "this system keeps no such count" for name, v in values.items() if v is None}
    missing["warm_foreign_cpu"] = "no warm block was measured"
    return Telemetry(**values, flags=flags, null_reasons=missing)  # type: ignore[arg-type]  # a dict of the fields above


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0.0, after - before)


def _share(
    part_before: float | None,
    part_after: float | None,
    whole_before: float | None,
    whole_after: float | None,
) -> float | None:
    part = _difference(part_before, part_after)
    whole = _difference(whole_before, whole_after)
    return None if part is None or not whole else part / whole


def _foreign(
    before: Reading, after: Reading, own_cpu_s: float | None, wall_s: float
) -> float | None:
    busy_s = _difference(before.busy_s, after.busy_s)
    if busy_s is None or own_cpu_s is None:
        return None
    runner_s = after.runner_s - before.runner_s
    return max(0.0, busy_s - own_cpu_s - runner_s) / wall_s


def during_blocks(readings: Sequence[BlockReading]) -> tuple[float | None, list[str]]:
    """Return the processors that others used during warm blocks, and the flag for it."""
    wall_s = foreign_s = 0.0
    for one in readings:
        block_s = max(one.after.now_s - one.before.now_s, 1e-9)
        foreign = _foreign(one.before, one.after, one.own_cpu_s, block_s)
        if foreign is None:
            return None, []
        wall_s, foreign_s = wall_s + block_s, foreign_s + foreign * block_s
    if not wall_s:
        return None, []
    used = foreign_s / wall_s
    if used <= FOREIGN_CPU_FLAG or foreign_s <= FEWEST_TICKS_S:
        return used, []
    return used, [f"other processes used {used:.2g} processors during warm calls"]
