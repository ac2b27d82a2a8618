"""Whether the index is what was signed, and by whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ContractError
from coldwarm.publish import signing
from coldwarm.publish.layout import PUBLIC_KEY, SIGNATURE
from coldwarm.publish.opening import read_limited
from coldwarm.publish.verifying.faults import fault, for_reason, told

if TYPE_CHECKING:
    from collections.abc import Collection

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from coldwarm.contracts.checked import SignatureState, SnapshotFault

_MOST_BYTES = 2**16


class Signature(NamedTuple):
    """What is known of a snapshot's signature."""

    state: SignatureState = "absent"
    key_sha256: str | None = None
    faults: tuple[SnapshotFault, ...] = ()


def checked(folder: Path, present: Collection[str], data: bytes, key: Path | None) -> Signature:
    """Check the signature over an index, by the reader's own key or by the one beside it.

    Args:
        folder: Of the snapshot.
        present: The paths of its files.
        data: The bytes of its index.
        key: The public key that it should be of; ``None``: none is known.

    Raises:
        RefusedError: ``key`` cannot be read.
    """
    wanted = None if key is None else signing.key_in(key)
    if SIGNATURE not in present:
        expected = wanted is not None or PUBLIC_KEY in present
        missing = fault("signature", SIGNATURE, "not_signed")
        return Signature(faults=(missing,) if expected else ())
    try:
        signature = read_limited(folder, SIGNATURE, _MOST_BYTES)
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
    if len(signature) != signing.LENGTH_BYTES:
        needed = signing.LENGTH_BYTES
        wrong.append(fault("signature", SIGNATURE, "signature_of_other_length", n_needed=needed))
    for key, code in ((wanted, "signature_of_other"), (beside, "signature_differs")):
        if not wrong and key is not None and not signing.is_of(key, signature, data):
            wrong.append(fault("signature", SIGNATURE, code))
    if wrong:
        return Signature("invalid", None, tuple(wrong))
    if wanted is not None:
        return Signature("valid", signing.fingerprint(wanted))
    if beside is not None:
        return Signature("unknown_key", signing.fingerprint(beside))
    return Signature("unchecked")


def _beside(folder: Path) -> Ed25519PublicKey:
    """Return the key that lies beside the signature, written as it is written here."""
    text = read_limited(folder, PUBLIC_KEY, _MOST_BYTES)
    key = signing.parsed(text, Path(PUBLIC_KEY))
    if signing.written(key) != text:
        reason = because("key_not_read", file=PUBLIC_KEY, kind="public")
        raise RefusedError(reason)
    return key
