"""One page for a browser: no network, and nothing beside the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.page import making

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.measured import Measured

SUFFIX = ".html"


def files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return the page."""
    return {name: making.page(results).encode()}


def compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], name: str
) -> dict[str, bytes]:
    """Return the page of what changed from one result to another."""
    return {name: making.compared(comparison, sides).encode()}
