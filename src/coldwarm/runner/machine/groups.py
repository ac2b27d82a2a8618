"""The control groups of this process, as the kernel names them: its own, and all above it.

``/proc/self/cgroup`` says which group it is in, ``/proc/self/mountinfo`` where that hierarchy lies.
Inside a container the mount may begin at the container's own group, and what is above it cannot be
seen. Files are read below a root that tests replace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROCESSOR, _MEMORY = "cpu", "memory"
_UNIFIED = ""
"""What version 2 is called where version 1 names its controllers."""
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


def of_this_process(root: Path = Path("/")) -> _Groups | None:
    """Return the groups of this process; ``None``: this system has none, or shows none."""
    paths: dict[str, str] = {}
    for line in (_read(root / "proc/self/cgroup") or "").splitlines():
        _, _, named = line.partition(":")
        controllers, _, path = named.partition(":")
        paths.update(dict.fromkeys(controllers.split(","), path))
    if _PROCESSOR in paths or _MEMORY in paths:
        return _Groups(1, _folders(root, _PROCESSOR, paths), _folders(root, _MEMORY, paths))
    if _UNIFIED in paths:
        folders = _folders(root, _UNIFIED, paths)
        return _Groups(2, folders, folders)
    return None


def throttled_s(root: Path = Path("/")) -> float | None:
    """Return for how long CPU quotas have held this process's groups up so far, in seconds.

    The kernel adds it up over processors, and each group counts what its own quota did; here
    all groups of this process are added up. ``None``: its own group cannot be read.
    """
    groups = of_this_process(root)
    if groups is None or not groups.processor or not groups.processor[0].is_dir():
        return None
    return sum(map(_throttled, groups.processor))


def _throttled(folder: Path) -> float:
    for line in (_read(folder / "cpu.stat") or "").splitlines():
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
    for line in (_read(root / "proc/self/mountinfo") or "").splitlines():
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


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
