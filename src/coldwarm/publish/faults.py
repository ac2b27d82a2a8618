"""Faults of a snapshot, and whether its files are those that its index names, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts.codec import MAX_BYTES, decode
from coldwarm.contracts.parsing import parse
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.snapshot import SnapshotFault
from coldwarm.errors import ContractError, ExitCode
from coldwarm.publish import opening
from coldwarm.publish.environment import pinned
from coldwarm.publish.layout import INDEX, LOCK, NOT_INDEXED, PINS, lacking, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason, Value
    from coldwarm.contracts.snapshot import FaultKind, IndexedFile, SnapshotIndex, Verification


_CODES: Mapping[FaultKind, ExitCode] = {
    "presence": ExitCode.FAILED,
    "bytes": ExitCode.FAILED,
    "schema": ExitCode.FAILED,
    "content": ExitCode.CONTRADICTION,
    "signature": ExitCode.SIGNATURE,
}


class SnapshotError(RefusedError):
    """A snapshot that does not hold, and is therefore not used."""

    def __init__(self, path: str, fault: SnapshotFault) -> None:
        """Keep the first fault."""
        where = f"{path}/{fault.path}" if fault.path else path
        super().__init__(because("snapshot_wrong", fault.reason, path=where))
        self.exit_code = _CODES[fault.kind]


def fault(kind: FaultKind, path: str, code: str, /, **values: Value) -> SnapshotFault:
    """Return a fault with a reason of its own."""
    return SnapshotFault(kind=kind, path=path, reason=because(code, **values))


def for_reason(kind: FaultKind, path: str, reason: Reason) -> SnapshotFault:
    """Return a fault with a reason that is there."""
    return SnapshotFault(kind=kind, path=path, reason=reason)


def told(kind: FaultKind, folder: Path, error: ContractError) -> SnapshotFault:
    """Return what the reader of artifacts has found, its file as a path below the folder."""
    path = error.path.removeprefix(f"{folder}/")
    reason = because("artifact_wrong", text=error.what)
    return SnapshotFault(kind=kind, path=path, line=error.line, field=error.field, reason=reason)


def contradiction(path: str, field: str, what: str) -> SnapshotFault:
    """Return the fault of a field that says anything else than what it follows from."""
    reason = because("contradicts", text=what)
    return SnapshotFault(kind="content", path=path, field=field, reason=reason)


def by_other_rules(one: SnapshotFault) -> SnapshotFault:
    """Return a contradiction as what it is where another version may have made it by its rules."""
    text = "by the rules of another version" if one.reason.code != "contradicts" else ""
    reason = because("said_otherwise", text=text or str(one.reason.values["text"]))
    return msgspec.structs.replace(one, reason=reason)


def exit_code(found: Verification) -> ExitCode:
    """Return what a command ends with: the code of the first fault's kind."""
    return _CODES[found.faults[0].kind] if found.faults else ExitCode.FINE


def unopened(found: Mapping[str, opening.Entry]) -> Iterator[SnapshotFault]:
    """Yield what lies in the folder and is not opened: links, pipes, devices, what is too large."""
    for entry in found.values():
        if entry.reason is not None and not entry.path.endswith("/"):
            yield for_reason("presence", entry.path, entry.reason)


def missing_or_more(
    index: SnapshotIndex, found: Mapping[str, opening.Entry]
) -> Iterator[SnapshotFault]:
    """Yield files that are named and not there, and those that nobody names."""
    named: set[str] = set()
    for row in index.artifacts:
        if row.path in named:
            yield fault("schema", INDEX, "named_twice", path=row.path)
        named.add(row.path)
        if row.path in NOT_INDEXED:
            yield fault("schema", INDEX, "not_to_be_named", path=row.path)
        elif row.path not in found:
            yield fault("presence", row.path, "file_missing")
        elif part_of(row.path) is None:
            yield fault("presence", row.path, "no_such_part")
    for path, entry in found.items():
        if entry.reason is not None:  # a folder without a file
            yield for_reason("presence", path, entry.reason)
        elif path not in named and path not in NOT_INDEXED:
            yield fault("presence", path, "file_not_named")
    for part in lacking(named):
        yield fault("presence", INDEX, "part_missing", part=part.holds)


def other_bytes(folder: Path, row: IndexedFile) -> Iterator[SnapshotFault]:
    """Yield where a file has another size or hash than the index says."""
    try:
        is_ = opening.digest(folder, row.path)
    except ContractError as error:
        yield told("presence", folder, error)
        return
    if is_.n_bytes != row.bytes:
        yield fault("bytes", row.path, "other_size", size_bytes=is_.n_bytes, named_bytes=row.bytes)
    elif is_.sha256 != row.sha256:
        yield fault("bytes", row.path, "other_bytes", sha256=is_.sha256)


def other_contract(folder: Path, path: str) -> Iterator[SnapshotFault]:
    """Yield where a file does not keep the contract that it has by its path."""
    part = part_of(path)
    try:
        if part is not None and part.contract:
            data = opening.read_limited(folder, path, MAX_BYTES)
            _, document = parse(data, f"{folder}/{path}")
            decode(data, f"{folder}/{path}")
            if document["schema_version"] != part.contract:
                named = str(document["schema_version"])
                expected = because("other_contract", found=named, expected=part.contract)
                yield for_reason("schema", path, expected)
        elif path in {LOCK, PINS}:
            pinned(folder)
    except ContractError as error:
        yield told("schema", folder, error)
    except RefusedError as error:
        yield for_reason("schema", path, error.reason)
    except (ValueError, RecursionError) as error:
        yield fault("schema", path, "artifact_wrong", text=f"cannot be read: {error}")
