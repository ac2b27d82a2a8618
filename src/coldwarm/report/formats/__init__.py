"""Formats of a report: a file for each format, which defines its ``FORMAT``.

It is named as ``--format`` names it. It reads nothing and writes nothing. Results are as
``runner.recompute`` returns them. What only an extra brings is imported inside its functions, by
``coldwarm.installing.require``.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured
    from coldwarm.contracts.sweep import SweepReport
    from coldwarm.report.verdict_table import VerdictTable


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format; its functions return what to write by name.

    One file has the name that they are given last, several have names of their own in the folder.
    """

    suffix: str
    """Suffix of the one file; empty where it writes several into a folder."""
    files: Callable[[Sequence[Measured], str], dict[str, bytes]]
    """Return the files of a report."""
    compared: Callable[[RunComparison, tuple[Measured, Measured], str], dict[str, bytes]] | None = (
        None
    )
    """Return what changed from one result to another."""
    with_verdicts: (
        Callable[[Sequence[Measured], Sequence[VerdictTable], str], dict[str, bytes]] | None
    ) = None
    """Return results with verdicts on patterns and claims, or these alone."""
    swept: Callable[[SweepReport, str], dict[str, bytes]] | None = None
    """Return what a sweep of sizes has found."""
    begin: Callable[[], None] | None = None
    """Begin what takes long and needs no result: called before results are read."""


def names() -> list[str]:
    """Return the formats that there are."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def load(name: str) -> Format:
    """Return a format.

    Raises:
        ImportError: there is none of this name.
    """
    made: Format = import_module(f"{__name__}.{name}").FORMAT
    return made
