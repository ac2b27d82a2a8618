"""``coldwarm snapshot package``: a snapshot as one archive."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._options import say


@click.command(name="package")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The archive; default the snapshot's id with .tar.gz, beside DIR.",
)
@_options.output("json")
def command(directory: Path, out: Path | None, form: str) -> None:
    """Pack a snapshot into an archive with its digest beside it, the same bytes each time.

    Only files that the index of the snapshot names go in, with the index and its signatures. A file
    that is missing, changed or added ends this with exit status 3.
    """
    from coldwarm.contracts.codec import without_secrets
    from coldwarm.contracts.snapshot import PackageMade
    from coldwarm.publish.package import package
    from coldwarm.report import snapshot

    packed = package(directory, out)
    told = PackageMade(
        path=str(packed.path), sha256=packed.sha256, n_bytes=packed.bytes, n_files=packed.n_files
    )
    if form == "json":
        _options.print_record(told)
        return
    for line in snapshot.packed(without_secrets(told)):
        say(line)
