"""Every figure as PNG, each a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report.charts import compared as both
from coldwarm.report.charts import drawing, every, sizes
from coldwarm.report.formats import Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import Measured
    from coldwarm.contracts.sweep import SweepReport


def _files(results: Sequence[Measured], _name: str) -> dict[str, bytes]:
    """Return a file for each figure; of several results with the number of theirs before it."""
    return drawing.files(every.named(results), drawing.png, "png")


def _compared(
    comparison: RunComparison, sides: tuple[Measured, Measured], _name: str
) -> dict[str, bytes]:
    """Return the figures of a comparison."""
    figures = both.named(comparison, sides)
    return {f"{figure}.png": drawing.png(chart) for figure, chart in figures}


def _swept(report: SweepReport, _name: str) -> dict[str, bytes]:
    """Return the figures of a sweep."""
    return drawing.files(sizes.named(report), drawing.png, "png")


FORMAT = Format(suffix="", files=_files, compared=_compared, swept=_swept)
