"""Files of a snapshot on the disk: read inside its folder, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from coldwarm.contracts.codec import read_bytes
from coldwarm.contracts.reader import inside
from coldwarm.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path


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
