"""``coldwarm report``: results as a page, and as files for other places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli.report.page import beside, uncollected, write
from coldwarm.errors import UsageError, printable
from coldwarm.report.formats.base import load, names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.measured import Measured


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
@click.option(
    "--compare",
    "comparing",
    is_flag=True,
    help="Of two results, A and B: what changed from A to B, with verdicts, and both in the same "
    "figures.",
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="FIELD",
    help="With --compare: compare although FIELD differs, as `coldwarm compare` does.",
)
def command(
    *,
    results: tuple[Path, ...],
    out: Path | None,
    form: str | None,
    comparing: bool,
    allowed: tuple[str, ...],
) -> None:
    """Make a page of results: RESULT is what `coldwarm run` or `coldwarm bench` wrote to.

    Nothing is measured. The figures are computed again from the observations, and an artifact that
    says anything else is refused. Prints the path of what it has written.
    """
    from coldwarm.runner.stored import reading

    named = form or _by_ending(out)
    made = load(named)
    if begin := getattr(made, "begin", None):
        begin()
    place = out or beside(results[0], made, named)
    with uncollected():
        read = [reading.read(path) for path in results]
        if comparing:
            files = _compared(read, _options.parts(allowed, "--allow"), named, place.name)
        else:
            files = made.files(read, place.name)
    folder = place.parent if made.SUFFIX else place
    for name, data in files.items():
        write(folder / name, data)
    click.echo(printable(str(place)))


def _compared(
    read: Sequence[Measured], allowed: Sequence[str], named: str, name: str
) -> dict[str, bytes]:
    """Return the files of a comparison.

    Raises:
        UsageError: there are not two results, or this format has no comparison.
    """
    from coldwarm.cli.compare import judged
    from coldwarm.contracts.policy import THRESHOLDS, Policy

    if len(read) != len("AB"):
        text = f"--compare takes two results, A and B, and was given {len(read)}"
        raise UsageError(text)
    made = getattr(load(named), "compared", None)
    if made is None:
        able = ", ".join(one for one in names() if hasattr(load(one), "compared"))
        text = f"--compare cannot be written as {named}: give --format {able}"
        raise UsageError(text)
    first, second = read
    comparison = judged([first], [second], Policy(thresholds=dict(THRESHOLDS)), allowed)
    files: dict[str, bytes] = made(comparison, (first, second), name)
    return files


def _by_ending(out: Path | None) -> str:
    """Return the format that a file's ending stands for: a page, where it stands for none.

    Raises:
        BadParameter: it stands for a format of which a report has many files.
    """
    ending = out.suffix.lower() if out else ""
    if ending.removeprefix(".") in names() and not load(ending.removeprefix(".")).SUFFIX:
        text = f"has a file for each figure: name a folder, and say --format {ending[1:]}"
        raise click.BadParameter(text, param_hint="--out")
    by_suffix = {load(name).SUFFIX: name for name in names()}
    return by_suffix.get(ending, "html") if ending else "html"
