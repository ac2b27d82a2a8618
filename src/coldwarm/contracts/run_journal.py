r"""The journal of a run: one line for each thing that happened, written as it happens.

A line is ``{"crc32":"…","kind":"…","record":{…}}\n``. The checksum is that of the
record's bytes as they stand in the line, so a line that was damaged or cut is told from a
whole one, and costs nothing but itself.

Kinds are ``header`` and ``event``, plain mappings, ``observation``, an ``Observation``, and
``making``, a ``Making``.
"""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import msgspec

from coldwarm.contracts.codec import decode_as, encode_compact, explain, parse
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.result import Making
from coldwarm.errors import ContractError, NewerVersionError, StorageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

JOURNAL = "journal.jsonl"
"""Its name, in the directory of a run."""
Kind = Literal["header", "observation", "making", "event"]
_MOST_BYTES = 2**29
"""Largest size of a journal; and of one line, a sixteenth. A run's own come nowhere near them."""
_LONGEST_BYTES = _MOST_BYTES // 16
_MOST_FAULTS = 10_000
_BEGINNING = b'{"crc32":"'


class JournalEntry(NamedTuple):
    """One whole line."""

    kind: Kind
    record: Observation | Making | dict[str, Any]


class Fault(NamedTuple):
    """One line that could not be used, or the torn end of the file."""

    line: int
    """From 1."""
    what: str
    """Fault in it."""
    torn: bool
    """Whether it is the last line and without its newline: the write was cut short."""


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    crc32: str
    kind: Kind
    record: msgspec.Raw


def encode_line(kind: Kind, record: Observation | Making | Mapping[str, Any]) -> bytes:
    """Return the line for a record, with its newline.

    Raises:
        ContractError: the record cannot be written as JSON, or breaks its own contract.
    """
    body = encode_compact(record)
    return b'{"crc32":"%s","kind":"%s","record":%s}\n' % (_crc(body), kind.encode(), body)


class Header(msgspec.Struct, frozen=True):
    """The first line of a journal, on its run; a later coldwarm's may say more."""

    run_id: str
    started_at: str
    options: dict[str, Any]
    harness_sha256: str
    sources: dict[str, str]
    fingerprint: str
    environment: dict[str, Any] | str
    """A text of JSON where an earlier version wrote it."""


def header_of(record: object, place: str) -> Header:
    """Return the header that a record is.

    Raises:
        ContractError: it lacks a key, or has a value of another type.
    """
    try:
        return msgspec.convert(record, Header)
    except msgspec.ValidationError as error:
        raise ContractError(place, f"is no header of a run: {error}", field="record") from None


def read_header(path: Path) -> Header | None:
    """Return what the first line of a journal says; ``None``: it is empty, or cut in that line.

    Raises:
        ContractError: the file cannot be read, or begins with anything else.
        NewerVersionError: the first line is whole, and of a later coldwarm.
    """
    with _opened(path) as file:
        line = _next_line(file, path)
    return header_in(line, f"{path}")


def header_in(data: bytes, named: str) -> Header | None:
    """Return the same of the bytes of a journal, or of its first line.

    Raises:
        ContractError: they begin with anything else.
        NewerVersionError: the first line is whole, and of a later coldwarm.
    """
    place = f"{named}:1"
    line = data.partition(b"\n")[0] + (b"\n" if b"\n" in data else b"")
    if not line or (not line.endswith(b"\n") and _begun(line)):
        return None
    problem = _check(line)
    if problem is not None:
        raise ContractError(place, problem)
    entry = _entry(line, place)
    if entry.kind != "header":
        raise ContractError(place, "a journal begins with its header", field="kind")
    return header_of(entry.record, place)


def _begun(line: bytes) -> bool:
    """Say whether a line without its end can be one of ours."""
    return line[: len(_BEGINNING)] == _BEGINNING[: len(line)] and _check(line) is not None


def read_lines(path: Path) -> tuple[list[JournalEntry], list[Fault]]:
    """Return the whole lines of a journal in their order, and the faults.

    Raises:
        ContractError: as ``stream``.
        NewerVersionError: as ``stream``.
    """
    found = list(stream(path))
    entries = [one for one in found if isinstance(one, JournalEntry)]
    return entries, [one for one in found if isinstance(one, Fault)]


