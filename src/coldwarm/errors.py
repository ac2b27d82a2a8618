"""Every error that coldwarm raises for a user to read.

::

    ColdwarmError           anything the user is told about; one line, with what to do
    ├── UsageError          a wrong argument, an unknown name, a bad combination
    ├── ContractError       an artifact that does not keep its contract
    │   └── NewerVersionError   an artifact written by a later coldwarm
    ├── PluginError         a plug-in that cannot be loaded, or a name taken twice
    ├── NothingComparableError  two results that have nothing valid in common
    ├── RunDirectoryError   an output directory that is busy, foreign or not writable
    ├── ResumeError         a run that cannot be continued as asked
    └── StorageError        a file that could not be written: full disk, quota, I/O

Each carries the exit code the command line ends with.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ColdwarmError(Exception):
    """Base of all: its message is one line that says what was wrong and what to do."""

    exit_code = 2


class UsageError(ColdwarmError):
    """A wrong argument, an unknown name, or options that exclude each other."""


class ContractError(ColdwarmError):
    """An artifact that does not keep its contract; says which file, line and field."""

    exit_code = 3


class NewerVersionError(ContractError):
    """An artifact whose schema version is newer than this coldwarm understands."""


class PluginError(ColdwarmError):
    """A plug-in that failed to load, or two that claim the same name."""


class NothingComparableError(ColdwarmError):
    """Two results that have no validly measured figure in common."""

    exit_code = 4


class RunDirectoryError(ColdwarmError):
    """An output directory that is in use, is no run's, or cannot be written."""


class ResumeError(ColdwarmError):
    """A run whose protocol, environment or source changed since it was started."""


class StorageError(ColdwarmError):
    """A file that could not be written; what was measured before is kept."""

    exit_code = 3


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return the one line for a write that failed."""
    reason = error.strerror or str(error)
    hint = "free some space or choose another --out-dir"
    if error.errno in {errno.EACCES, errno.EROFS, errno.EPERM}:
        hint = "choose an --out-dir that can be written"
    return StorageError(
        f"cannot write {path}: {reason}; {hint} (what was measured before is kept in the"
        " journal; --resume goes on from it)"
    )
