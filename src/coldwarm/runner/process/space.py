"""Whether a process failed because the disk is full: then no candidate is to blame."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from typing import TYPE_CHECKING

from coldwarm.errors import storage_error

if TYPE_CHECKING:
    from pathlib import Path

_PROBE_BYTES = 256 * 1024
_LITTLE_BYTES = 256 * 1024 * 1024
"""With less left than this, a process that complains of a full disk is believed."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check(work: Path, said: str) -> None:
    """Look at the disk after a process failed with the words ``said``.

    Raises:
        StorageError: nothing can be written under ``work``, or hardly anything and the
            process said so.
    """
    try:
        _write_probe(work / "space.part")
    except OSError as error:
        raise storage_error(work, error) from error
    code = next((number for number in _FULL if os.strerror(number) in said), None)
    if code is not None and shutil.disk_usage(work).free < _LITTLE_BYTES:
        raise storage_error(work, OSError(code, os.strerror(code)))


def is_little(folder: Path) -> bool:
    """Say whether a file written there may be cut, as Python cuts the bytecode that it writes."""
    longest, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return True
    return 0 <= longest < _PROBE_BYTES or free < _PROBE_BYTES


def _write_probe(path: Path) -> None:
    try:
        with path.open("wb") as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)
