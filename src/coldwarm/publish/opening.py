"""Opening files that strangers have made: none outside the folder, none that is no plain file.

A snapshot is data. Its folder is walked without following a link, every entry is a regular file or
a folder, and there are bounds on how many there are, how deep, and how large.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from coldwarm.contracts.reasons import because
from coldwarm.errors import ContractError, is_plain, printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.reasons import Reason

MOST_FILES = 20_000
_DEEPEST = 8
"""Folders on the way to a file."""
LONGEST = 512
"""Characters of a path below the folder."""
_MOST_BYTES = 2**29
"""Of one file."""
_MOST_BYTES_IN_ALL = 2**32
_CHUNK_BYTES = 2**20


def _flags(*names: str) -> int:
    """Return flags of ``os.open``, of those that this system has."""
    return sum({getattr(os, name, 0) for name in names}, os.O_RDONLY)


_FOLDER = _flags("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC")
_FILE = _flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC")
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class Entry(NamedTuple):
    """One thing that lies in a folder."""

    path: str
    """Below the folder, with forward slashes."""
    n_bytes: int
    reason: Reason | None
    """Why it is not opened; ``None``: it is a file that may be."""


class _Digest(NamedTuple):
    """What a file's bytes are, in short."""

    n_bytes: int
    sha256: str


def entries(folder: Path) -> Iterator[Entry]:
    """Yield every file below a folder in the order of paths, and what is none with the reason.

    Nothing is opened but folders, and no link is followed. A folder below it without anything is
    told too. After a bound was passed, nothing more is.
    """
    n_files, in_all = 0, 0
    waiting = [""]
    while waiting:
        below = waiting.pop()
        folders = []
        listed = _listed(folder / below)
        if below and not listed:
            yield Entry(below, 0, because("empty_folder"))
        for name, status in listed:
            n_files += 1
            path = f"{below}{name}"
            reason = _refused(path, status)
            if reason is None and stat.S_ISDIR(status.st_mode):
                folders.append(f"{path}/")
                continue
            in_all += status.st_size
            if n_files > MOST_FILES or in_all > _MOST_BYTES_IN_ALL:
                most = because("too_much", n_files=MOST_FILES, limit_bytes=_MOST_BYTES_IN_ALL)
                yield Entry(path, status.st_size, most)
                return
            yield Entry(path, status.st_size, reason)
        waiting += reversed(folders)


def _listed(folder: Path) -> list[tuple[str, os.stat_result]]:
    """Return names and what they are, in order; one more than are read, where there are more."""
    found = []
    with os.scandir(folder) as names:
        for entry in names:
            found.append((entry.name, entry.stat(follow_symlinks=False)))
            if len(found) > MOST_FILES:
                break
    return sorted(found)


def refused_name(path: str) -> Reason | None:
    """Say why a path below a folder is none of a snapshot; ``None``: it may be."""
    if not all(map(is_plain, path)):
        return because("name_not_plain")
    if len(path) > LONGEST:
        return because("path_too_long", n_characters=LONGEST)
    if path.count("/") >= _DEEPEST:
        return because("too_deep", n_folders=_DEEPEST)
    return None


def _refused(path: str, status: os.stat_result) -> Reason | None:
    """Say why an entry is not opened, by its name and kind."""
    reason = refused_name(path)
    if reason is not None:
        return reason
    kind = _kind(status)
    if kind is not None:
        return because("no_plain_file", kind=kind)
    if stat.S_ISREG(status.st_mode) and status.st_size > _MOST_BYTES:
        return because("too_large", limit_bytes=_MOST_BYTES)
    return None


def _kind(status: os.stat_result) -> str | None:
    """Return what an entry is, where it is neither a file nor a folder."""
    if getattr(status, "st_reparse_tag", 0):  # of Windows: a link, or a junction
        return "a link"
    return next((named for is_kind, named in _KINDS if is_kind(status.st_mode)), None)


def read_limited(folder: Path, path: str, most_bytes: int = _MOST_BYTES) -> bytes:
    """Return the bytes of a regular file below a folder, which no part of the path is a link of.

    Raises:
        ContractError: it is not there, no regular file, or larger.
    """
    return b"".join(_chunks(folder, path, most_bytes))


def digest(folder: Path, path: str) -> _Digest:
    """Return size and SHA-256 of a regular file below a folder.

    Raises:
        ContractError: as ``read_limited``.
    """
    found, n_bytes = hashlib.sha256(), 0
    for chunk in _chunks(folder, path, _MOST_BYTES):
        n_bytes += len(chunk)
        found.update(chunk)
    return _Digest(n_bytes, found.hexdigest())


@contextmanager
def _opened(folder: Path, path: str) -> Iterator[BinaryIO]:
    """Open a file below a folder; a link anywhere on the way, or a pipe, is not followed."""
    *folders, name = path.split("/")
    if not name or any(part in {"", ".", ".."} for part in (*folders, name)):
        message = "the path is none below the folder"
        raise ValueError(message)
    if os.open not in os.supports_dir_fd:
        with _opened_by_path(folder, path) as file:
            yield file
        return
    with ExitStack() as stack:
        at = os.open(folder, _flags("O_DIRECTORY", "O_CLOEXEC"))
        stack.callback(os.close, at)
        for part in folders:
            at = os.open(part, _FOLDER, dir_fd=at)
            stack.callback(os.close, at)
        yield stack.enter_context(os.fdopen(os.open(name, _FILE, dir_fd=at), "rb"))


@contextmanager
def _opened_by_path(folder: Path, path: str) -> Iterator[BinaryIO]:
    """Open a file where no folder can be opened, on Windows: each step is looked at first."""
    at = folder
    for part in path.split("/"):
        if Path(part).name != part:
            message = "the path is none below the folder"
            raise ValueError(message)
        at /= part
        kind = _kind(at.lstat())
        if kind is not None:
            message = f"it is {kind}"
            raise ValueError(message)
    with os.fdopen(os.open(at, _FILE), "rb") as file:
        yield file


def _chunks(folder: Path, path: str, most_bytes: int) -> Iterator[bytes]:
    """Yield the bytes of a file, opening each folder on the way without following a link."""
    shown = f"{folder}/{printable(shorten(path))}"
    try:
        with _opened(folder, path) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ContractError(shown, "is no regular file; put the file itself there")
            left = most_bytes
            while chunk := file.read(min(_CHUNK_BYTES, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise ContractError(shown, f"is larger than {most_bytes} bytes")
                yield chunk
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ContractError(shown, f"cannot be read: {why}") from None
