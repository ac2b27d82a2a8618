"""``coldwarm export``: results in the formats of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Command
from coldwarm.cli._options import say
from coldwarm.errors import ContractError, InvalidResultError, UsageError
from coldwarm.integrations import formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from coldwarm.integrations.figures import Commit, Exported

_SHOWN = 3
"""Names that a line tells."""


@click.command("export", cls=Command, example="coldwarm export out/mine --format pyperf")
@click.argument("result", type=_options.Input(), metavar="RESULT")
@click.option(
    "--format",
    "form",
    type=click.Choice(formats.names()),
    metavar="FORM",
    required=True,
    help=f"Tool that is to read it: {', '.join(formats.names())}.",
)
@click.option(
    "-o",
    "--out",
    type=_options.Output(),
    metavar="PATH",
    help="File to write; for asv, the folder of its results. Default: standard output.",
)
@click.option(
    "--commit",
    metavar="REV",
    help="For asv: the commit that was measured. Default: those of `bench --before`.",
)
def _command(*, result: Path, form: str, out: Path | None, commit: str | None) -> None:
    """Export a result to another tool's format.

    RESULT is a folder of `coldwarm run` or `bench`, or a snapshot of one. A figure's name ends in
    its cache mode and what was measured, such as fit/warm_process/call. What was rejected or failed
    is left out, and standard error says so.
    """
    from coldwarm.cli._results import run_in
    from coldwarm.integrations import figures
    from coldwarm.runner import recompute

    made = formats.load(form)
    if out is None and not made.is_one_file:
        text = f"{form} has a folder of files; name it with --out"
        raise UsageError(text)
    by_commit = made.joined is not None
    if commit is not None and not by_commit:
        text = f"{form} does not keep results by commit; leave --commit out"
        raise UsageError(text)
    measured = recompute.read(run_in(result))
    _output.tell(result, measured.otherwise)
    found = figures.exported(measured)
    reasons = {one.name: why for one in found.figures if (why := made.why_not(one))}
    found = figures.without(found, reasons)
    if by_commit:
        found = _with_commits(found, commit)
    _tell(found.left_out)
    if not found.figures:
        raise InvalidResultError(f"{result} has no valid figure that {form} could hold")
    _write(made, made.files(found), out)


def _tell(left_out: Iterable[tuple[str, str]]) -> None:
    """Say on standard error what is not exported, a line for each reason."""
    names: dict[str, list[str]] = {}
    for name, why in left_out:
        names.setdefault(why, []).append(name)
    for why, found in names.items():
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        say(f"not exported: {', '.join(found[:_SHOWN])}{more}: {why}", err=True)


def _with_commits(made: Exported, commit: str | None) -> Exported:
    """Return the figures with the commits that they are of, and without those of none.

    Raises:
        UsageError: a commit is not in this repository, or none is known at all.
    """
    from dataclasses import replace

    from coldwarm.integrations import figures

    known: dict[str, Commit] = {}
    commits: dict[str, Commit] = {}
    none: dict[str, str] = {}
    for one in made.figures:
        own = one.case.protocol.own
        revision = (own and own.revision) or commit
        if revision is None:
            none[one.name] = "the commit that was measured is not known; name it with --commit"
            continue
        known[revision] = known.get(revision) or _commit(revision)
        commits[one.case.case] = known[revision]
    if made.figures and not commits:
        text = "asv keeps results by commit, and this one does not say its own: give --commit"
        raise UsageError(text)
    return replace(figures.without(made, none), commits=commits)


def _commit(revision: str) -> Commit:
    from coldwarm.integrations.figures import Commit
    from coldwarm.runner.functions.revisions import committed

    sha, committed_s = committed(Path.cwd(), revision)
    return Commit(sha, 1000 * committed_s)


def _write(made: formats.Writer, files: Mapping[str, bytes], out: Path | None) -> None:
    from coldwarm.cli._output import write

    if out is None:
        click.echo(_only(files.values()), nl=False)
        return
    for name, data in files.items():
        place = out / name if name else out
        write(place, _joined(made, place, name, data) if place.exists() else data)
    say(out, err=True)


def _only(texts: Iterable[bytes]) -> str:
    (text,) = texts
    return text.decode()


def _joined(made: formats.Writer, place: Path, name: str, data: bytes) -> bytes:
    """Return a file with what it has already, where the format keeps many results in one.

    Raises:
        ContractError: what it has cannot be read.
    """
    if made.joined is None:
        return data
    try:
        return made.joined(name, place.read_bytes(), data)
    except (OSError, ValueError, RecursionError) as error:
        raise ContractError(
            str(place), f"cannot be added to: {error}; name another --out"
        ) from None
