"""``coldwarm report``: results as a page, and as files for other places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.report.formats.base import load, names

if TYPE_CHECKING:
    from coldwarm.report.formats.base import Format


@click.command("report")
@click.argument(
    "results", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULT..."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File to write, or folder for figures. Default: report.html, … in the directory of the "
    "first RESULT.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(names()),
    default=None,
    help="html: a page for a browser, which needs no network. svg and png: a file for each "
    "figure. Default: what the ending of --out says, else html.",
)
def command(*, results: tuple[Path, ...], out: Path | None, form: str | None) -> None:
    """Make a page of results: RESULT is what `coldwarm run` or `coldwarm bench` wrote to.

    Nothing is measured. The figures are computed again from the observations, and an artifact that
    says anything else is refused. Prints the path of what it has written.
    """
    from coldwarm.runner.stored import reading

    named = form or _by_ending(out)
    made = load(named)
    read = [reading.read(path) for path in results]
    place = out or _beside(results[0], made, named)
    files = made.files(read, place.name)
    written = (
        {place / name: data for name, data in files.items()}
        if not made.SUFFIX
        else {place.with_name(name): data for name, data in files.items()}
    )
    for path, data in written.items():
        _write(path, data)
    click.echo(str(place))


def _by_ending(out: Path | None) -> str:
    """Return the format that a file's ending stands for."""
    by_suffix = {load(name).SUFFIX: name for name in names()}
    return by_suffix.get(out.suffix.lower() if out else "", "html") if out else "html"


def _beside(result: Path, made: Format, name: str) -> Path:
    folder = result if result.is_dir() else result.parent
    return folder / f"report{made.SUFFIX}" if made.SUFFIX else folder / f"report-{name}"


def _write(path: Path, data: bytes) -> None:
    from coldwarm.errors import storage_error

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise storage_error(path, error) from None
