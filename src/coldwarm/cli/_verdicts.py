"""What the commands of patterns and of claims share: printing, judging again, comparing two."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click

from coldwarm.cli import _options
from coldwarm.cli._options import say
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from coldwarm.contracts.catalogue import ClaimResults, Kind, PatternResults
    from coldwarm.runner.catalogue.stored import Again, Stored

_SINGULAR = {"patterns": "pattern", "claims": "claim"}


@contextmanager
def opened(path: Path, kind: Kind) -> Iterator[Stored]:
    """Give the results of a folder, of its index, of a snapshot, or of the archive of one.

    Raises:
        UsageError: there are none.
        ArchiveError: the archive is none, or holds what no snapshot has.
        ContractError: the results do not keep their contract.
    """
    from coldwarm.contracts.catalogue import INDEXES
    from coldwarm.publish.unpacking import unpacked
    from coldwarm.runner.catalogue import stored

    if path.is_file() and path.name != INDEXES[kind]:
        with unpacked(path) as folder:
            yield stored.read(folder / kind, kind)
    elif (path / kind / INDEXES[kind]).is_file():
        yield stored.read(path / kind, kind)
    else:
        yield stored.read(path, kind)


def print_results(
    results: PatternResults | ClaimResults,
    folder: Path,
    form: str,
    table: Callable[[], RenderableType],
) -> ExitCode:
    """Print what was measured into a folder; return what the command ends with."""
    from coldwarm.contracts import codec
    from coldwarm.contracts.environment import ENVIRONMENT, Environment
    from coldwarm.report.catalogue import as_markdown, told
    from coldwarm.report.shown import PlainConsole

    if form == "json":
        _options.print_record(results)
    elif form == "markdown":
        environment = codec.load_as(Environment, folder / ENVIRONMENT)
        click.echo(as_markdown(told(codec.without_secrets(results), environment)), nl=False)
    else:
        console = PlainConsole()
        console.print(table())
        say(f"Artifacts: {folder}", before="\n")
    failed = any(one.verdict == "failed" for one in results.results)
    return ExitCode.FAILED if failed else ExitCode.FINE


def print_judged(
    path: Path, kind: Kind, form: str, table: Callable[[Sequence[Any]], RenderableType]
) -> ExitCode:
    """Judge stored results again, and print which verdicts are not the stored ones.

    Raises:
        UsageError: there are none.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    from coldwarm.report import catalogue
    from coldwarm.report.shown import PlainConsole
    from coldwarm.stats.catalogue import changed

    with opened(path, kind) as found:
        again = found.again
    differing = changed(found.verdicts, again.verdicts)
    if form == "json":
        named = _SINGULAR[kind]
        rows = [{named: one.name, "stored": one.a, "judged": one.b} for one in differing]
        rows += [
            {named: one.name, "stored": found.verdicts[one.name], "judged": None}
            for one in again.not_judged
        ]
        _options.print_rows(rows)
    else:
        console = PlainConsole()
        console.print(table(again.results))
        console.print(catalogue.not_judged(again.not_judged))
        console.print(catalogue.table_of_changes(differing, _SINGULAR[kind]))
    nothing = bool(again.results) and len(again.not_judged) == len(again.results)
    return ExitCode.FAILED if differing or nothing else ExitCode.FINE


def _proved(path: Path, found: Stored) -> Again:
    """Return stored results judged again; what is stored otherwise is told.

    Raises:
        UsageError: a run is not there.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    from coldwarm.cli._stored import tell

    for error in found.held.faults:
        raise error
    tell(path, found.held.otherwise)
    return found.again


def print_compared(a: Path, b: Path, kind: Kind, form: str) -> ExitCode:
    """Print which verdicts differ between two stored results, each judged again.

    Raises:
        UsageError: there are none.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    from coldwarm.report import catalogue
    from coldwarm.report.shown import PlainConsole
    from coldwarm.stats.catalogue import changed

    with opened(a, kind) as first, opened(b, kind) as second:
        sides = [_proved(path, one) for path, one in ((a, first), (b, second))]
    differing = changed(*(one.verdicts for one in sides))
    unproved = [one.reasons for one in sides]
    if form == "json":
        named = _SINGULAR[kind]
        rows = [
            {
                named: one.name,
                "a": one.a,
                "b": one.b,
                "not_proved": [
                    s for s, left in zip("ab", unproved, strict=True) if one.name in left
                ],
            }
            for one in differing
        ]
        _options.print_rows(rows)
    else:
        console = PlainConsole()
        for side, one in zip("AB", sides, strict=True):
            console.print(catalogue.not_judged(one.not_judged, side))
        console.print(catalogue.table_of_changes(differing, _SINGULAR[kind], *unproved))
    return ExitCode.REGRESSION if differing else ExitCode.FINE
