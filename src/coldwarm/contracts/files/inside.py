"""The file that an artifact names, as far as it lies in the folder that it may name files of."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

from coldwarm.errors import shorten

LONGEST = 1024
"""Characters of a path; no artifact names a longer one."""


class OutsideError(ValueError):
    """A path that is not followed; its message says why."""


def inside(folder: Path, named: str) -> Path:
    """Return a regular file below a folder by its relative path.

    Raises:
        OutsideError: it is absolute, climbs, leads out through a link, or is no regular file.
    """
    pure = PurePosixPath(named)
    if len(named) > LONGEST:
        message = f"{shorten(named)!r} is longer than {LONGEST} characters; no path here is"
        raise OutsideError(message)
    if pure.is_absolute() or ".." in pure.parts:
        message = f"{shorten(named)!r} leads out of the folder; expected a path below it"
        raise OutsideError(message)
    file = folder / pure
    try:
        if not file.resolve().is_relative_to(folder.resolve()):
            message = f"{shorten(named)!r} leads out of the folder through a link"
            message += "; put the file itself there"
            raise OutsideError(message)
        mode = file.stat().st_mode
    except FileNotFoundError:
        message = f"{shorten(named)!r} is not there"
        raise OutsideError(message) from None
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, names no file has
        if isinstance(error, OutsideError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        message = f"{shorten(named)!r} cannot be followed: {why}"
        raise OutsideError(message) from None
    if not stat.S_ISREG(mode):
        message = f"{shorten(named)!r} is no regular file"
        raise OutsideError(message)
    return file
