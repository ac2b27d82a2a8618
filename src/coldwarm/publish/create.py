"""Making a snapshot, whole or not at all, under an id that no other has."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

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
from coldwarm.publish import documents, layout, lock
from coldwarm.publish.content import refuse_secrets
from coldwarm.publish.storage import (
    next_to,
    read_inside,
    replace_file,
    sha256_of,
    unwritable,
    write_new,
)
from coldwarm.runner.harness import harness_sha256
from coldwarm.runner.user_input import is_private

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.contracts.reasons import Reason
    from coldwarm.publish.code import Code
    from coldwarm.publish.content import Content, View


_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class SnapshotRequest:
    """Contents and name of a snapshot."""

    snapshot_id: str
    content: Content
    deterministic: bool = False
    with_wheel: bool = False
    sources: lock.Sources | None = field(default_factory=lock.Sources)
    """Where wheels are asked for; ``None``: nowhere, so that there is no lock with hashes."""
    code: Code | None = None
    """Functions of the runs; ``None``: they are left out."""
    authors: tuple[str, ...] = ()
    licence: str | None = None
    workflow: Mapping[str, str] = field(default_factory=dict)
    """Facts about the workflow that makes the snapshot; left out where it is deterministic."""
    views: Mapping[str, View] = field(default_factory=dict)
    """Files that are rendered by the reports: by path, such as ``report.html``."""


class Made(NamedTuple):
    """The files of a snapshot, and what they lack."""

    files: dict[str, bytes]
    """By path."""
    not_locked: list[str]
    """Distributions of which the lock has no wheel."""
    no_lock: Reason | None
    """Why there is no lock with hashes; ``None``: there is one."""

    @property
    def index_sha256(self) -> str:
        """Hash that identifies its content."""
        return sha256_of(self.files[layout.INDEX])


def create(request: SnapshotRequest, folder: Path, known: Path | None = None) -> Made:
    """Make a snapshot in a folder that is empty or not there, whole or not at all.

    Args:
        request: What it is made of.
        folder: Where it is to lie.
        known: A registry whose ids are taken; ``None``: that beside the folder, if there is one.

    Raises:
        UsageError: the id is no id or taken, or the folder is not empty.
        ContractError: something private would be told.
        StorageError: it cannot be written.
    """
    _refuse_id(request.snapshot_id)
    documents.refuse_names(request.authors, request.licence)
    _refuse_content(folder)
    if not request.deterministic:
        _refuse_taken(folder, known, request.snapshot_id, None)
    made = _make(request)
    _refuse_taken(folder, known, request.snapshot_id, made.index_sha256)
    _write(folder, made.files)
    return made


def _refuse_id(snapshot_id: str) -> None:
    """Refuse an id that is no plain name, or would be masked.

    Raises:
        UsageError: it is one of these.
    """
    if not _ID.fullmatch(snapshot_id):
        text = "--id takes letters, digits, dots, dashes and underscores, at most 100, such as"
        raise UsageError(f"{text} ml-2026-02: got {snapshot_id[:100]!r}")
    if is_private(snapshot_id):
        raise UsageError("--id holds something private, which would be told; choose another")


def _refuse_content(folder: Path) -> None:
    """Refuse a folder that holds anything, or is a file.

    Raises:
        UsageError: it does.
    """
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise UsageError(f"{folder} is a file or a link; choose another --out")
    if (folder / layout.INDEX).exists():
        text = f"{folder} already holds a snapshot, which nothing changes; choose another --out"
        raise UsageError(text)
    if any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; choose an empty or new --out")


def _make(request: SnapshotRequest) -> Made:
    """Return every file of a snapshot.

    Raises:
        UsageError: a result is no run, or the wheel would not be of what measured.
        InvalidResultError: a result is not valid.
        ContractError: something private would be told.
    """
    content = request.content
    if not content.environments:
        text = "nothing tells where these results were measured: their folder has no"
        raise UsageError(f"{text} environment.json; measure again")
    code = request.code.files if request.code else {}
    files = {f"{layout.CODE}/{path}": data for path, data in code.items()} | content.files
    own = _own_wheel(content) if request.with_wheel else None
    if own is not None:
        files[own[0]] = own[1]
    requires = request.code.requires if request.code else ()
    locked, missing, no_lock = lock.build_lock(content, requires, request.sources, own)
    if locked is not None:
        files[layout.LOCK] = locked.encode()
    stated = documents.Statement(
        snapshot_id=request.snapshot_id,
        generated_at=content.finished_at
        if request.deterministic
        else datetime.now(UTC).isoformat(timespec="seconds"),
        deterministic=request.deterministic,
        lock={"hashed": no_lock is None, "without_wheel": missing},
        wheel=own and own[0],
        authors=request.authors,
        licence=request.licence,
    )
    views = {path: view(content) for path, view in request.views.items()}
    files |= {path: data for path, data in views.items() if data is not None}
    files |= documents.documents_of(stated, content, files)
    workflow = {} if request.deterministic else request.workflow
    index = documents.snapshot_index(stated, content, files, workflow)
    files[layout.INDEX] = encode(index)
    refuse_secrets(files)
    return Made(files, missing, no_lock)


def _own_wheel(content: Content) -> tuple[str, bytes]:
    """Return the path and bytes of the wheel of what measured."""
    if documents.harness_sha256(content) not in {harness_sha256(), documents.UNKNOWN}:
        text = "--with-wheel: the results were measured by other sources than those installed here"
        raise UsageError(f"{text}; leave it out, or measure again")
    return f"{layout.HARNESS}/{lock.OWN_WHEEL}", lock.build_own_wheel()


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files beside the folder, and give them its name when they are on the disk."""
    target = folder.absolute()
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        for path, data in files.items():
            write_new(part / path, data)
        part.rename(target)  # takes the place of an empty folder, and of nothing else
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        with suppress(OSError):
            shutil.rmtree(part)


def registry_beside(folder: Path) -> Path:
    """Return the registry of a snapshot's folder: the one that lies next to it."""
    return next_to(folder) / layout.REGISTRY


def load_registry(path: Path) -> SnapshotRegistry:
    """Read a registry.

    Raises:
        UsageError: there is none.
        ContractError: it does not keep its contract.
    """
    if not path.exists():
        text = f"{path}: there is no registry; coldwarm snapshot registry add SNAPSHOT makes one"
        raise UsageError(text)
    return load_as(SnapshotRegistry, path)


def register(folder: Path, path: Path, links: Mapping[str, str]) -> RegisteredSnapshot:
    """Add a snapshot to a registry, which is made where it is not there.

    Adding the same content again changes nothing but its links.

    Raises:
        UsageError: the id is there with another content.
        ContractError: the folder is no snapshot, or the registry does not keep its contract.
        StorageError: the registry cannot be written.
    """
    entry = _entry_of(folder, links)
    known = load_registry(path).snapshots if path.exists() else []
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


def _refuse_taken(folder: Path, known: Path | None, snapshot_id: str, sha256: str | None) -> None:
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
    path = known or registry_beside(folder)
    if known is not None or path.exists():
        for one in load_registry(path).snapshots if path.exists() else ():
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
