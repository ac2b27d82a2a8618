"""Every error that coldwarm raises for a user to read, with the exit code of the command line."""

from __future__ import annotations

import errno
import re
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ExitCode(IntEnum):
    """Exit status of a command; 1 is said of a verdict and of nothing else."""

    FINE = 0
    REGRESSION = 1
    USAGE = 2
    FAILED = 3
    """A case failed, or an artifact is wrong."""
    NOTHING_VALID = 4
    CONTRADICTION = 5
    """The parts of a snapshot contradict each other."""
    SIGNATURE = 6
    """A signature is not of what it lies beside."""
    INTERNAL = 70
    """Something went wrong inside, or the system refused what is needed."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class ColdwarmError(Exception):
    """Base of all: its message is one line that says what was wrong and what to do."""

    exit_code = ExitCode.USAGE

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines to print: one, whatever the message holds."""
        return (str(self),)


class UsageError(ColdwarmError):
    """A wrong argument, an unknown name, or options that exclude each other."""


class ListedError(UsageError):
    """A refusal that has to be told in several lines, whose breaks are its own."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Lines to print, as the message has them."""
        return tuple(str(self).splitlines())


class ContractError(ColdwarmError):
    """An artifact that does not keep its contract; says which file, line and field."""

    exit_code = ExitCode.FAILED

    def __init__(
        self, path: str, what: str, *, line: int | None = None, field: str | None = None
    ) -> None:
        """Keep the parts of the message."""
        place = path if line is None else f"{path}:{line}"
        super().__init__(printable(": ".join(part for part in (place, field, what) if part)))
        self.path, self.what, self.line, self.field = path, what, line, field


class NewerVersionError(ContractError):
    """An artifact whose schema version is newer than this coldwarm understands."""


class InvalidResultError(ColdwarmError):
    """Results that are not valid, of which nothing is made."""

    exit_code = ExitCode.FAILED


class PluginError(ColdwarmError):
    """A plug-in that failed to load, or two that claim the same name."""


class ProgramFailedError(ColdwarmError):
    """A program that was to be measured ended with an error."""

    exit_code = ExitCode.FAILED


class SystemRefusedError(ColdwarmError):
    """A need of a run that the system did not meet."""

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


_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Python calls printable and nobody sees."""
_COMMAND = re.compile(
    r"(?:^|(?<=\s))::(?=[\w-])"
    r"|::(?=(?:error|warning|notice|debug|group|endgroup|add-mask|add-path|add-matcher"
    r"|remove-matcher|set-output|set-env|save-state|stop-commands|echo)\b)"
    r"|##(?=\w*\[)",
    re.IGNORECASE,
)
"""Text that a workflow of continuous integration would take for a command."""


def is_plain(character: str) -> bool:
    """Say whether a character is seen as it is, and controls nothing."""
    return character.isprintable() and _UNSEEN.match(character) is None


def visible(text: str) -> str:
    """Return text in which every character that is not plain is written as its code."""
    return "".join(c if is_plain(c) else c.encode("unicode_escape").decode() for c in text)


def printable(text: str) -> str:
    """Return one line that can be printed anywhere and is obeyed by nothing that reads it.

    What controls a terminal, turns the direction of writing, ends a line or cannot be seen is
    written as its code, and so is the first sign of what would be a workflow's command.
    """
    plain = visible(text)
    return _COMMAND.sub(lambda found: f"\\x{ord(found[0][0]):02x}{found[0][1:]}", plain)


def shorten(name: str, longest: int = 80) -> str:
    """Return a name with its middle left out where it is longer than any that is read."""
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"


def storage_error(path: Path, error: OSError) -> StorageError:
    """Return the one line for a write that failed."""
    reason = error.strerror or str(error)
    hint = "free some space or choose another --out"
    if error.errno in {errno.EACCES, errno.EROFS, errno.EPERM}:
        hint = "choose an --out that can be written"
    return StorageError(
        f"cannot write {path}: {reason}; {hint} (what was measured before is kept in the"
        " journal; --resume goes on from it)"
    )
