"""``coldwarm snapshot sign``: a signature over a snapshot's index."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.errors import printable
from coldwarm.private.masking import masked


@click.command("sign")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--key",
    required=True,
    metavar="KEY.PEM",
    type=click.Path(path_type=Path),
    help="Private key of Ed25519: openssl genpkey -algorithm ed25519 -out key.pem makes one.",
)
def command(folder: Path, key: Path) -> None:
    """Sign the snapshot in DIR.

    Writes `snapshot_index.json.sig`, the raw 64 bytes of Ed25519 over `snapshot_index.json`, and
    the public key beside it. The index names the hash of every file, so the signature holds for
    all of them. A snapshot that does not verify is not signed.
    """
    from coldwarm.publish import layout, signing
    from coldwarm.publish.verifying import whole

    whole.require(folder, folder, unsigned=True)
    signed = signing.sign(folder, key)
    click.echo(f"Signed {signed.snapshot_id} with the key SHA-256 {signed.fingerprint}")
    click.echo(printable(masked(f"  {folder / layout.SIGNATURE}")))
    click.echo(printable(masked(f"  {folder / layout.PUBLIC_KEY}")))
