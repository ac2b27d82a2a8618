"""``coldwarm report``: results as a page, and as files for other places."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import rich_click as click

from coldwarm.cli import _options, _output
from coldwarm.cli._commands import Command
from coldwarm.cli._options import say
from coldwarm.cli._output import beside, uncollected, write
from coldwarm.errors import UsageError
from coldwarm.report.formats import load, names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.result import Measured
    from coldwarm.report.formats import Format
    from coldwarm.report.verdict_table import VerdictTable


@click.command("report", cls=Command, example="coldwarm report out/mine --out mine.html")
@click.argument("results", nargs=-1, required=True, type=_options.Input(), metavar="RESULT...")
@click.option(
    "-o",
    "--out",
    type=_options.Output(),
    metavar="PATH",
    help="File; for png and svg, a folder. Default: in the folder of the first RESULT, or beside a "
    "snapshot: report.html, ...",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(names()),
    metavar="FORM",
    default=None,
    help=f"{', '.join(names())}. Default: by the ending of --out, else html.",
)
@click.option(
    "--compare",
    "comparing",
    is_flag=True,
    help="Show what changed from the first RESULT to the second one.",
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="FIELD",
    help="With --compare: compare although FIELD differs.",
)
def _command(
    *,
    results: tuple[Path, ...],
    out: Path | None,
    form: str | None,
    comparing: bool,
    allowed: tuple[str, ...],
) -> None:
    """Write results as a page, a document or pictures.

    RESULT is a folder of `coldwarm run`, `bench`, `patterns run` or `claims run`, or a snapshot,
    packed or not.
    Everything is computed again from what was measured, and the path that was written is printed.
    """
    from coldwarm.catalogue.stored import kind_of
    from coldwarm.runner import sweep_results as sweep

    named = form or _by_ending(out)
    made = load(named)
    if len(results) == 1 and sweep.is_sweep(results[0]):
        write_all = _able(named, lambda one: one.swept, "a sweep")
        place = out or beside(results[0], made, named)
        _write(write_all(sweep.read(results[0]), place.name), place, made)
        return
    if made.begin is not None and any(kind_of(path) is None for path in results):
        made.begin()
    place = out or beside(results[0], made, named)
    with uncollected(), ExitStack() as stack:
        read = [_read(path, stack) for path in results]
        runs = [run for one in read for run in one.runs]
        for run in runs:
            _output.tell(run.path, run.otherwise)
        verdicts = [told for one in read for told in one.verdicts]
        if comparing:
            files = _compared(runs, _options.parts(allowed, "--allow"), named, place.name)
        elif verdicts:
            files = _with_verdicts(runs, verdicts, named, place.name)
        else:
            files = made.files(runs, place.name)
    _write(files, place, made)


def _write(files: Mapping[str, bytes], place: Path, made: Format) -> None:
    """Write the files of a report, and print where they are."""
    folder = place.parent if made.suffix else place
    for name, data in files.items():
        write(folder / name, data)
    say(place)


class _Read(NamedTuple):
    """Contents of a report."""

    runs: list[Measured]
    verdicts: list[VerdictTable]


def _read(path: Path, stack: ExitStack) -> _Read:
    """Read a run, a folder of patterns or claims, or a snapshot; everything is computed again.

    ``stack`` keeps what is unpacked of an archive as long as it is needed.

    Raises:
        UsageError: there is nothing of that kind.
        ContractError: a file does not keep its contract, or says what its evidence does not say.
    """
    from coldwarm.cli._catalogue import judged, results_in
    from coldwarm.runner import recompute

    found = results_in(path, stack)
    runs = [recompute.read(one) for one, kind in found if kind is None]
    return _Read(runs, [judged(one, kind)[1] for one, kind in found if kind is not None])


def _with_verdicts(
    runs: Sequence[Measured], judged: Sequence[VerdictTable], named: str, name: str
) -> dict[str, bytes]:
    """Return the files of verdicts on patterns and claims, with those of runs.

    Raises:
        UsageError: this format has no tables of verdicts.
    """
    write_all = _able(named, lambda one: one.with_verdicts, "patterns and claims")
    return write_all(runs, judged, name)


_F = TypeVar("_F")


def _able(named: str, of: Callable[[Format], _F | None], told: str) -> _F:
    """Return what a format may have.

    Raises:
        UsageError: it does not.
    """
    made = of(load(named))
    if made is None:
        able = ", ".join(one for one in names() if of(load(one)) is not None)
        text = f"{told} cannot be written as {named}: give --format {able}"
        raise UsageError(text)
    return made


def _compared(
    read: Sequence[Measured], allowed: Sequence[str], named: str, name: str
) -> dict[str, bytes]:
    """Return the files of a comparison.

    Raises:
        UsageError: there are not two results, or this format has no comparison.
    """
    from coldwarm.cli import compare
    from coldwarm.contracts.policy import THRESHOLDS, Policy

    if len(read) != len("AB"):
        text = f"--compare takes two results, A and B, and was given {len(read)}"
        raise UsageError(text)
    made = _able(named, lambda one: one.compared, "--compare")
    first, second = read
    comparison = compare.judged([first], [second], Policy(thresholds=dict(THRESHOLDS)), allowed)
    return made(comparison, (first, second), name)


def _by_ending(out: Path | None) -> str:
    """Return the format that a file's ending stands for: a page, where it has none.

    Raises:
        BadParameter: it stands for none, or for one of which a report has many files.
    """
    ending = out.suffix.lower() if out else ""
    if ending.removeprefix(".") in names() and not load(ending.removeprefix(".")).suffix:
        text = f"has a file for each figure: name a folder, and say --format {ending[1:]}"
        raise click.BadParameter(text, param_hint="--out")
    by_suffix = {load(name).suffix: name for name in names()}
    if ending and ending not in by_suffix:
        known = ", ".join(filter(None, by_suffix))
        text = f"no format has files that end in {ending}: write {known}, or say --format"
        raise click.BadParameter(text, param_hint="--out")
    return by_suffix[ending] if ending else "html"
