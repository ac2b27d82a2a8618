"""Signing without a key of one's own, through sigstore: by an identity such as a CI workflow's.

Signing asks sigstore's services, so it needs a network. Checking needs none: it holds the bundle
against the roots of trust that the installed ``sigstore`` has brought.
"""

from __future__ import annotations

import base64
import hashlib
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from coldwarm.contracts.files.strict import parse
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ContractError, SystemRefusedError, UsageError, printable
from coldwarm.installing import require
from coldwarm.publish.layout import BUNDLE
from coldwarm.publish.opening import read_limited
from coldwarm.publish.signing import index_bytes
from coldwarm.publish.verifying.faults import fault, told
from coldwarm.publish.writing import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from coldwarm.contracts.checked import SnapshotFault

_MOST_BYTES = 2**20
_SHOWN = 200


class Signer(NamedTuple):
    """Who must have signed."""

    identity: str
    """A mail address, or the address of a workflow."""
    issuer: str
    """Who vouches for the identity, such as https://token.actions.githubusercontent.com."""


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


def sign(folder: Path) -> str:
    """Sign the index of a snapshot by the identity of this workflow; return that identity.

    Raises:
        MissingError: sigstore is not installed.
        RefusedError: there is no identity here.
        SystemRefusedError: sigstore's services cannot be asked, or refuse.
        ContractError: there is no index.
    """
    data = index_bytes(folder)
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


def checked(folder: Path, data: bytes, signer: Signer) -> list[SnapshotFault]:
    """Return what is wrong with the bundle beside an index; nothing: the signer has signed it.

    Raises:
        MissingError: sigstore is not installed.
    """
    errors, models, verify = _sigstore("errors", "models", "verify")

    if not os.path.lexists(folder / BUNDLE):
        return [fault("signature", BUNDLE, "not_signed")]
    try:
        text = read_limited(folder, BUNDLE, _MOST_BYTES)
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
        _, document = parse(read_limited(folder, BUNDLE, _MOST_BYTES), f"{folder}/{BUNDLE}")
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
