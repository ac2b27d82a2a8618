"""Whether the files of a snapshot are those that its index names, byte for byte, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.files.codec import MAX_BYTES, decode
from coldwarm.contracts.files.strict import parse
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ContractError
from coldwarm.publish import opening
from coldwarm.publish.layout import (
    INDEX,
    LOCK,
    NOT_INDEXED,
    PINS,
    lacking,
    part_of,
)
from coldwarm.publish.replicating.locked import pinned
from coldwarm.publish.verifying.faults import fault, for_reason, told

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coldwarm.contracts.checked import SnapshotFault
    from coldwarm.contracts.snapshot import IndexedFile, SnapshotIndex


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
