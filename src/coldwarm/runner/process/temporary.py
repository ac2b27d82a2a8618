"""Names without blanks, and short ones, for folders that may lie anywhere: links to them.

``torch.compile`` puts the names of its folders into the command of the C++ compiler, where a blank
or a quote takes them apart. The name of a Unix socket holds no more than 107 bytes, and libraries
put theirs under the folder for temporary files: processes of ``multiprocessing`` talk through
``pymp-…/listener-…`` there.

A link is called ``cw-PID-DIGEST`` after the process that made it, so that those of a process that
is gone can be told from those in use.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

LONGEST = 70
"""Characters of a folder's name that leave room for a socket in it."""
PREFIX = "cw-"
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""What no command line takes apart, unquoted."""
_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - a link is used only where it is our own
_made: set[Path] = set()


def is_plain(folder: Path) -> bool:
    """Say whether a folder's name can stand unquoted in a command line."""
    return _PLAIN.fullmatch(str(folder)) is not None


def link(folder: Path) -> Path:
    """Return a short plain name for a folder: a link, or its own if that will do."""
    if is_plain(folder) and len(os.fsencode(folder)) <= LONGEST:
        return folder
    return _linked(folder)


def plain(folder: Path) -> Path:
    """Return a plain name for a folder: a link, or its own, also where no link can be made."""
    return folder if is_plain(folder) else _linked(folder)


def plain_program(program: str) -> str:
    """Return a name of a program such that its installation's folder has a plain name.

    An interpreter takes the place of its libraries from the name that it was started by.
    """
    path = Path(program)
    if is_plain(path) or not path.is_absolute():
        return program
    return str(plain(path.parent.parent) / path.parent.name / path.name)


def unlink(root: Path) -> None:
    """Remove the links to folders at or below ``root`` that are gone."""
    for name in [*_made]:
        with suppress(OSError):
            target = name.readlink()
            if target.is_relative_to(root) and not target.exists():
                name.unlink()
                _made.discard(name)


def unlink_all() -> None:
    """Remove every link that this process has made; whoever needs one makes it again."""
    while _made:
        name = _made.pop()
        with suppress(OSError):
            if name.is_symlink():
                name.unlink()


def _linked(folder: Path) -> Path:
    """Return a link to a folder, the same each time; the folder itself where none can be made."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()
    for place in dict.fromkeys((tempfile.gettempdir(), *_PLACES)):
        name = Path(place) / f"{PREFIX}{os.getpid()}-{digest[:12]}"
        if not is_plain(name):
            continue
        with suppress(OSError):  # it is there already, or cannot be made
            name.symlink_to(folder, target_is_directory=True)
        with suppress(OSError):
            # Anyone may put something under this name; only our link to this folder will do.
            if name.readlink() == folder and name.lstat().st_uid == os.getuid():
                _made.add(name)
                return name
    return folder
