"""``coldwarm snapshot verify``: whether a snapshot is what its maker has made."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.cli import _options


@click.command("verify")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--public-key",
    "key",
    metavar="PUB.PEM",
    type=click.Path(path_type=Path),
    help="The key of its maker, from elsewhere than the snapshot: it must be signed with it.",
)
@click.option(
    "--identity",
    metavar="NAME",
    help="Who must have signed through sigstore: a mail address, or the address of a workflow.",
)
@click.option("--issuer", metavar="URL", help="Who vouches for that identity.")
@click.option(
    "--strict", is_flag=True, help="Exit with 3 where anything is only hashed, and not proved."
)
@_options.output("json", note=" JSON: the verification, with every fault.")
def command(
    folder: Path,
    *,
    key: Path | None,
    identity: str | None,
    issuer: str | None,
    strict: bool,
    form: str,
) -> int:
    """Check that the snapshot in DIR, or in an archive, is whole and says what it measured.

    Every file must be the one that the index names, and keep its contract; every figure, verdict
    and answer is computed again from the raw samples, page and print are made again. Nothing in it
    is executed. Each file and figure is proved, only hashed, or wrong; what is only hashed is
    counted first.

    Exit status: 0 nothing is wrong; 3 a file is missing, too much, changed, or not of its contract,
    or with --strict anything is only hashed; 5 the contents contradict each other; 6 the signature
    is not of it; 2 there is no snapshot.
    """
    from coldwarm.cli._options import say
    from coldwarm.cli.snapshot import _views
    from coldwarm.contracts.reasons import because
    from coldwarm.errors import ExitCode
    from coldwarm.publish import signing, verify
    from coldwarm.publish.faults import exit_code
    from coldwarm.publish.package import is_packed_here
    from coldwarm.publish.unpacking import unpacked
    from coldwarm.report import checked

    signer = signing.signer(identity, issuer)
    with unpacked(folder) as inside:
        verified = verify.verify(inside, key, signer, views=_views.rendering())
        if not verified.faults and not folder.is_dir() and not is_packed_here(folder, inside):
            verified.not_made[folder.name] = because("packed_otherwise")
        found = verified.told(folder)
    if form == "json":
        _options.print_record(found)
    else:
        for line in checked.lines(found):
            say(line, err=not found.holds)
    return ExitCode.FAILED if strict and found.holds and not found.proved else exit_code(found)
