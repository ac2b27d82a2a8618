"""Every figure as PNG, each a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.charts import drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.measured import Measured

SUFFIX = ""


def files(results: Sequence[Measured], name: str) -> dict[str, bytes]:  # noqa: ARG001 - the folder's
    """Return a file for each figure; of several results with the number of theirs before it."""
    return {f"{figure}.png": drawing.png(chart) for figure, chart in drawing.every_figure(results)}
