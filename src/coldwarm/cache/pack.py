"""A cache in one archive, with the hash of each file, and put in place only where all are right.

The manifest names every file, and may be signed. Nothing in a cache is run, unpickled or linked
here; whoever loads it later runs code of its maker.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import shutil
import stat
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec

import coldwarm
from coldwarm.cache.check import look, refuse_empty
from coldwarm.contracts import codec
from coldwarm.contracts.cache import CachePack, PackedFile, PackedOwner
from coldwarm.errors import ColdwarmError, ContractError, ExitCode, StorageError, UsageError
from coldwarm.publish import archive, signing, storage

if TYPE_CHECKING:
    from collections.abc import Iterator

_MANIFEST, _SIGNATURE, _FILES = "manifest.json", "manifest.json.sig", "cache"
_MOST_BYTES, _MOST_MANIFEST_BYTES, _MOST_SIGNATURE_BYTES = 2**36, 2**26, 2**16
_OWNERS: tuple[PackedOwner, ...] = get_args(PackedOwner)


class UnsignedError(ColdwarmError):
    """A packed cache without the signature that was asked for."""

    exit_code = ExitCode.SIGNATURE


def pack(folder: Path, target: Path, key: Path | None = None) -> CachePack:
    """Write the regular files of a cache into an archive; return its manifest.

    Args:
        folder: The cache.
        target: The archive.
        key: A private key that signs the manifest; ``None``: it is not signed.

    Raises:
        UsageError: no program that is known lies there, or a file's name is none for an archive.
        RefusedError: the key cannot be used.
        StorageError: the archive cannot be written.
    """
    found = look(folder)
    refuse_empty(folder, found.programs)
    files, n_left_out = _files(folder)
    most = storage.MOST_FILES - len((_MANIFEST, _SIGNATURE))
    if len(files) > most:
        text = f"{folder} has more than {most} files"
        raise UsageError(f"{text}; pack a cache that has only what a program needs")
    owners = {one.owner for one in found.programs}
    made = CachePack(
        harness_version=coldwarm.__version__,
        frameworks=[name for name in _OWNERS if name in owners],
        n_programs=len(found.programs),
        files=files,
        n_left_out=n_left_out,
    )
    # Unmasked: a name is what its file is found by.
    manifest = msgspec.json.format(msgspec.json.encode(made), indent=1)
    told = {_MANIFEST: manifest}
    if key is not None:
        told[_SIGNATURE] = signing.signed(manifest, key).signature
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with tarfile.open(part, "w:gz", format=tarfile.PAX_FORMAT, dereference=True) as packed:
            for name, data in told.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                packed.addfile(entry, io.BytesIO(data))
            for one in files:
                packed.add(folder / one.path, f"{_FILES}/{one.path}", recursive=False, filter=_bare)
        part.replace(target)
    except OSError as error:
        text = f"{target} cannot be written: {error.strerror or error}; make room, or name another"
        raise StorageError(text) from None
    finally:
        part.unlink(missing_ok=True)
    return made


def _bare(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return an entry without an owner, and with the mode of a plain file."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


def _files(folder: Path) -> tuple[list[PackedFile], int]:
    """Return the regular files of a folder by path, and how many others there are.

    Raises:
        UsageError: the name of one is none for an archive, or it cannot be read.
    """
    found, n_others = [], 0
    for path in _walked(folder):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            n_others += 1
            continue
        name = path.relative_to(folder).as_posix()
        if storage.refused_name(f"{_FILES}/{name}") is not None:
            raise UsageError(f"{folder} has a file of the name {name!r:.100}, which is not packed")
        try:
            digest = _sha256(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from None
        found.append(
            PackedFile(
                path=name,
                n_bytes=status.st_size,
                sha256=digest,
                modified_ns=max(0, status.st_mtime_ns),
            )
        )
    return sorted(found, key=lambda one: one.path), n_others


def _walked(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if Path(place, name).is_symlink()]
        yield from (Path(place, name) for name in (*names, *links))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(path: Path, folder: Path, key: Path | None = None) -> CachePack:
    """Put a packed cache into a folder, once all of it is what its manifest says.

    Args:
        path: The archive, of which nothing is believed.
        folder: Where the cache is to lie; nothing may be there.
        key: A public key that the manifest must be signed by; ``None``: nobody asks for one.

    Raises:
        UsageError: something is in the folder.
        RefusedError: the archive is broken, or holds what a packed cache has not.
        ContractError: a file is not the one that its manifest names.
        UnsignedError: its signature is missing, or that of another key.
        StorageError: the folder cannot be made.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"{folder} is there; name another folder for the cache")
    made = folder.parent / f".{folder.name}.{secrets.token_hex(4)}"
    try:
        try:
            made.mkdir(parents=True)
        except OSError as error:
            raise StorageError(f"{folder} cannot be made: {error.strerror}; name another") from None
        archive.unpack(path, made, _MOST_BYTES)
        found = _verified(path, made, key)
        for one in found.files:
            os.utime(made / _FILES / one.path, ns=(one.modified_ns, one.modified_ns))
        try:
            (made / _FILES).replace(folder)
        except OSError as error:
            raise StorageError(f"{folder} cannot be made: {error.strerror}; name another") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return found


def _verified(path: Path, made: Path, key: Path | None) -> CachePack:
    """Return the manifest, held against its signature and against every file that was unpacked.

    Raises:
        ContractError: a file is missing, too much, or another one.
        UnsignedError: its signature is missing, or that of another key.
    """
    if not (made / _MANIFEST).is_file():
        raise ContractError(str(path), f"is no packed cache: it has no {_MANIFEST}")
    data = storage.read_limited(made, _MANIFEST, _MOST_MANIFEST_BYTES)
    if key is not None:
        signature = made / _SIGNATURE
        if not signature.is_file():
            raise UnsignedError(f"{path} is not signed; ask its maker for a signed one")
        if not signing.is_signed(
            data, storage.read_limited(made, _SIGNATURE, _MOST_SIGNATURE_BYTES), key
        ):
            raise UnsignedError(f"{path} is not signed by the key in {key}; do not use it")
    found = codec.decode_as(CachePack, data, f"{path}: {_MANIFEST}")
    named = {f"{_FILES}/{one.path}": one for one in found.files}
    there = {one.relative_to(made).as_posix() for one in made.rglob("*") if not one.is_dir()} - {
        _MANIFEST,
        _SIGNATURE,
    }
    if different := sorted(there ^ named.keys()):
        what = "is not named in it" if different[0] in there else "is missing"
        raise ContractError(str(path), f"{different[0]} {what}; do not use it")
    for name, one in named.items():
        if (made / name).stat().st_size != one.n_bytes or _sha256(made / name) != one.sha256:
            raise ContractError(str(path), f"{name} is not the file that was packed; do not use it")
    return found
