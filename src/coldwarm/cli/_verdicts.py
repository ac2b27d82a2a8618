"""What the commands of patterns and of claims share: judging again, and comparing two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldwarm.cli import _options
from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from coldwarm.runner.catalogue.stored import Kind

_SINGULAR = {"patterns": "pattern", "claims": "claim"}


def print_judged(
    path: Path, kind: Kind, form: str, table: Callable[[Sequence[Any]], RenderableType]
) -> ExitCode:
    """Judge stored results again, and print which verdicts are not the stored ones.

    Raises:
        UsageError: there are none.
        ContractError: a file does not keep its contract, or says what its observations do not say.
    """
    from coldwarm.publish.verdicts import opened
    from coldwarm.report.catalogue import changes
    from coldwarm.report.shown import PlainConsole
    from coldwarm.runner.catalogue import stored
    from coldwarm.stats.catalogue.again import changed

    with opened(path, kind) as found:
        again = stored.judged(found)
    differing = changed(found.verdicts, again.verdicts)
    if form == "json":
        named = _SINGULAR[kind]
        _options.print_rows(
            [{named: one.name, "stored": one.a, "judged": one.b} for one in differing]
        )
    else:
        console = PlainConsole()
        console.print(table(again.results))
        console.print(changes.not_judged(again.not_judged))
        console.print(changes.table(differing, _SINGULAR[kind]))
    return ExitCode.FAILED if differing else ExitCode.FINE


def print_compared(a: Path, b: Path, kind: Kind, form: str) -> ExitCode:
    """Print which verdicts differ between two stored results.

    Raises:
        UsageError: there are none.
        ContractError: a file does not keep its contract.
    """
    from coldwarm.publish.verdicts import opened
    from coldwarm.report.catalogue import changes
    from coldwarm.report.shown import PlainConsole
    from coldwarm.stats.catalogue.again import changed

    with opened(a, kind) as first, opened(b, kind) as second:
        differing = changed(first.verdicts, second.verdicts)
    if form == "json":
        named = _SINGULAR[kind]
        _options.print_rows([{named: one.name, "a": one.a, "b": one.b} for one in differing])
    else:
        PlainConsole().print(changes.table(differing, _SINGULAR[kind]))
    return ExitCode.REGRESSION if differing else ExitCode.FINE
