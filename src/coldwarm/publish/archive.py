"""A snapshot as one archive: packed to the same bytes each time, and unpacked without trust."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
import tempfile
import zlib
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from coldwarm import masking, wire
from coldwarm.contracts.codec import decode_as
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.snapshot import PackageMade, SnapshotIndex
from coldwarm.errors import ContractError, ExitCode, UsageError, shorten
from coldwarm.publish import layout, storage
from coldwarm.publish.storage import next_to, read_inside, replace_file, sha256_of
from coldwarm.runner import temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


_MOST_BYTES_UNPACKED = 2**30
_MOST_RATIO = 100
"""Largest ratio of what is unpacked to what was packed, beyond the first ``_FREE_BYTES``."""
_FREE_BYTES = 2**24
_MOST_HEADER_BYTES = 2**20
_MOST_ZEROS = 2 * tarfile.RECORDSIZE
"""With which an archive ends: two blocks, and what fills the last record."""


class _ArchiveError(RefusedError):
    """An archive that is not unpacked."""

    exit_code = ExitCode.FAILED


class _NoRoomError(RefusedError):
    """A folder of the reader's own that takes nothing more: it says nothing of the archive."""

    exit_code = ExitCode.INTERNAL


@contextmanager
def _writing_into(folder: Path | None) -> Iterator[None]:
    """Tell what fails here as an error of the folder for temporary files.

    Raises:
        NoRoomError: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        named = os.environ.get("TMPDIR", "TMPDIR") if folder is None else tempfile.gettempdir()
        text = error.strerror or str(error)
        raise _NoRoomError(because("no_room_to_unpack", folder=named, text=text)) from None


class _Entry(tarfile.TarInfo):
    """An entry whose headers are not larger than any name needs: they are read into memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Entry:
        """Return an entry as its header describes it."""
        entry = super().frombuf(buf, encoding, errors)
        if entry.type not in {tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE} and (
            entry.size > _MOST_HEADER_BYTES
        ):
            message = "a header is too large"
            raise tarfile.ReadError(message)
        return entry


