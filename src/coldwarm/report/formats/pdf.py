"""The validation report: a few pages for print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.charts import compared as both
from coldwarm.report.printed.contents import PAIRED, changes, contents
from coldwarm.report.printed.setting import pdf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured

SUFFIX = ".pdf"


def files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return the report.

    Raises:
        UsageError: the extra ``report`` is not installed.
    """
    return {name: pdf("report.typ", *contents(results), results)}


def compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return what changed from one result to another.

    Raises:
        UsageError: the extra ``report`` is not installed.
    """
    found = both.charts(comparison, *sides, PAIRED)
    return {name: pdf("compared.typ", *changes(comparison, found), sides)}
