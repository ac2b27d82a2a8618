"""Folders of this process for temporary files, and in them plain, short names for other folders.

``torch.compile`` puts the names of its folders into the command of the C++ compiler, where a blank
or a quote takes them apart. The name of a Unix socket holds no more than 107 bytes, and libraries
put theirs under the folder for temporary files: processes of ``multiprocessing`` talk through
``pymp-…/listener-…`` there.

A folder holds a file that is locked as long as this process lives. What a process has left that
could not clean up after itself is found by that, and removed by the next one.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.runner import guard

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST = 70
"""Characters of a folder's name that leave room for a socket in it."""
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""Text that no command line takes apart, unquoted."""
_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - only folders of our own are used there
_PREFIX = "coldwarm-"
_OWNER = ".coldwarm-owner"
_OLD_S = 3600.0
_MOST_BYTES = 2**16
_owned: dict[tuple[int, str], tuple[Path, int]] = {}
"""By process (a fork has what its parent has) and place: its folder, and the file that it has
locked."""


def folder(place: str | None = None) -> Path:
    """Return the folder of this process in a place; it is removed when the process ends.

    ``place``: by default the folder for temporary files.

    Raises:
        OSError: it cannot be made.
    """
    key = os.getpid(), tempfile.gettempdir() if place is None else place
    if key not in _owned:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=key[1]))
        part = path / f"{_OWNER}.part"
        number = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        _lock(number)
        part.rename(path / _OWNER)  # where it is locked before anyone else can see it
        _owned[key] = path, number
    return _owned[key][0]


def _lock(number: int) -> None:
    """Lock a file; on Windows, where nothing is measured, its folder needs no owner."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none, and snapshots are read there, too
    except ImportError:
        return
    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def made() -> Iterator[Path]:
    """Give a folder for a while: removed at the end, or by the next one where this one is killed.

    Raises:
        OSError: it cannot be made.
    """
    with tempfile.TemporaryDirectory(dir=folder()) as name:
        yield Path(name)


@atexit.register
def _remove() -> None:
    """Remove the folders of this process, as its end does."""
    for key in [one for one in _owned if one[0] == os.getpid()]:
        path, number = _owned.pop(key)
        shutil.rmtree(path, ignore_errors=True)
        os.close(number)


def _ours() -> list[Path]:
    return [path for (process, _), (path, _) in _owned.items() if process == os.getpid()]


def own() -> list[str]:
    """Return the real names of this process's folders."""
    return [os.path.realpath(path) for path in _ours()]


def note(marks: str) -> None:
    """Write down what the processes of a run are known by, for whoever sweeps after this one."""
    with suppress(OSError):
        folder()
        _, number = _owned[os.getpid(), tempfile.gettempdir()]
        os.lseek(number, 0, os.SEEK_END)
        os.write(number, f"{marks}\n".encode())


def sweep() -> None:
    """Remove what processes that are gone have left: their folders, links and processes.

    Links are not followed, and what is somebody else's stays.
    """
    for place in _places():
        for path in Path(place).glob(f"{_PREFIX}*"):
            with suppress(OSError):
                status = path.lstat()
                own = path in _ours() or status.st_uid != os.getuid()
                if not own and stat.S_ISDIR(status.st_mode):
                    _sweep(path, status)


def _places() -> list[str]:
    return list(dict.fromkeys((tempfile.gettempdir(), *_PLACES)))


def _sweep(path: Path, status: os.stat_result) -> None:
    try:
        number = os.open(path / _OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        if time.time() - status.st_mtime > _OLD_S:
            path.rmdir()  # only where it is empty: ended before it had locked anything
        return
    try:
        if stat.S_ISREG(os.fstat(number).st_mode):
            _lock(number)
            for known in os.read(number, _MOST_BYTES).splitlines():
                mark, lowest, highest = known.split()
                guard.kill_marked(mark, int(lowest), int(highest))
            shutil.rmtree(path, ignore_errors=True)
    except ValueError:  # a file of that name, and not ours
        return
    finally:
        os.close(number)


def is_plain(target: Path) -> bool:
    """Say whether a folder's name can stand unquoted in a command line."""
    return _PLAIN.fullmatch(str(target)) is not None


def link(target: Path) -> Path:
    """Return a short plain name for a folder: a link, or its own if that will do."""
    if is_plain(target) and len(os.fsencode(target)) <= _LONGEST:
        return target
    return _linked(target)


def plain(target: Path) -> Path:
    """Return a plain name for a folder: a link, or its own, also where no link can be made."""
    return target if is_plain(target) else _linked(target)


def plain_program(program: str) -> str:
    """Return a name of a program such that its installation's folder has a plain name.

    An interpreter takes the place of its libraries from the name that it was started by.
    """
    path = Path(program)
    if is_plain(path) or not path.is_absolute():
        return program
    return str(plain(path.parent.parent) / path.parent.name / path.name)


def _linked(target: Path) -> Path:
    """Return a link to a folder, the same each time; the folder itself where none can be made."""
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()
    for place in filter(lambda one: is_plain(Path(one)), _places()):
        with suppress(OSError):  # it cannot be made there
            name = folder(place) / digest[:12]
            with suppress(FileExistsError):
                name.symlink_to(target, target_is_directory=True)
            # Anyone may put something under this name; only a link to this very target will do.
            if name.readlink() == target:
                return name
    return target


def unlink(root: Path) -> None:
    """Remove the links to folders that were at or below ``root`` and are gone."""
    for place in _ours():
        for name in place.iterdir():
            with suppress(OSError):
                target = name.readlink()
                if target.is_relative_to(root) and not target.exists():
                    name.unlink()
