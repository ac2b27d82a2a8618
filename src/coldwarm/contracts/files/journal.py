r"""The journal of a run: one line for each thing that happened, written as it happens.

A line is ``{"crc32":"…","kind":"…","record":{…}}\n``. The checksum is that of the
record's bytes as they stand in the line, so a line that was damaged or cut is told from a
whole one, and costs nothing but itself.

Kinds are ``header`` and ``event``, plain mappings, ``observation``, an ``Observation``, and
``making``, a ``Making``.
"""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from coldwarm.contracts.files import migrations
from coldwarm.contracts.files.codec import decode_as, encode_compact
from coldwarm.contracts.files.faults import explain, fault
from coldwarm.contracts.files.strict import parse
from coldwarm.contracts.observation import Observation
from coldwarm.contracts.result import Making
from coldwarm.errors import ContractError, NewerVersionError, StorageError, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

JOURNAL = "journal.jsonl"
"""Its name, in the directory of a run."""
Kind = Literal["header", "observation", "making", "event"]


class Entry(NamedTuple):
    """One whole line."""

    kind: Kind
    record: Observation | Making | dict[str, Any]


class Fault(NamedTuple):
    """One line that could not be used, or the torn end of the file."""

    line: int
    """From 1."""
    what: str
    """What is wrong with it."""
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


def read_lines(path: Path) -> tuple[list[Entry], list[Fault]]:
    """Return the whole lines of a journal in their order, and the faults.

    A damaged line is a fault and is skipped. So is a last line without its newline,
    unless all but the newline was written: then it counts as an entry too.

    Raises:
        ContractError: the file cannot be read.
        NewerVersionError: a line is whole, and of a later coldwarm.
    """
    entries: list[Entry] = []
    faults: list[Fault] = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                _read_line(line, number, path, entries, faults)
    except OSError as error:
        raise fault(str(path), None, None, f"cannot be read: {error.strerror}") from None
    return entries, faults


def mend(path: Path) -> None:
    """Make a journal ready to be appended to: end it after its last whole line.

    A torn line is cut off; where only its newline is missing, it is added.

    Raises:
        StorageError: the file cannot be changed.
    """
    try:
        with path.open("r+b") as file:
            data = file.read()
            last = data[data.rfind(b"\n") + 1 :]
            if last and _check(last) is None:
                file.write(b"\n")
            elif last:
                file.truncate(len(data) - len(last))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        message = f"{path}: cannot be mended: {error.strerror}; free space or choose another --out"
        raise StorageError(one_line(message)) from None


def _read_line(
    line: bytes, number: int, path: Path, entries: list[Entry], faults: list[Fault]
) -> None:
    """Add one line to the entries, the faults, or both."""
    torn = not line.endswith(b"\n")
    place = f"{path}:{number}"
    problem = _check(line)
    if problem is None:
        try:
            entries.append(_entry(line, place))
        except NewerVersionError:
            raise
        except ContractError as error:
            problem = one_line(": ".join(filter(None, (error.field, error.what))))
    if problem is not None:
        what = "torn: the write was cut short" if torn else problem
        faults.append(Fault(number, what, torn))
    elif torn:
        faults.append(Fault(number, "torn: only its newline is missing, it counts", torn=True))


def _check(line: bytes) -> str | None:
    """Return what is wrong with a line as a line, or ``None``."""
    try:
        parts = msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return one_line(f"is no journal line: {error}")
    body = bytes(parts.record)
    if parts.crc32.encode() != _crc(body):
        return "its checksum does not match: the line was damaged"
    return None


def _entry(line: bytes, place: str) -> Entry:
    parts = msgspec.json.decode(line, type=_Line)
    body = bytes(parts.record)
    if parts.kind == "observation":
        return Entry(parts.kind, decode_as(Observation, body, place))
    text, record = parse(body, place)
    if parts.kind == "making":
        try:
            # It carries no version of its own.
            return Entry(parts.kind, msgspec.convert(migrations.reasons(record), Making))
        except msgspec.ValidationError as error:
            raise explain(error, record, Making, text, place) from None
    if not isinstance(record, dict):
        raise fault(place, None, "record", "expected an object")
    return Entry(parts.kind, record)


def _crc(body: bytes) -> bytes:
    return b"%08x" % zlib.crc32(body)
