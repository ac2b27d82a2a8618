"""A registry of snapshots: each id once, with the hashes that identify its content."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from coldwarm.contracts.codec import decode_as, encode, load_as
from coldwarm.contracts.snapshot import (
    RegisteredHashes,
    RegisteredSnapshot,
    SnapshotIndex,
    SnapshotRegistry,
)
from coldwarm.errors import ContractError, UsageError
from coldwarm.publish import layout
from coldwarm.publish.writing import next_to, read_inside, replace_file, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def beside(folder: Path) -> Path:
    """Return the registry of a snapshot's folder: the one that lies next to it."""
    return next_to(folder) / layout.REGISTRY


def load(path: Path) -> SnapshotRegistry:
    """Read a registry.

    Raises:
        UsageError: there is none.
        ContractError: it does not keep its contract.
    """
    if not path.exists():
        text = f"{path}: there is no registry; coldwarm snapshot registry add DIR makes one"
        raise UsageError(text)
    return load_as(SnapshotRegistry, path)


def add(folder: Path, path: Path, links: Mapping[str, str]) -> RegisteredSnapshot:
    """Add a snapshot to a registry, which is made where it is not there.

    Adding the same content again changes nothing but its links.

    Raises:
        UsageError: the id is there with another content.
        ContractError: the folder is no snapshot, or the registry does not keep its contract.
        StorageError: the registry cannot be written.
    """
    entry = _entry_of(folder, links)
    known = load(path).snapshots if path.exists() else []
    for other in known:
        if other.snapshot_id == entry.snapshot_id and other.artifacts != entry.artifacts:
            raise UsageError(_taken(entry.snapshot_id, path))
    kept = [other for other in known if other.snapshot_id != entry.snapshot_id]
    old = next((other for other in known if other.snapshot_id == entry.snapshot_id), None)
    if old is not None and not links:
        entry = replace(entry, links=old.links)
    registry = SnapshotRegistry(
        updated_at=datetime.now(UTC).isoformat(timespec="seconds"),
        snapshots=sorted([*kept, entry], key=lambda one: (one.generated_at, one.snapshot_id)),
    )
    replace_file(path, encode(registry))
    return entry


def _entry_of(folder: Path, links: Mapping[str, str]) -> RegisteredSnapshot:
    """Return what a registry says of a snapshot.

    Raises:
        ContractError: the folder is no snapshot, or its manifest is not the one of its index.
    """
    data = read_inside(folder, layout.INDEX)
    index = decode_as(SnapshotIndex, data, str(folder / layout.INDEX))
    manifest = sha256_of(read_inside(folder, layout.MANIFEST))
    said = {one.path: one.sha256 for one in index.artifacts}.get(layout.MANIFEST)
    if said != manifest:
        what = "is not the file that the index of its snapshot names; restore it"
        raise ContractError(str(folder / layout.MANIFEST), what)
    return RegisteredSnapshot(
        snapshot_id=index.snapshot_id,
        suite=index.suite,
        generated_at=index.generated_at,
        artifacts=RegisteredHashes(
            baseline_manifest_sha256=manifest, snapshot_index_sha256=sha256_of(data)
        ),
        git=index.git,
        workflow=index.workflow or UNSET,
        links=dict(links) or UNSET,
    )


def refuse_taken(folder: Path, known: Path | None, snapshot_id: str, sha256: str | None) -> None:
    """Refuse an id that another content has: in the registry, or in a folder next to this one.

    Args:
        folder: Where the snapshot is to lie.
        known: The registry; ``None``: that beside the folder, if there is one.
        snapshot_id: The id.
        sha256: Of the snapshot's index; ``None``: it is like no other.

    Raises:
        UsageError: it is taken.
        ContractError: the registry does not keep its contract.
    """
    path = known or beside(folder)
    if known is not None or path.exists():
        for one in load(path).snapshots if path.exists() else ():
            if one.snapshot_id == snapshot_id and one.artifacts.snapshot_index_sha256 != sha256:
                raise UsageError(_taken(snapshot_id, path))
    parent = next_to(folder)
    for other in sorted(parent.iterdir()) if parent.is_dir() else ():
        try:
            data = read_inside(other, layout.INDEX)
            index = decode_as(SnapshotIndex, data, str(other))
        except ContractError:
            continue
        if index.snapshot_id == snapshot_id and sha256_of(data) != sha256:
            raise UsageError(_taken(snapshot_id, other))


def _taken(snapshot_id: str, where: Path) -> str:
    text = f"the id {snapshot_id!r} is taken by another snapshot ({where})"
    return f"{text}: an id stands for one content; choose another --id"