class _Stream:
    """Contents of one gzip member, as far as it may go on; and nothing comes after it."""

    def __init__(self, raw: BinaryIO, most_bytes: int) -> None:
        """Read from a file."""
        self._raw, self._most, self._left = raw, most_bytes, most_bytes
        self._member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        self._n_bytes = self._ends_at = 0
        """Bytes read, and those up to the last one that is not zero."""

    def read(self, size: int) -> bytes:
        """Return the next bytes; fewer at the end alone.

        Raises:
            ArchiveError: there are more than there may be.
            EOFError: the member is cut off.
        """
        data = b""
        while len(data) < size and not self._member.eof:
            packed = self._member.unconsumed_tail or self._raw.read(storage.CHUNK_BYTES)
            if not packed:
                raise EOFError("it is cut off")
            data += self._member.decompress(packed, size - len(data))
        self._left -= len(data)
        if self._left < 0:
            raise _ArchiveError(because("archive_too_large", limit_bytes=self._most))
        if full := data.rstrip(b"\0"):
            self._ends_at = self._n_bytes + len(full)
        self._n_bytes += len(data)
        return data

    def ends_after(self, n_bytes: int) -> bool:
        """Say whether the file ends with this member, and that after so many bytes and zeros."""
        while self.read(storage.CHUNK_BYTES):
            pass
        more = self._member.unused_data or self._raw.read(1)
        zeros = self._n_bytes - n_bytes
        return not more and self._ends_at <= n_bytes and zeros <= _MOST_ZEROS


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Give the folder of a snapshot: as it is, or with what is in an archive until the end.

    Raises:
        RefusedError: there is neither.
        ArchiveError: the archive is none, or holds what no snapshot has.
    """
    if path.is_dir():
        yield path
        return
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise RefusedError(because("no_snapshot", folder=str(path)))
    with ExitStack() as stack:
        with _writing_into(None):
            folder = stack.enter_context(temporary.made())
        unpack(path, folder)
        found = list(folder.iterdir())
        if len(found) != 1 or not found[0].is_dir():
            raise _ArchiveError(because("archive_of_several", file=str(path)))
        masking.name_path(found[0], str(path))
        yield found[0]


def unpack(path: Path, folder: Path, largest_bytes: int = _MOST_BYTES_UNPACKED) -> None:
    """Unpack an archive of which nothing is believed into a folder: plain files, inside of it.

    Raises:
        RefusedError: the archive is broken, larger than that, or holds anything else.
    """
    packed_bytes = path.stat().st_size
    most_bytes = min(largest_bytes, _FREE_BYTES + _MOST_RATIO * packed_bytes)
    try:
        with path.open("rb") as raw:
            stream: Any = _Stream(raw, most_bytes)
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Entry) as archive:
                for number, entry in enumerate(archive):
                    if number >= storage.MOST_FILES:
                        many = because("too_much", n_files=number, limit_bytes=_MOST_BYTES_UNPACKED)
                        raise _ArchiveError(many)
                    _place(archive, entry, folder)
                if not stream.ends_after(archive.offset):
                    raise _ArchiveError(because("archive_more", file=str(path)))
    except (OSError, EOFError, zlib.error, tarfile.TarError, ValueError, OverflowError) as error:
        text = f"{type(error).__name__}: {error}"
        raise _ArchiveError(because("archive_broken", file=str(path), text=text)) from None


def _place(archive: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    """Write one entry into a folder, as a new file."""
    name = shorten(entry.name)
    if entry.name.startswith("/"):  # which the filter would make a path inside
        raise _ArchiveError(because("archive_leads_out", path=name))
    try:
        entry = tarfile.data_filter(entry, str(folder))
    except tarfile.FilterError:
        raise _ArchiveError(because("archive_leads_out", path=name)) from None
    refused = storage.refused_name(entry.name)
    if refused is not None:
        raise _ArchiveError(because("archive_entry", refused, path=name))
    if entry.isdir():
        with _writing_into(folder):
            (folder / entry.name).mkdir(parents=True, exist_ok=True)
        return
    source = archive.extractfile(entry) if entry.isreg() and not entry.issparse() else None
    if source is None:
        why = because("no_plain_file", kind="a link, a device or the like")
        raise _ArchiveError(because("archive_entry", why, path=name))
    target = folder / entry.name
    with _writing_into(folder):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            file = target.open("xb", buffering=0)
        except (FileExistsError, NotADirectoryError):
            raise _ArchiveError(because("archive_twice", path=name)) from None
    with file, source:
        while chunk := source.read(storage.CHUNK_BYTES):
            with _writing_into(folder):
                wire.write_all(file.fileno(), chunk)


_SUFFIX = ".tar.gz"
_HEAD = b"\x1f\x8b\x08" + bytes(5) + b"\x02\xff"
"""Header of gzip: no name, no date, no remark; how well it is compressed, and no system."""
_SIGNATURES = (layout.SIGNATURE, layout.PUBLIC_KEY, layout.BUNDLE)


def package(folder: Path, target: Path | None = None) -> PackageMade:
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
    path = target or next_to(folder) / f"{index.snapshot_id}{_SUFFIX}"
    digest = sha256_of(archive)
    if path.exists() and path.read_bytes() != archive:
        raise UsageError(f"{path} is there and is not this archive; name another with --out")
    replace_file(path, archive)
    replace_file(path.with_name(f"{path.name}.sha256"), f"{digest}  {path.name}\n".encode())
    return PackageMade(path=str(path), sha256=digest, n_bytes=len(archive), n_files=len(files))


def _indexed(folder: Path, index: SnapshotIndex) -> dict[str, bytes]:
    files = {}
    for one in index.artifacts:
        data = read_inside(folder, one.path)
        if len(data) != one.bytes or sha256_of(data) != one.sha256:
            what = "is not the file that the index of its snapshot names; restore it"
            raise ContractError(str(folder / one.path), what)
        files[one.path] = data
    return files


def _refuse_others(folder: Path, named: set[str]) -> None:
    for entry in storage.list_files(folder):
        if entry.path not in named or entry.reason is not None:
            path = folder / entry.path
            what = "is not in the index of its snapshot; take it away"
            raise ContractError(str(path), what)


def is_packed_here(archive: Path, folder: Path) -> bool:
    """Say whether an archive that was unpacked into a folder has no byte but those of its files.

    That is: whether packing the folder makes the same archive, however well that is compressed.
    """
    index = decode_as(SnapshotIndex, read_inside(folder, layout.INDEX), layout.INDEX)
    names = [layout.INDEX, *(row.path for row in index.artifacts)]
    names += [name for name in _SIGNATURES if (folder / name).exists()]
    made, held = _Sink(), hashlib.sha256()
    _write(made, index.snapshot_id, {name: partial(read_inside, folder, name) for name in names})
    with archive.open("rb") as raw:
        head = raw.read(len(_HEAD))
        raw.seek(0)
        with gzip.GzipFile(fileobj=raw) as stream:
            while data := stream.read(storage.CHUNK_BYTES):
                held.update(data)
    return head == _HEAD and held.digest() == made.sha256.digest()


class _Sink:
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
