"""Signatures over the index of a snapshot, which names the hash of every other file.

A signature is detached, Ed25519 (RFC 8032), the raw 64 bytes: ``openssl pkeyutl -verify -rawin``
checks it without coldwarm. The public key lies beside it, so that damage is found without a key;
whose key it is, only a key that the reader has from elsewhere can tell.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.files.codec import decode_as
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.snapshot import SnapshotIndex
from coldwarm.publish.layout import INDEX, PUBLIC_KEY, SIGNATURE
from coldwarm.publish.opening import read_limited
from coldwarm.publish.writing import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

LENGTH_BYTES = 64
_MOST_KEY_BYTES = 2**16


class _Signed(NamedTuple):
    """What was signed, and with which key."""

    snapshot_id: str
    fingerprint: str
    """Of the public key: see ``fingerprint``."""


def sign(folder: Path, key: Path) -> _Signed:
    """Sign the index of a snapshot; an earlier signature is replaced.

    Raises:
        RefusedError: the key cannot be read, is none of Ed25519, or has a passphrase.
        ContractError: there is no index, or it does not keep its contract.
        StorageError: the signature cannot be written.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - of signatures alone
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - likewise
        Ed25519PrivateKey,
    )

    data = index_bytes(folder)
    index = decode_as(SnapshotIndex, data, str(folder / INDEX))
    text = _key_text(key)
    with _refusing(key, "private"):
        private = serialization.load_pem_private_key(text, password=None)
    if not isinstance(private, Ed25519PrivateKey):
        raise RefusedError(because("key_of_other_kind", file=str(key)))
    public = private.public_key()
    replace_file(folder / PUBLIC_KEY, written(public))
    replace_file(folder / SIGNATURE, private.sign(data))
    return _Signed(index.snapshot_id, fingerprint(public))


def index_bytes(folder: Path) -> bytes:
    """Return the index of a snapshot as it lies there.

    Raises:
        RefusedError: there is none.
        ContractError: it cannot be read.
    """
    if not folder.is_dir():
        raise RefusedError(because("no_snapshot", folder=str(folder)))
    if not os.path.lexists(folder / INDEX):
        raise RefusedError(because("no_snapshot", folder=str(folder)))
    return read_limited(folder, INDEX)


def key_in(file: Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file.

    Raises:
        RefusedError: it cannot be read, or is none of Ed25519.
    """
    return parsed(_key_text(file), file)


def parsed(text: bytes, file: Path) -> Ed25519PublicKey:
    """Return the public key in PEM text that was read from a file.

    Raises:
        RefusedError: it is none of Ed25519.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - of signatures alone
    from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - likewise

    with _refusing(file, "public"):
        key = serialization.load_pem_public_key(text)
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise RefusedError(because("key_of_other_kind", file=str(file)))
    return key


def written(key: Ed25519PublicKey) -> bytes:
    """Return a public key as PEM."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - of signatures alone

    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def is_of(key: Ed25519PublicKey, signature: bytes, data: bytes) -> bool:
    """Say whether a signature is that of the key over these bytes."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - of signatures alone

    if len(signature) != LENGTH_BYTES:
        return False
    try:
        key.verify(signature, data)
    except InvalidSignature:
        return False
    return True


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a public key as DER, 64 hex digits."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - of signatures alone

    der = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return hashlib.sha256(der).hexdigest()


def _key_text(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise RefusedError(because("key_not_read", file=str(file), kind="PEM"))
        with file.open("rb") as stream:
            return stream.read(_MOST_KEY_BYTES)
    except OSError:
        raise RefusedError(because("key_not_read", file=str(file), kind="PEM")) from None


@contextmanager
def _refusing(file: Path, kind: str) -> Iterator[None]:
    """Turn what cryptography raises of a file into a refusal."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - of signatures alone

    try:
        yield
    except TypeError:  # a key that wants a passphrase
        raise RefusedError(because("key_encrypted", file=str(file))) from None
    except (ValueError, UnsupportedAlgorithm):
        raise RefusedError(because("key_not_read", file=str(file), kind=kind)) from None
