"""``coldwarm snapshot sign``: a signature over a snapshot's index."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.cli._options import say


@click.command("sign")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--key",
    metavar="KEY.PEM",
    type=click.Path(path_type=Path),
    help="Private key of Ed25519: openssl genpkey -algorithm ed25519 -out key.pem makes one.",
)
@click.option(
    "--keyless",
    is_flag=True,
    help="Sign by the identity of this workflow through sigstore, which needs a network.",
)
def command(folder: Path, key: Path | None, *, keyless: bool) -> None:
    """Sign the snapshot in DIR.

    Writes `snapshot_index.json.sig`, the raw 64 bytes of Ed25519 over `snapshot_index.json`, and
    the public key beside it. The index names the hash of every file, so the signature holds for
    all of them. A snapshot that does not verify is not signed.
    """
    from coldwarm.publish import layout, signing, verify

    if (key is None) != keyless:
        text = "give --key KEY.PEM, or --keyless to sign by an identity"
        raise click.UsageError(text)
    verify.require(folder, folder, unsigned=True)
    if key is None:
        identity = signing.sign_keyless(folder)
        said, names = f"as {identity}", [layout.BUNDLE]
    else:
        signed = signing.sign(folder, key)
        said = f"with the key SHA-256 {signed.fingerprint}"
        names = [layout.SIGNATURE, layout.PUBLIC_KEY]
    for text in (f"Signed {said}", *(f"  {folder / name}" for name in names)):
        say(text)
