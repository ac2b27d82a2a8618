"""One page for a browser: no network, and nothing beside the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.measured import Measured

SUFFIX = ".html"


def files(results: Sequence[Measured], name: str) -> dict[str, bytes]:
    """Return the page."""
    from coldwarm.report.page.making import page

    return {name: page(results).encode()}
