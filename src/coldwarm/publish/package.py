"""An archive of a snapshot: the same bytes from the same snapshot, with its digest beside it."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.codec import decode_as
from coldwarm.contracts.parsing import fault
from coldwarm.contracts.snapshot import SnapshotIndex
from coldwarm.errors import UsageError
from coldwarm.publish import layout, opening
from coldwarm.publish.writing import next_to, read_inside, replace_file, sha256_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

SUFFIX = ".tar.gz"
_HEAD = b"\x1f\x8b\x08" + bytes(5) + b"\x02\xff"
"""Of gzip: no name, no date, no remark; how well it is compressed, and no system."""
_CHUNK_BYTES = 2**20
_SIGNATURES = (layout.SIGNATURE, layout.PUBLIC_KEY, layout.BUNDLE)


class _Packed(NamedTuple):
    """An archive that was written."""

    path: Path
    sha256: str
    bytes: int
    n_files: int


def package(folder: Path, target: Path | None = None) -> _Packed:
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
    return _Packed(path, digest, len(archive), len(files))


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
    for entry in opening.entries(folder):
        if entry.path not in named or entry.reason is not None:
            path = folder / entry.path
            what = "is not in the index of its snapshot; take it away"
            raise fault(str(path), None, None, what)


def is_packed_here(archive: Path, folder: Path) -> bool:
    """Say whether an archive that was unpacked into a folder has no byte but those of its files.

    That is: whether packing the folder makes the same archive, however well that is compressed.
    """
    index = decode_as(SnapshotIndex, read_inside(folder, layout.INDEX), layout.INDEX)
    names = [layout.INDEX, *(row.path for row in index.artifacts)]
    names += [name for name in _SIGNATURES if (folder / name).exists()]
    made, held = _Digest(), hashlib.sha256()
    _write(made, index.snapshot_id, {name: partial(read_inside, folder, name) for name in names})
    with archive.open("rb") as raw:
        head = raw.read(len(_HEAD))
        raw.seek(0)
        with gzip.GzipFile(fileobj=raw) as stream:
            while data := stream.read(_CHUNK_BYTES):
                held.update(data)
    return head == _HEAD and held.digest() == made.sha256.digest()


class _Digest:
    """A file that is not kept."""

    def __init__(self) -> None:
        self.sha256, self._n_bytes = hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        """Take the next bytes."""
        self.sha256.update(data)
        self._n_bytes += len(data)
        return len(data)

    def tell(self) -> int:
        """Return how many were written."""
        return self._n_bytes


def _packed(snapshot_id: str, files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    # No name and no date in the header of gzip, no owner and one date in those of tar.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as zipped:
        _write(zipped, snapshot_id, {name: partial(bytes, data) for name, data in files.items()})
    return buffer.getvalue()


def _write(target: Any, snapshot_id: str, files: Mapping[str, Callable[[], bytes]]) -> None:  # noqa: ANN401 - what tarfile writes to
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, read in sorted(files.items()):
            data = read()
            entry = tarfile.TarInfo(f"{snapshot_id}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), 0o644, 0
            archive.addfile(entry, io.BytesIO(data))
