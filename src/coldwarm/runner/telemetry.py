"""State of the machine while a process ran, read before and after it.

``/proc/self/cgroup`` says which control group this process is in, ``/proc/self/mountinfo`` where
that hierarchy lies. Inside a container the mount may begin at the container's own group, and what
is above it cannot be seen. Files are read below a root that tests replace.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict, replace

from coldwarm.contracts.observation import Telemetry
from coldwarm.contracts.reasons import because, missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.observation import ProcessTotals
    from coldwarm.contracts.reasons import Reason


_PROCESSOR, _MEMORY = "cpu", "memory"
_UNIFIED = ""
"""Name of version 2 where version 1 names its controllers."""
_THROTTLED = {"throttled_usec": 1e6, "throttled_time": 1e9}
"""By version 2 and 1, how many of it are a second."""


@dataclass(frozen=True)
class _Groups:
    """Folders of the groups that bind this process, its own first."""

    version: int
    processor: list[Path]
    memory: list[Path]


@dataclass(frozen=True)
class _Mount:
    """Where a hierarchy lies, and which of its groups is at the top there."""

    folder: Path
    top: str


def control_groups(root: Path = Path("/")) -> _Groups | None:
    """Return the groups of this process; ``None``: this system has none, or shows none."""
    paths: dict[str, str] = {}
    for line in (_read_text(root / "proc/self/cgroup") or "").splitlines():
        _, _, named = line.partition(":")
        controllers, _, path = named.partition(":")
        paths.update(dict.fromkeys(controllers.split(","), path))
    if _PROCESSOR in paths or _MEMORY in paths:
        return _Groups(1, _folders(root, _PROCESSOR, paths), _folders(root, _MEMORY, paths))
    if _UNIFIED in paths:
        folders = _folders(root, _UNIFIED, paths)
        return _Groups(2, folders, folders)
    return None


def _throttled_s(root: Path = Path("/")) -> float | None:
    """Return for how long CPU quotas have held this process's groups up so far, in seconds.

    The kernel adds it up over processors, and each group counts what its own quota did; here
    all groups of this process are added up. ``None``: its own group cannot be read.
    """
    groups = control_groups(root)
    if groups is None or not groups.processor or not groups.processor[0].is_dir():
        return None
    return sum(map(_throttled, groups.processor))


def _throttled(folder: Path) -> float:
    for line in (_read_text(folder / "cpu.stat") or "").splitlines():
        key, _, value = line.partition(" ")
        if key in _THROTTLED and value.isdecimal():
            return int(value) / _THROTTLED[key]
    return 0.0  # a group at the root of all has no quota


def _folders(root: Path, controller: str, paths: dict[str, str]) -> list[Path]:
    """Return the folder of a group and those above it; none where it is out of sight."""
    path = paths.get(controller)
    mount = _mounts(root).get(controller)
    if path is None or mount is None:
        return []
    top = mount.top.rstrip("/")
    if ".." in path.split("/") or not f"{path.rstrip('/')}/".startswith(f"{top}/"):
        return []
    below = path[len(top) :].strip("/")
    steps = below.split("/") if below else []
    return [mount.folder.joinpath(*steps[:depth]) for depth in range(len(steps), -1, -1)]


@cache
def _mounts(root: Path) -> dict[str, _Mount]:
    """Return the hierarchies by controller, that of version 2 under an empty name."""
    found: dict[str, _Mount] = {}
    for line in (_read_text(root / "proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) < 5 or len(kind) < 3 or kind[0] not in {"cgroup", "cgroup2"}:  # noqa: PLR2004 - see proc_pid_mountinfo(5)
            continue
        mount = _Mount(root / _unescaped(fields[4]).lstrip("/"), _unescaped(fields[3]))
        names = [_UNIFIED] if kind[0] == "cgroup2" else kind[2].split(",")
        for name in names:
            found.setdefault(name, mount)
    usual = root / "sys/fs/cgroup"
    if not found:  # mounts are not shown: where they lie as a rule
        found = {name: _Mount(usual / name, "/") for name in (_PROCESSOR, _MEMORY)}
        found[_UNIFIED] = _Mount(usual, "/")
    return found


def _unescaped(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)


def _read_text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


_FOREIGN_CPU_FLAG = 0.15
_STEAL_FLAG = 0.01
_THROTTLED_FLAG = 0.01
"""Share of the wall clock, held up by a quota."""
_FEWEST_S = 0.05
"""Processor time below which nothing can be said: kernels count in ticks of 10 ms."""
_SWITCHES_PER_S_FLAG = 200.0
_FEWEST_TICKS = 5
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
        throttled_s=_throttled_s(),
        thermal=_thermal(),
        runner_s=time.process_time(),
    )


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _processors() -> tuple[float | None, float | None, float | None]:
    text = _read_text(Path("/proc/stat"))
    if text is None:
        return None, None, None
    ticks = [int(word) for word in text.split("\n", 1)[0].split()[1:9]]
    idle = ticks[3] + ticks[4]
    steal = ticks[_STEAL_COLUMN]
    tick_s = _tick_s()
    return (sum(ticks) - idle - steal) * tick_s, sum(ticks) * tick_s, steal * tick_s


@cache
def _tick_s() -> float:
    """Return the length of a tick: 10 ms too where results are only read, on other systems."""
    try:
        return 1 / os.sysconf("SC_CLK_TCK")
    except AttributeError:
        return 0.01


def _pressure() -> float | None:
    text = _read_text(Path("/proc/pressure/cpu"))
    if text is None:
        return None
    return int(text.split("\n", 1)[0].rsplit("total=", 1)[1]) / 1e6


def _thermal() -> int | None:
    counts = [
        int(text)
        for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/core*count")
        if (text := _read_text(path)) is not None
    ]
    return sum(counts) if counts else None


def between(
    before: Reading, after: Reading, own_cpu_s: float | None, totals: ProcessTotals
) -> Telemetry:
    """Return what happened between two readings, with the flags it deserves.

    ``own_cpu_s`` is the processor time of the process and its children meanwhile;
    ``totals`` what the process counted of itself when it ended.
    """
    wall_s = max(after.now_s - before.now_s, 1e-9)
    pressure_s = _difference(before.pressure_s, after.pressure_s)
    steal_s = _difference(before.steal_s, after.steal_s)
    total_s = _difference(before.total_s, after.total_s)
    thermal = _difference(before.thermal, after.thermal)
    values: dict[str, Any] = {
        **asdict(totals),
        "load_1m_before": before.load_1m,
        "load_1m_after": after.load_1m,
        "foreign_cpu": _foreign(before, after, own_cpu_s, wall_s),
        "cpu_pressure_share": None if pressure_s is None else min(1.0, pressure_s / wall_s),
        "steal_share": None if steal_s is None or not total_s else steal_s / total_s,
        "throttled_s": _difference(before.throttled_s, after.throttled_s),
        "thermal_throttles": None if thermal is None else int(thermal),
    }
    reasons = missing(values, because("not_told", by="this system"))
    if values["throttled_s"] is None:
        reasons["throttled_s"] = because("group_unseen")
    reasons.update(
        dict.fromkeys(("warm_foreign_cpu", "warm_throttled_s"), because("no_warm_block"))
    )
    measured = Telemetry(**values, null_reasons=reasons)
    return replace(measured, flags=_flags(measured, wall_s))


def _flags(measured: Telemetry, wall_s: float) -> list[Reason]:
    flags = []
    foreign = measured.foreign_cpu
    if (
        foreign is not None
        and foreign > _FOREIGN_CPU_FLAG
        and foreign * wall_s > _FEWEST_TICKS * _tick_s()
    ):
        flags.append(because("foreign_cpu", foreign_processors=foreign))
    if measured.steal_share is not None and measured.steal_share > _STEAL_FLAG:
        flags.append(because("steal", steal_share=measured.steal_share))
    if measured.throttled_s is not None and measured.throttled_s > _THROTTLED_FLAG * wall_s:
        flags.append(because("throttled", throttled_s=measured.throttled_s))
    if measured.thermal_throttles:
        flags.append(because("thermal", n_throttles=measured.thermal_throttles))
    switches_per_s = (measured.involuntary_switches or 0) / wall_s
    if switches_per_s > _SWITCHES_PER_S_FLAG:
        flags.append(because("switches", switches_per_s=switches_per_s))
    return flags


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0.0, after - before)


def _foreign(
    before: Reading, after: Reading, own_cpu_s: float | None, wall_s: float
) -> float | None:
    busy_s = _difference(before.busy_s, after.busy_s)
    if busy_s is None or own_cpu_s is None:
        return None
    runner_s = after.runner_s - before.runner_s
    return max(0.0, busy_s - own_cpu_s - runner_s) / wall_s


@dataclass(frozen=True)
class _Meanwhile:
    """Events during warm blocks; ``None`` where this system does not tell it."""

    foreign_cpu: float | None
    """Processors that others used."""
    throttled_s: float | None
    flags: list[Reason]


def during_blocks(readings: Sequence[BlockReading]) -> _Meanwhile:
    """Return what others and quotas did during warm blocks, and the flags for it."""
    wall_s = sum(_wall_s(reading) for reading in readings)
    used, flags = _foreign_in(readings, wall_s)
    held_s = [_difference(one.before.throttled_s, one.after.throttled_s) for one in readings]
    known_s = [seconds for seconds in held_s if seconds is not None]
    throttled_s = sum(known_s) if readings and len(known_s) == len(held_s) else None
    if throttled_s is not None and throttled_s > _THROTTLED_FLAG * wall_s:
        flags = [*flags, because("throttled_warm", throttled_s=throttled_s)]
    return _Meanwhile(used, throttled_s, flags)


def _wall_s(reading: BlockReading) -> float:
    return max(reading.after.now_s - reading.before.now_s, 1e-9)


def _foreign_in(
    readings: Sequence[BlockReading], wall_s: float
) -> tuple[float | None, list[Reason]]:
    foreign_s = 0.0
    for reading in readings:
        block_s = _wall_s(reading)
        foreign = _foreign(reading.before, reading.after, reading.own_cpu_s, block_s)
        if foreign is None:
            return None, []
        foreign_s += foreign * block_s
    if not wall_s:
        return None, []
    used = foreign_s / wall_s
    if used <= _FOREIGN_CPU_FLAG or foreign_s <= _FEWEST_TICKS * _tick_s():
        return used, []
    return used, [because("foreign_cpu_warm", foreign_processors=used)]


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
        if used is not None and used > _FOREIGN_CPU_FLAG and used * lasted_s > _FEWEST_S
    }
    if measured.steal_share is not None and measured.steal_share > _STEAL_FLAG:
        found.add("steal")
    held = {"throttled": measured.throttled_s, "throttled_warm": measured.warm_throttled_s}
    found |= {code for code, held_s in held.items() if (held_s or 0) > _THROTTLED_FLAG * whole_s}
    return found | ({"thermal"} if measured.thermal_throttles else set())