def stream(path: Path) -> Iterator[JournalEntry | Fault]:
    """Yield the whole lines of a journal in their order, and the faults among them.

    A damaged line is a fault and is skipped. So is a last line without its newline,
    unless all but the newline was written: then it counts as an entry too.

    Raises:
        ContractError: the file cannot be read, or is none that a run can have written.
        NewerVersionError: a line is whole, and of a later coldwarm.
    """
    n_faults = number = 0
    with _opened(path) as file:
        while line := _next_line(file, path):
            number += 1
            for found in _read_line(line, number, path):
                yield found
                n_faults += isinstance(found, Fault)
            if n_faults > _MOST_FAULTS:
                what = f"more than {_MOST_FAULTS} of its lines are damaged: is it a journal?"
                raise ContractError(str(path), what)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a journal to be read: a regular file of a size that can be.

    Raises:
        ContractError: it is none, or cannot be opened or read.
    """
    try:
        # A pipe would be waited for.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # noqa: PTH123 - with flags of its own
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ContractError(str(path), "is no regular file")
            if status.st_size > _MOST_BYTES:
                what = f"is larger than {_MOST_BYTES} bytes; no journal is"
                raise ContractError(str(path), what)
            yield file
    except OSError as error:
        raise ContractError(str(path), f"cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have
        raise ContractError(repr(str(path)), f"cannot be read: {error}") from None


def _next_line(file: BinaryIO, path: Path) -> bytes:
    line = file.readline(_LONGEST_BYTES + 1)
    if len(line) > _LONGEST_BYTES or file.tell() > _MOST_BYTES:
        what = f"has a line of more than {_LONGEST_BYTES} bytes; no journal has"
        raise ContractError(str(path), what)
    return line


def mend(path: Path) -> None:
    """Make a journal ready to be appended to: end it after its last whole line.

    A torn line is cut off; where only its newline is missing, it is added.

    Raises:
        StorageError: the file cannot be changed.
    """
    try:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _LONGEST_BYTES, 0))
            data = file.read()
            last = data[data.rfind(b"\n") + 1 :]
            if last and _check(last) is None:
                file.write(b"\n")
            elif last:
                file.truncate(size - len(last))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = f"{path}: cannot be mended: {error.strerror}; free space or choose another --out"
        raise StorageError(printable(message)) from None


def _read_line(line: bytes, number: int, path: Path) -> Iterator[JournalEntry | Fault]:
    """Yield what one line holds: an entry, a fault, or both."""
    torn = not line.endswith(b"\n")
    place = f"{path}:{number}"
    problem = _check(line)
    if problem is None:
        try:
            yield _entry(line, place)
        except NewerVersionError:
            raise
        except ContractError as error:
            problem = printable(": ".join(filter(None, (error.field, error.what))))
    if problem is not None:
        what = "torn: the write was cut short" if torn else problem
        yield Fault(number, what, torn)
    elif torn:
        yield Fault(number, "torn: only its newline is missing, it counts", torn=True)


def _check(line: bytes) -> str | None:
    """Return what is wrong with a line as a line, or ``None``."""
    try:
        parts = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return printable(f"is no journal line: {error}")
    body = bytes(parts.record)
    if parts.crc32.encode() != _crc(body):
        return "its checksum does not match: the line was damaged"
    return None


def _entry(line: bytes, place: str) -> JournalEntry:
    parts = msgspec.json.decode(line, type=_Line)
    body = bytes(parts.record)
    if parts.kind == "observation":
        return JournalEntry(parts.kind, decode_as(Observation, body, place))
    text, record = parse(body, place)
    if parts.kind == "making":
        try:
            return JournalEntry(parts.kind, msgspec.convert(record, Making))
        except msgspec.ValidationError as error:
            raise explain(error, record, Making, text, place) from None
    if not isinstance(record, dict):
        raise ContractError(place, "expected an object", field="record")
    return JournalEntry(parts.kind, record)


def _crc(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)
