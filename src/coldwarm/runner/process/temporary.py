"""The folder of this process for temporary files, and short names in it for folders far below.

The name of a Unix socket holds no more than 107 bytes, and libraries put theirs under the folder
for temporary files: processes of ``multiprocessing`` talk through ``pymp-…/listener-…`` there.

The folder holds a file that is locked as long as this process lives. What a process has left that
could not clean up after itself is found by that, and removed by the next one.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from coldwarm.runner.process import guard

LONGEST = 70
"""Characters of a folder's name that leave room for a socket in it."""
_PREFIX = "coldwarm-"
_OWNER = ".coldwarm-owner"
_OLD_S = 3600.0
_MOST_BYTES = 2**16
_owned: dict[int, tuple[Path, int]] = {}
"""By process (a fork has what its parent has): its folder, and the file that it has locked."""


def folder() -> Path:
    """Return the folder of this process; it is removed when the process ends.

    Raises:
        OSError: it cannot be made.
    """
    process = os.getpid()
    if process not in _owned:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        part = path / f"{_OWNER}.part"
        number = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.rename(path / _OWNER)  # where it is locked before anyone else can see it
        _owned[process] = path, number
        atexit.register(_remove, process)
    return _owned[process][0]


def _remove(process: int) -> None:
    if process == os.getpid() and process in _owned:
        path, number = _owned.pop(process)
        shutil.rmtree(path, ignore_errors=True)
        os.close(number)


def note(marks: str) -> None:
    """Write down what the processes of a run are known by, for whoever sweeps after this one."""
    with suppress(OSError):
        folder()
        _, number = _owned[os.getpid()]
        os.lseek(number, 0, os.SEEK_END)
        os.write(number, f"{marks}\n".encode())


def sweep() -> None:
    """Remove what processes that are gone have left: their folders, links and processes.

    Links are not followed, and what is somebody else's stays.
    """
    own = _owned.get(os.getpid(), (None, -1))[0]
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            status = path.lstat()
            if path != own and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                _sweep(path, status)


def _sweep(path: Path, status: os.stat_result) -> None:
    try:
        number = os.open(path / _OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        if time.time() - status.st_mtime > _OLD_S:
            path.rmdir()  # only where it is empty: ended before it had locked anything
        return
    try:
        if stat.S_ISREG(os.fstat(number).st_mode):
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for known in os.read(number, _MOST_BYTES).splitlines():
                mark, lowest, highest = known.split()
                guard.kill_marked(mark, int(lowest), int(highest))
            shutil.rmtree(path, ignore_errors=True)
    except ValueError:  # a file of that name, and not ours
        return
    finally:
        os.close(number)


def link(target: Path) -> Path:
    """Return a short name for a folder, the same each time: a link, or its own if that will do."""
    if len(os.fsencode(target)) <= LONGEST:
        return target
    with suppress(OSError):  # it cannot be made
        name = _name(target)
        with suppress(FileExistsError):
            name.symlink_to(target, target_is_directory=True)
        # Anyone may put something under this name; only a link to this very target will do.
        if name.readlink() == target:
            return name
    return target


def unlink(root: Path) -> None:
    """Remove the links to folders that were below ``root`` and are gone."""
    if os.getpid() not in _owned:
        return
    for name in folder().iterdir():
        with suppress(OSError):
            target = name.readlink()
            if target.is_relative_to(root) and not target.exists():
                name.unlink()


def _name(target: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(target)).hexdigest()
    return folder() / digest[:12]
