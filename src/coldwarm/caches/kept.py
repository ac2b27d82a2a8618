"""What lies in a cache, read without running, unpickling or linking any of it. Pure but for reads.

An entry is code of whoever wrote it. So files are taken apart by their format alone: an archive is
unpacked up to a size, a message of protocol buffers is walked by its field numbers, and of a pickle
only the texts in it are listed. A link is not followed, and what is no regular file is not opened.
"""

from __future__ import annotations

import os
import pickletools
import stat
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.contracts.kept_entry import KeptEntry

    Reader = Callable[[Path, Path], "list[KeptEntry] | None"]

MOST_BYTES = 2**29
"""Largest file, and largest content of a packed one, that is read."""
_MOST_FIELDS = 1_000_000
_MOST_OPERATIONS, _MOST_CHARACTERS = 200_000, 2**22
"""Of a pickle, and of its texts together."""


@dataclass(frozen=True)
class CacheContents:
    """What lies in a folder."""

    programs: Sequence[KeptEntry]
    n_others: int
    """Files that no framework is known to look for, links and other special files among them."""
    others_bytes: int

    def of(self, owner: str) -> list[KeptEntry]:
        """Return the programs of a framework."""
        return [one for one in self.programs if one.owner == owner]


def contents(folder: Path, readers: Sequence[Reader]) -> CacheContents:
    """List a folder; a reader returns ``None`` for a file that is none of its framework's.

    Raises:
        OSError: the folder cannot be listed.
    """
    programs: list[KeptEntry] = []
    n_others = others_bytes = 0
    for path, status in _files(folder):
        found = None
        if stat.S_ISREG(status.st_mode):
            found = next((one for read in readers if (one := read(folder, path)) is not None), None)
        if found is None:
            n_others += 1
            others_bytes += status.st_size
        else:
            programs += found
    return CacheContents(programs, n_others, others_bytes)


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    def refuse(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(place, name)
            try:
                yield path, path.lstat()
            except FileNotFoundError:
                continue  # a compiler's temporary file, gone in the meantime


_LATEST_NS = 2**62 - 1


def written(status: os.stat_result) -> int:
    """Return when a file was written, in nanoseconds since 1970, or the nearest that is told."""
    return min(max(0, status.st_mtime_ns), _LATEST_NS)


def message_fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """Return the fields of a message of protocol buffers: each with its number and its raw value.

    Raises:
        ValueError: it is no such message.
    """
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        value: int | bytes
        if kind == _VARINT:
            value, at = varint(data, at)
        else:
            length = _FIXED.get(kind)
            if kind == _BYTES:
                length, at = varint(data, at)
            if length is None or not number or at + length > len(data):
                raise ValueError("no message of protocol buffers")
            value, at = data[at : at + length], at + length
        found.append((number, value))
        if len(found) > _MOST_FIELDS:
            raise ValueError("a message with more fields than any")
    return found


_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
"""Bytes of a field by its kind."""
_LONGEST_VARINT = 10


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length, and where it ends.

    Raises:
        ValueError: there is none.
    """
    value = 0
    for place, byte in enumerate(data[at : at + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:  # noqa: PLR2004 - the bit that says that more follow
            return value, at + place + 1
    raise ValueError("no number of variable length")


def nested(data: bytes, *numbers: int) -> list[bytes]:
    """Return the messages at a path of field numbers, all where a field is there several times.

    Raises:
        ValueError: something on the way is no message.
    """
    found = [data]
    for number in numbers:
        found = [
            value
            for one in found
            for n, value in message_fields(one)
            if n == number and isinstance(value, bytes)
        ]
    return found


def pickled_texts(data: bytes, *, with_bytes: bool = True) -> list[str]:
    """Return the texts in pickles, one after the other, in their order; nothing is unpickled.

    ``with_bytes``: whether bytes are told, too, in hexadecimal digits.

    Raises:
        ValueError: the data are no pickle.
    """
    texts: list[str] = []
    stream = BytesIO(data)
    n_operations = n_characters = 0
    while stream.tell() < len(data):
        known: dict[int, str | None] = {}
        last: str | None = None
        for operation, argument, _ in pickletools.genops(stream):
            n_operations += 1
            name = operation.name
            if name == "MEMOIZE":
                known[len(known)] = last
                continue
            last = None
            if isinstance(argument, bytes | bytearray):
                last = bytes(argument).hex() if with_bytes else None
            elif isinstance(argument, str):
                last = argument
            elif "GET" in name and isinstance(argument, int):
                last = known.get(argument)
            if last is not None:
                texts.append(last)
                n_characters += len(last)
            if n_operations > _MOST_OPERATIONS or n_characters > _MOST_CHARACTERS:
                raise ValueError("a pickle with more in it than any index")
    return texts
