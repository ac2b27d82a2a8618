"""An archive of a snapshot: the same bytes from the same snapshot, with its digest beside it."""

from __future__ import annotations

import gzip
import io
import tarfile
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.files.codec import decode_as
from coldwarm.contracts.files.faults import fault
from coldwarm.contracts.snapshot import SnapshotIndex
from coldwarm.errors import UsageError
from coldwarm.publish import layout
from coldwarm.publish.writing import next_to, read_inside, replace_file, sha256_of

if TYPE_CHECKING:
    from pathlib import Path

SUFFIX = ".tar.gz"
_SIGNATURES = (layout.SIGNATURE, layout.PUBLIC_KEY, layout.BUNDLE)


class Packed(NamedTuple):
    """An archive that was written."""

    path: Path
    sha256: str
    bytes: int
    n_files: int


def package(folder: Path, target: Path | None = None) -> Packed:
    """Write the archive of a snapshot, and ``….sha256`` beside it as ``sha256sum`` reads it.

    The archive holds the files that the index names, the index, and its signatures, in order of
    their paths, with no owner, one date and one mode.

    Args:
        folder: The snapshot.
        target: The archive; ``None``: the snapshot's id, next to its folder.

    Raises:
        ContractError: the folder is no snapshot, or a file is not the one that the index names.
        UsageError: there is another file where the archive would be.
        StorageError: it cannot be written.
    """
    data = read_inside(folder, layout.INDEX)
    index = decode_as(SnapshotIndex, data, str(folder / layout.INDEX))
    files = {layout.INDEX: data, **_indexed(folder, index)}
    for name in _SIGNATURES:
        if (folder / name).exists():
            files[name] = read_inside(folder, name)
    _refuse_others(folder, set(files))
    archive = _packed(index.snapshot_id, files)
    path = target or next_to(folder) / f"{index.snapshot_id}{SUFFIX}"
    digest = sha256_of(archive)
    if path.exists() and path.read_bytes() != archive:
        raise UsageError(f"{path} is there and is not this archive; name another with --out")
    replace_file(path, archive)
    replace_file(path.with_name(f"{path.name}.sha256"), f"{digest}  {path.name}\n".encode())
    return Packed(path, digest, len(archive), len(files))


def _indexed(folder: Path, index: SnapshotIndex) -> dict[str, bytes]:
    files = {}
    for one in index.artifacts:
        data = read_inside(folder, one.path)
        if len(data) != one.bytes or sha256_of(data) != one.sha256:
            what = "is not the file that the index of its snapshot names; restore it"
            raise fault(str(folder / one.path), None, None, what)
        files[one.path] = data
    return files


def _refuse_others(folder: Path, named: set[str]) -> None:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name not in named and (path.is_symlink() or not path.is_dir()):
            what = "is not in the index of its snapshot; take it away"
            raise fault(str(path), None, None, what)


def _packed(snapshot_id: str, files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    # No name and no date in the header of gzip, no owner and one date in those of tar.
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{snapshot_id}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o644, 0
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
