"""Signatures over the index of a snapshot, which names the hash of every other file."""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.codec import decode_as, parse
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.snapshot import SnapshotIndex
from coldwarm.errors import ContractError, SystemRefusedError, UsageError, printable
from coldwarm.installing import require
from coldwarm.publish.layout import BUNDLE, INDEX, PUBLIC_KEY, SIGNATURE
from coldwarm.publish.storage import fault_for as for_reason
from coldwarm.publish.storage import read_limited, replace_file
from coldwarm.publish.storage import reader_fault as told
from coldwarm.publish.storage import snapshot_fault as fault

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from coldwarm.contracts.snapshot import SignatureState, SnapshotFault


_LENGTH_BYTES = 64
_MOST_KEY_BYTES = 2**16


def sign(folder: Path, key: Path) -> str:
    """Sign the index of a snapshot, in place of an earlier signature; return the fingerprint.

    Raises:
        RefusedError: the key cannot be read, is none of Ed25519, or has a passphrase.
        ContractError: there is no index, or it does not keep its contract.
        StorageError: the signature cannot be written.
    """
    data = _index_bytes(folder)
    decode_as(SnapshotIndex, data, str(folder / INDEX))
    made = signed(data, key)
    replace_file(folder / PUBLIC_KEY, _written(made.public))
    replace_file(folder / SIGNATURE, made.signature)
    return _fingerprint(made.public)


class Signed(NamedTuple):
    """A signature over some bytes, and the public key that it is held against."""

    signature: bytes
    public: Ed25519PublicKey


def signed(data: bytes, key: Path) -> Signed:
    """Return the signature of a private key over some bytes.

    Raises:
        RefusedError: the key cannot be read, is none of Ed25519, or has a passphrase.
    """
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - of signatures alone
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415 - likewise
        Ed25519PrivateKey,
    )

    text = _key_text(key)
    with _refusing(key, "private"):
        private = serialization.load_pem_private_key(text, password=None)
    if not isinstance(private, Ed25519PrivateKey):
        raise RefusedError(because("key_of_other_kind", file=str(key)))
    return Signed(private.sign(data), private.public_key())


def is_signed(data: bytes, signature: bytes, key: Path) -> bool:
    """Say whether a signature is that of a public key over some bytes.

    Raises:
        RefusedError: the key cannot be read, or is none of Ed25519.
    """
    return _is_of(_key_in(key), signature, data)


def _index_bytes(folder: Path) -> bytes:
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


def _key_in(file: Path) -> Ed25519PublicKey:
    """Return the public key in a PEM file.

    Raises:
        RefusedError: it cannot be read, or is none of Ed25519.
    """
    return _parsed(_key_text(file), file)


def _parsed(text: bytes, file: Path) -> Ed25519PublicKey:
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


def _written(key: Ed25519PublicKey) -> bytes:
    """Return a public key as PEM."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - of signatures alone

    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _is_of(key: Ed25519PublicKey, signature: bytes, data: bytes) -> bool:
    """Say whether a signature is that of the key over these bytes."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - of signatures alone

    if len(signature) != _LENGTH_BYTES:
        return False
    try:
        key.verify(signature, data)
    except InvalidSignature:
        return False
    return True


def _fingerprint(key: Ed25519PublicKey) -> str:
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


_MOST_OF_BUNDLE = 2**20
_SHOWN = 200


class Signer(NamedTuple):
    """Signer that is required."""

    identity: str
    """A mail address, or the address of a workflow."""
    issuer: str
    """Issuer that vouches for the identity, such as https://token.actions.githubusercontent.com."""


def signer(identity: str | None, issuer: str | None) -> Signer | None:
    """Return who must have signed; ``None``: nobody was named.

    Raises:
        UsageError: one of the two is missing.
    """
    if identity is None and issuer is None:
        return None
    if identity is None or issuer is None:
        raise UsageError("--identity and --issuer belong together; give both")
    return Signer(identity, issuer)


def sign_keyless(folder: Path) -> str:
    """Sign the index of a snapshot by the identity of this workflow; return that identity.

    Raises:
        MissingError: sigstore is not installed.
        RefusedError: there is no identity here.
        SystemRefusedError: sigstore's services cannot be asked, or refuse.
        ContractError: there is no index.
    """
    data = _index_bytes(folder)
    oidc, models, signing = _sigstore("oidc", "models", "sign")

    with _asking():
        token = oidc.detect_credential()
    if token is None:
        raise RefusedError(because("no_identity"))
    with _asking():
        identity = oidc.IdentityToken(token)
        context = signing.SigningContext.from_trust_config(models.ClientTrustConfig.production())
        with context.signer(identity) as signer:
            bundle = signer.sign_artifact(data)
    replace_file(folder / BUNDLE, bundle.to_json().encode())
    return str(identity.identity)


