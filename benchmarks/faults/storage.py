"""Disks without room, limits of the system, and standard streams that are not there."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.faults.scene import READERS, Fault, NotTriedError

import coldwarm

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from benchmarks.faults.scene import Scene

PLAN = ("--backend", "numpy", "--deterministic", "--rounds", "2", "--max-rounds", "2")
DISK_BYTES = 8 * 2**20
LEFT_KIB = (0, 4, 8, 12, 16, 24, 32, 48, 64, 128)
INODES = (0, 1, 2, 3, 5, 8, 13, 21, 34)
FILE_KIB = (0, 1, 2, 4, 8, 16, 32, 64, 128)
OPEN_FILES = (8, 10, 12, 16, 24, 32, 64)
MEMORY_MIB = (32, 64, 128, 200, 300)
STREAMS = ("<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full")
ENDED = {0, 2, 3, 4, 70}


def faults(random_: random.Random) -> Iterator[Fault]:
    """Yield the faults of storage and of the system's limits."""
    for kib in LEFT_KIB:
        left = kib * 1024 + random_.randrange(1024)
        yield Fault("disk", f"{left} bytes free", partial(_disk, f"size={DISK_BYTES}", left))
    for count in INODES:
        yield Fault("disk", f"{count} more files possible", partial(_inodes, count))
    for kib in FILE_KIB:
        yield Fault("limit", f"files up to {kib} KiB", partial(_limit, f"ulimit -f {kib}"))
    for count in OPEN_FILES:
        yield Fault("limit", f"{count} open files", partial(_limit, f"ulimit -n {count}"))
    for mib in MEMORY_MIB:
        limit = f"ulimit -v {mib * 1024}"
        yield Fault("limit", f"{mib} MiB of addresses", partial(_limit, limit))
    for streams in STREAMS:
        yield Fault("streams", f"run {streams}", partial(_run_with, streams))
        for name in READERS:
            if name != "resume":
                yield Fault("streams", f"{name} {streams}", partial(_read_with, name, streams))
    for folder in ("/dev/null", "/dev/full", "/proc/1", "/proc/self/fd/0", "/proc/nowhere/a", "/"):
        yield Fault("folder", f"run into {folder}", partial(_into, folder))


def _shell(words: str) -> tuple[str, ...]:
    return ("bash", "-c", words, "bash")


def _own_source(scene: Scene) -> None:
    """Let the command run from a copy of the package, where half-written bytecode may end."""
    source = scene.lab.path / "source"
    shutil.copytree(Path(coldwarm.__file__).parent, source / "coldwarm")
    scene.lab.sites.insert(0, source)


def _limit(limit: str, scene: Scene) -> None:
    _own_source(scene)
    arguments = scene.lab.arguments(*PLAN)
    codes = {*ENDED, 1, 126, 127, 134} if "-v" in limit or "-n" in limit else ENDED
    scene.command("run", *arguments, codes=codes, prefix=_shell(f'{limit}; exec "$@"'))
    _afterwards(scene)


def _afterwards(scene: Scene) -> None:
    """Look whether what was measured is there, and whether all works without the fault."""
    scene.look_for_processes()
    before = scene.intact()
    begun = bool(before)
    again = [*scene.lab.arguments(*PLAN), "--resume"] if begun else _elsewhere(scene)
    if scene.command("run", *again, codes={0}) == 0 and begun:
        scene.count_lost(before)
        scene.command("validate", scene.lab.out, codes={0})


def _elsewhere(scene: Scene) -> list[str | Path]:
    return scene.lab.arguments(*PLAN, "--out", scene.lab.path / "another")


def _run_with(streams: str, scene: Scene) -> None:
    prefix = _shell(f'exec "$@" {streams}')
    # What cannot be written may be told by the status, but the run is measured.
    scene.command("run", *scene.lab.arguments(*PLAN), codes={0, 3, 70, 141}, prefix=prefix)
    scene.look_for_processes()
    if len(scene.intact()) < 2:
        scene.found.observations_lost += 1
    scene.command("validate", scene.lab.out, codes={0})


def _read_with(name: str, streams: str, scene: Scene) -> None:
    out = scene.copy()
    codes = {0, 3, 70, 141}
    scene.command(*READERS[name](out), codes=codes, prefix=_shell(f'exec "$@" {streams}'))


def _into(folder: str, scene: Scene) -> None:
    arguments = scene.lab.arguments(*PLAN, "--out", folder)
    scene.command("run", *arguments, codes={2, 3})


def _disk(options: str, left: int, scene: Scene) -> None:
    with _mounted(scene, options) as disk:
        _own_source(scene)
        ballast = disk / "ballast"
        used = shutil.disk_usage(disk)
        with suppress(OSError), ballast.open("wb") as file:
            file.truncate(0)
            file.write(bytes(max(0, used.free - left)))
        scene.command("run", *scene.lab.arguments(*PLAN), codes=ENDED)
        ballast.unlink()
        _afterwards(scene)


def _inodes(count: int, scene: Scene) -> None:
    with _mounted(scene, f"size={DISK_BYTES},nr_inodes=600") as disk:
        _own_source(scene)
        names = [disk / str(number) for number in range(600)]
        with suppress(OSError):
            for name in names:
                name.touch()
        made = [name for name in names if name.exists()]
        for name in made[:count]:
            name.unlink()
        scene.command("run", *scene.lab.arguments(*PLAN), codes=ENDED)
        for name in made[count:]:
            name.unlink()
        _afterwards(scene)


@contextmanager
def _mounted(scene: Scene, options: str) -> Iterator[Path]:
    """Make the scene's folder a small disk, where this user may.

    Raises:
        NotTriedError: no disk can be mounted here.
    """
    path = scene.lab.path / "disk"
    path.mkdir()
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)],  # noqa: S607 - the system's
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise NotTriedError("there is no mount") from None
    if done.returncode:
        raise NotTriedError("no small disk can be mounted")
    before, scene.lab.path = scene.lab.path, path
    try:
        yield path
    finally:
        scene.lab.path = before
        subprocess.run(["umount", "-l", str(path)], check=True)  # noqa: S607 - the system's
