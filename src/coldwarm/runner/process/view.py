"""A process's own view of some of the user's folders, in which certain files are missing.

The kernel lays a folder of ours over each of them, in a namespace that the process and its children
have alone: the program finds all but the hidden files, and what it writes goes into our folder. The
user's files stay as they are. It needs a Linux that lets this user have such a namespace, as most
do, and containers often do not.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.runner.process import temporary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_PLACES = ("/var/tmp", "/dev/shm")  # noqa: S108 - only folders of our own are used there
_NAMESPACE, _USER = 0x00020000, 0x10000000
_PRIVATE, _BIND = 0x4000 | 0x40000, 0x1000 | 0x4000
_PROBE_S = 10.0


@dataclass(frozen=True)
class View:
    """What is laid over which folders, for one process and those that find what it has left."""

    layers: tuple[tuple[str, str, str], ...]
    """Folders of the user's, each with one for what is written and one for the kernel's use."""
    hidden: tuple[str, ...]
    """Files that are removed from it; none where a process before has used it."""
    kept: tuple[str, ...]
    """Folders of ours that stay what they are, also where they lie in one of the user's."""
    user: bool
    """Whether this user needs a namespace of users besides."""

    def enter(self) -> None:
        """Make it the view of this process, which was forked and has done nothing else yet.

        Raises:
            OSError: the kernel refuses.
        """
        folder = os.getcwd()  # noqa: PTH109 - between fork and exec little should be loaded
        who = os.getuid(), os.getgid()
        _call("unshare", _NAMESPACE | (_USER if self.user else 0))
        if self.user:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{who[0]} {who[0]} 1")
            _write("/proc/self/gid_map", f"{who[1]} {who[1]} 1")
        _call("mount", None, b"/", None, _PRIVATE, None)
        kept = [(os.open(path, os.O_PATH), path) for path in self.kept]
        for lower, upper, work in self.layers:
            names = f"lowerdir={lower},upperdir={upper},workdir={work}"
            options = names + (",userxattr" if self.user else "")
            _call("mount", b"coldwarm", os.fsencode(lower), b"overlay", 0, os.fsencode(options))
        for number, path in kept:
            _call("mount", f"/proc/self/fd/{number}".encode(), os.fsencode(path), None, _BIND, None)
            os.close(number)
        os.chdir(folder)  # which was that below the new one
        for name in self.hidden:
            with suppress(FileNotFoundError):
                os.unlink(name)  # noqa: PTH108 - as above


def make(
    root: Path, hidden: Collection[str], kept: Collection[str], *, again: bool = False
) -> View | None:
    """Return the view of a process whose caches are under ``root``; ``None``: there can be none.

    ``again``: that of an earlier process, if it had one, with what it has left.
    """
    name = _name(root)
    if again:
        return _known.get(name)
    lowers = tuple(_lowers(hidden))
    place = _place(lowers) if lowers else None
    if place is None:
        return None
    layers = []
    for number, lower in enumerate(lowers):
        folder = temporary.folder(place[0]) / name / str(number)
        for part in ("upper", "work"):
            (folder / part).mkdir(parents=True)
        shutil.copymode(lower, folder / "upper")
        layers.append((lower, str(folder / "upper"), str(folder / "work")))
    inside = [one for one in kept if any(Path(one).is_relative_to(lower) for lower in lowers)]
    made = View(tuple(layers), tuple(sorted(hidden)), tuple(inside), place[1])
    _known[name] = View(made.layers, (), made.kept, made.user)
    return made


_known: dict[str, View] = {}
"""By the name of its folder, what another process of the same caches is to see."""


def possible(hidden: Collection[str]) -> bool:
    """Say whether a process can have a view in which these files are missing."""
    lowers = tuple(_lowers(hidden))
    return bool(lowers) and _place(lowers) is not None


def written(root: Path, name: str) -> Path | None:
    """Return where a process has written a file of its view; ``None``: it had none of it."""
    found = _known.get(_name(root))
    for lower, upper, _ in found.layers if found else ():
        if Path(name).is_relative_to(lower):
            return Path(upper, Path(name).relative_to(lower))
    return None


def discard(root: Path) -> None:
    """Remove the caches of processes, and what these have written into their views.

    What resists is left for the end of the run.
    """
    shutil.rmtree(root, ignore_errors=True)
    temporary.unlink(root)
    found = _known.pop(_name(root), None)
    for _, upper, work in found.layers if found else ():
        with suppress(OSError):
            Path(work, "work").chmod(0o700)
        shutil.rmtree(Path(upper).parent, ignore_errors=True)


def _name(root: Path) -> str:
    return f"view-{hashlib.sha256(os.fsencode(root)).hexdigest()[:12]}"


def _lowers(hidden: Collection[str]) -> Iterator[str]:
    """Yield the folders that hold the files, none inside another."""
    folders = sorted({os.path.dirname(name) for name in hidden} - {"/"})  # noqa: PTH120 - texts
    last = None
    for folder in folders:
        if last is None or not Path(folder).is_relative_to(last):
            yield (last := folder)


@cache
def _place(lowers: tuple[str, ...]) -> tuple[str, bool] | None:
    """Return where files can be laid over these folders, and whether that needs another user."""
    if any(sign in lower for lower in lowers for sign in ",:\\"):
        return None  # which the kernel's options cannot say
    for place in dict.fromkeys((tempfile.gettempdir(), *_PLACES)):
        if any(Path(place).is_relative_to(lower) for lower in lowers):
            continue
        for user in (False, True):
            with suppress(OSError, subprocess.SubprocessError):
                _try(lowers, place, user=user)
                return place, user
    return None


def _try(lowers: tuple[str, ...], place: str, *, user: bool) -> None:
    """Start a process with such a view that writes nothing.

    Raises:
        OSError: nothing can be written in that place.
        subprocess.SubprocessError: the kernel refuses.
    """
    with tempfile.TemporaryDirectory(dir=temporary.folder(place)) as folder:
        layers = []
        for number, lower in enumerate(lowers):
            upper, work = (Path(folder, f"{number}-{part}") for part in ("upper", "work"))
            upper.mkdir()
            work.mkdir()
            layers.append((lower, str(upper), str(work)))
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", ""],
            check=True,
            timeout=_PROBE_S,
            preexec_fn=View(tuple(layers), (), (), user).enter,
        )
        for layer in layers:
            with suppress(OSError):
                Path(layer[2], "work").chmod(0o700)


def _write(path: str, text: str) -> None:
    number = os.open(path, os.O_WRONLY)
    os.write(number, text.encode())
    os.close(number)


_LIBRARY = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *given: object) -> None:
    """Call a function of the C library.

    Raises:
        OSError: it failed.
    """
    if getattr(_LIBRARY, name)(*given):
        number = ctypes.get_errno() or errno.EINVAL
        raise OSError(number, os.strerror(number))
