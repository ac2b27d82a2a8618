"""Files of a snapshot on the disk: opened without trust, and written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from coldwarm.contracts.codec import read_bytes
from coldwarm.contracts.reader import inside
from coldwarm.contracts.reasons import because
from coldwarm.contracts.snapshot import SnapshotFault
from coldwarm.errors import ContractError, StorageError, is_plain, printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.reasons import Reason, Value
    from coldwarm.contracts.snapshot import FaultKind


def snapshot_fault(kind: FaultKind, path: str, code: str, /, **values: Value) -> SnapshotFault:
    """Return a fault with a reason of its own."""
    return SnapshotFault(kind=kind, path=path, reason=because(code, **values))


def fault_for(kind: FaultKind, path: str, reason: Reason) -> SnapshotFault:
    """Return a fault with a reason that is there."""
    return SnapshotFault(kind=kind, path=path, reason=reason)


def reader_fault(kind: FaultKind, folder: Path, error: ContractError) -> SnapshotFault:
    """Return what the reader of artifacts has found, its file as a path below the folder."""
    path = error.path.removeprefix(f"{folder}/")
    reason = because("artifact_wrong", text=error.what)
    return SnapshotFault(kind=kind, path=path, line=error.line, field=error.field, reason=reason)


MOST_FILES = 20_000
_DEEPEST = 8
"""Folders on the way to a file."""
_LONGEST = 512
"""Characters of a path below the folder."""
_MOST_BYTES = 2**29
"""Lines of one file."""
_MOST_BYTES_IN_ALL = 2**32
CHUNK_BYTES = 2**20


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
    """Digest of a file's bytes."""

    n_bytes: int
    sha256: str


def list_files(folder: Path) -> Iterator[Entry]:
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
    if len(path) > _LONGEST:
        return because("path_too_long", n_characters=_LONGEST)
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
            while chunk := file.read(min(CHUNK_BYTES, left + 1)):
                left -= len(chunk)
                if left < 0:
                    raise ContractError(shown, f"is larger than {most_bytes} bytes")
                yield chunk
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ContractError(shown, f"cannot be read: {why}") from None


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 of bytes: 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def read_inside(folder: Path, name: str) -> bytes:
    """Return what a file of a folder holds.

    Raises:
        ContractError: it is not there, leads out of the folder, or is no file.
    """
    return read_bytes(inside(folder, name))


def next_to(folder: Path) -> Path:
    """Return the folder that a folder lies in, named as it was."""
    return folder.parent if folder.name not in {"", ".."} else folder.absolute().parent


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there, and wait until it is on the disk.

    Raises:
        OSError: it is there, or cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in place of the one that is there, if any.

    Raises:
        StorageError: the disk is full, or it cannot be written otherwise.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        write_new(part, data)
        part.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> StorageError:
    """Return the one line for a place that cannot be written."""
    reason = error.strerror or str(error)
    return StorageError(f"cannot write {path}: {reason}; free some space, or name another place")
