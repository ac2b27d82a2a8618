"""Short names for the folders of temporary files, which may lie deep inside a run's directory.

The name of a Unix socket holds no more than 107 bytes, and libraries put theirs under the folder
for temporary files: processes of ``multiprocessing`` talk through ``pymp-…/listener-…`` there.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

LONGEST = 70
"""Characters of a folder's name that leave room for a socket in it."""
_PREFIX = "cw-"


def link(folder: Path) -> Path:
    """Return a short name for a folder, the same each time: a link, or its own if that will do."""
    if len(os.fsencode(folder)) <= LONGEST:
        return folder
    name = _name(folder)
    with suppress(OSError):  # it is there already, or cannot be made
        name.symlink_to(folder, target_is_directory=True)
    with suppress(OSError):
        # Anyone may put something under this name; only a link to this very folder will do.
        if name.readlink() == folder:
            return name
    return folder


def unlink(root: Path) -> None:
    """Remove the links to folders that were below ``root`` and are gone."""
    for name in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            target = name.readlink()
            if target.is_relative_to(root) and not target.exists():
                name.unlink()


def _name(folder: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()
    return Path(tempfile.gettempdir()) / f"{_PREFIX}{digest[:12]}"