def checked_keyless(folder: Path, data: bytes, signer: Signer) -> list[SnapshotFault]:
    """Return what is wrong with the bundle beside an index; nothing: the signer has signed it.

    Raises:
        MissingError: sigstore is not installed.
    """
    errors, models, verify = _sigstore("errors", "models", "verify")

    if not os.path.lexists(folder / BUNDLE):
        return [fault("signature", BUNDLE, "not_signed")]
    try:
        text = read_limited(folder, BUNDLE, _MOST_OF_BUNDLE)
        bundle = models.Bundle.from_json(text)
        who = verify.policy.Identity(identity=signer.identity, issuer=signer.issuer)
        verify.Verifier.production(offline=True).verify_artifact(data, bundle, who)
    except ContractError as error:
        return [told("signature", folder, error)]
    except (errors.Error, ValueError) as error:
        why = _first(str(error))
        return [fault("signature", BUNDLE, "bundle_differs", text=why)]
    return []


def of_another(folder: Path, data: bytes) -> list[SnapshotFault]:
    """Return what is wrong with a bundle that nobody asked for: it must be of this index at least.

    Whose signature it is, and whether it is one, only ``checked`` tells.
    """
    try:
        _, document = parse(read_limited(folder, BUNDLE, _MOST_OF_BUNDLE), f"{folder}/{BUNDLE}")
        digest = document["messageSignature"]["messageDigest"]["digest"]
        of_index = base64.b64decode(digest, validate=True) == hashlib.sha256(data).digest()
    except ContractError as error:
        return [told("signature", folder, error)]
    except (LookupError, TypeError, ValueError):
        of_index = False
    return [] if of_index else [fault("signature", BUNDLE, "bundle_of_other")]


def _first(told: str) -> str:
    """Return the first line of what sigstore says."""
    return printable("".join(told.splitlines()[:1]))[:_SHOWN]


def _sigstore(*names: str) -> list[Any]:
    """Return modules of sigstore.

    Raises:
        MissingError: it is not installed.
    """
    return [require(f"sigstore.{name}", extra="sigstore") for name in names]


@contextmanager
def _asking() -> Iterator[None]:
    """Turn what goes wrong with services that are asked into one line."""
    errors, oidc = _sigstore("errors", "oidc")
    try:
        yield
    except (errors.Error, oidc.IdentityError, OSError) as error:
        why = _first(f"{type(error).__name__}: {error}")
        message = f"sigstore cannot sign here: {why}; it needs a network, and an identity"
        raise SystemRefusedError(message) from None


_MOST_OF_SIGNATURE = 2**16


class Signature(NamedTuple):
    """State of a snapshot's signature."""

    state: SignatureState = "absent"
    key_sha256: str | None = None
    faults: tuple[SnapshotFault, ...] = ()


def checked_key(folder: Path, present: Collection[str], data: bytes, key: Path | None) -> Signature:
    """Check the signature over an index, by the reader's own key or by the one beside it.

    Args:
        folder: Of the snapshot.
        present: The paths of its files.
        data: The bytes of its index.
        key: The public key that it should be of; ``None``: none is known.

    Raises:
        RefusedError: ``key`` cannot be read.
    """
    wanted = None if key is None else _key_in(key)
    if SIGNATURE not in present:
        expected = wanted is not None or PUBLIC_KEY in present
        missing = fault("signature", SIGNATURE, "not_signed")
        return Signature(faults=(missing,) if expected else ())
    try:
        signature = read_limited(folder, SIGNATURE, _MOST_OF_SIGNATURE)
        beside = _beside(folder) if PUBLIC_KEY in present else None
    except ContractError as error:
        return Signature("invalid", None, (told("signature", folder, error),))
    except RefusedError as error:
        wrong = for_reason("signature", PUBLIC_KEY, error.reason)
        return Signature("invalid", None, (wrong,))
    return _held(signature, data, wanted, beside)


def _held(
    signature: bytes,
    data: bytes,
    wanted: Ed25519PublicKey | None,
    beside: Ed25519PublicKey | None,
) -> Signature:
    """Hold a signature against the keys that there are."""
    wrong = []
    if len(signature) != _LENGTH_BYTES:
        needed = _LENGTH_BYTES
        wrong.append(fault("signature", SIGNATURE, "signature_of_other_length", n_needed=needed))
    for key, code in ((wanted, "signature_of_other"), (beside, "signature_differs")):
        if not wrong and key is not None and not _is_of(key, signature, data):
            wrong.append(fault("signature", SIGNATURE, code))
    if wrong:
        return Signature("invalid", None, tuple(wrong))
    if wanted is not None:
        return Signature("valid", _fingerprint(wanted))
    if beside is not None:
        return Signature("unknown_key", _fingerprint(beside))
    return Signature("unchecked")


def _beside(folder: Path) -> Ed25519PublicKey:
    """Return the key that lies beside the signature, written as it is written here."""
    text = read_limited(folder, PUBLIC_KEY, _MOST_OF_SIGNATURE)
    key = _parsed(text, Path(PUBLIC_KEY))
    if _written(key) != text:
        reason = because("key_not_read", file=PUBLIC_KEY, kind="public")
        raise RefusedError(reason)
    return key
