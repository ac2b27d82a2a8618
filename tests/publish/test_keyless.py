"""Signing by an identity, as far as that goes without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from coldwarm.publish import layout, signing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.publish.conftest import Call

oidc = pytest.importorskip("sigstore.oidc")
WHO = ("--identity", "https://example.org/w.yml@main", "--issuer", "https://issuer.example.org")


def bundle_of(data: bytes) -> str:
    """Return what looks like a bundle over an index; nobody has signed it."""
    digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
    return json.dumps({"messageSignature": {"messageDigest": {"digest": digest}}})


def test_a_bundle_that_nobody_asked_for_is_of_this_index(snapshot: Path, call: Call) -> None:
    (snapshot / layout.BUNDLE).write_text(bundle_of(b"another"))
    err = call.refused("verify", snapshot, code=6)
    assert f"{layout.BUNDLE}: is no bundle of sigstore over this" in err
    (snapshot / layout.BUNDLE).write_text(bundle_of((snapshot / layout.INDEX).read_bytes()))
    assert call("verify", snapshot)[0] == 0
    assert call("verify", snapshot, "--strict")[0] == 3


def test_without_an_identity_it_says_what_is_needed(
    snapshot: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc, "detect_credential", lambda: None)
    err = call.refused("sign", snapshot, "--keyless")
    assert "no identity here that sigstore could sign by" in err
    assert not (snapshot / layout.BUNDLE).exists()


def test_without_a_network_it_says_so_in_one_line(
    snapshot: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sigstore.errors import NetworkError

    def fail(_: object) -> None:
        raise NetworkError

    monkeypatch.setattr(oidc, "detect_credential", lambda: "a token")
    monkeypatch.setattr(oidc, "IdentityToken", fail)
    err = call.refused("sign", snapshot, "--keyless", code=70)
    assert "sigstore cannot sign here: NetworkError" in err
    assert "needs a network" in err


def test_what_sigstore_gives_is_written_beside_the_index(
    snapshot: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIVEN services that answer THEN the index is what they are asked to sign."""
    from contextlib import contextmanager

    from sigstore.models import ClientTrustConfig
    from sigstore.sign import SigningContext

    signed: list[bytes] = []

    class Made:
        identity = "me@example.org"

        def sign_artifact(self, data: bytes) -> Made:
            signed.append(data)
            return self

        def to_json(self) -> str:
            return bundle_of(signed[-1])

        @contextmanager
        def signer(self, _: object) -> Any:
            yield self

    monkeypatch.setattr(oidc, "detect_credential", lambda: "a token")
    monkeypatch.setattr(oidc, "IdentityToken", lambda _: Made())
    monkeypatch.setattr(ClientTrustConfig, "production", lambda: None)
    monkeypatch.setattr(SigningContext, "from_trust_config", lambda _: Made())
    code, out, _ = call("sign", snapshot, "--keyless")
    assert code == 0
    assert out.splitlines()[0] == "Signed as ***"  # an address is private
    assert signed == [(snapshot / layout.INDEX).read_bytes()]
    code, out, _ = call("verify", snapshot)
    assert code == 0
    assert f"{layout.BUNDLE}: not checked: --identity and --issuer" in out


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"mediaType": 1}', "\x00"])
def test_a_broken_bundle_is_no_signature(snapshot: Path, call: Call, text: str) -> None:
    (snapshot / layout.BUNDLE).write_text(text)
    assert layout.BUNDLE in call.refused("verify", snapshot, code=6)
    err = call.refused("verify", snapshot, *WHO, code=6)
    assert f"{layout.BUNDLE}: is no signature through sigstore" in err


def test_a_missing_bundle_is_no_signature(snapshot: Path, call: Call) -> None:
    err = call.refused("verify", snapshot, *WHO, code=6)
    assert f"{layout.BUNDLE}: is not there: the snapshot is not signed" in err


def test_without_the_package_it_says_what_to_install(
    snapshot: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sigstore", None)
    for arguments in (("sign", snapshot, "--keyless"), ("verify", snapshot, *WHO)):
        err = call.refused(*arguments)
        assert "sigstore is not installed: in a clone of coldwarm, pip install '.[sigstore]'" in err


def test_identity_and_issuer_belong_together(snapshot: Path, call: Call) -> None:
    code, _, err = call("verify", snapshot, "--identity", "a")
    assert code == 2
    assert "--identity and --issuer belong together" in err
    code, _, err = call("sign", snapshot)
    assert code == 2
    assert "--keyless" in err


def test_the_bundle_is_not_read_without_end(snapshot: Path) -> None:
    (snapshot / layout.BUNDLE).write_bytes(b" " * 2**21)
    signer = signing.Signer("a", "b")
    [fault] = signing.checked_keyless(snapshot, b"", signer)
    assert fault.kind == "signature"
