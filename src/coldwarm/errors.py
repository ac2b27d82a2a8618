"""Every error that coldwarm raises for a user to read, with the exit code of the command line."""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ExitCode(IntEnum):
    """What a command ends with; 1 is said of a verdict and of nothing else."""

    FINE = 0
    REGRESSION = 1
    USAGE = 2
    FAILED = 3
    """A case failed, or an artifact is wrong."""
    NOTHING_VALID = 4
    INTERNAL = 70
    """Something went wrong inside, or the system refused what is needed."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class ColdwarmError(Exception):
    """Base of all: its message is one line that says what was wrong and what to do."""

    exit_code = ExitCode.USAGE


class UsageError(ColdwarmError):
    """A wrong argument, an unknown name, or options that exclude each other."""


class ContractError(ColdwarmError):
    """An artifact that does not keep its contract; says which file, line and field."""

    exit_code = ExitCode.FAILED

    def __init__(
        self, path: str, what: str, *, line: int | None = None, field: str | None = None
    ) -> None:
        """Keep the parts of the message."""
        place = path if line is None else f"{path}:{line}"
        super().__init__(one_line(": ".join(part for part in (place, field, what) if part)))
        self.path, self.what, self.line, self.field = path, what, line, field


class NewerVersionError(ContractError):
    """An artifact whose schema version is newer than this coldwarm understands."""


class PluginError(ColdwarmError):
    """A plug-in that failed to load, or two that claim the same name."""


class SystemRefusedError(ColdwarmError):
    """What a run needs of the system, and was not given."""

    exit_code = ExitCode.INTERNAL


class NothingComparableError(ColdwarmError):
    """Two results that have no validly measured figure in common."""

    exit_code = ExitCode.NOTHING_VALID


class RunDirectoryError(ColdwarmError):
    """An output directory that is in use, is no run's, or cannot be written."""


class ResumeError(ColdwarmError):
    """A run whose protocol, environment or source changed since it was started."""


class StorageError(ColdwarmError):
    """A file that could not be written; what was measured before is kept."""

    exit_code = ExitCode.FAILED


def one_line(message: str) -> str:
    """Return the message with everything escaped that could start another line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


def shorten(name: str, longest: int = 80) -> str:
    """Return a name with its middle left out where it is longer than any that is read."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"


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
