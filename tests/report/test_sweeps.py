"""A sweep as text and figures: nothing is said of sizes that nobody measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.stats.sizes import Pair, swept

from coldwarm.contracts.sweep import SweepReport
from coldwarm.report import markdown, sweep
from coldwarm.report.charts import drawing, sizes
from coldwarm.runner import sweep_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.sweep import SizePoint


def report(points: Sequence[SizePoint]) -> SweepReport:
    one = sweep_results.slice_of(Path("out"), {}, points, complete=True)
    return SweepReport(path="out", name="n", low=100, high=1_000_000, slices=[one])


@pytest.fixture(scope="module")
def crossing() -> SweepReport:
    return report(swept(Pair.crossing(3_000), 100, 1_000_000, np.random.default_rng(0)))


def test_ranges_end_at_sizes_that_were_measured(crossing: SweepReport) -> None:
    said = markdown.text(sweep.document(crossing))
    [border] = crossing.slices[0].by_size[0].borders
    assert f"up to {border.low:,} | a" in said
    assert f"from {border.high:,} | b" in said
    assert f"{border.low:,} to {border.high:,} | a or b | {round(border.estimate):,}" in said


def test_one_that_is_always_the_cheapest_has_one_row() -> None:
    found = report(swept(Pair.without(), 100, 1_000_000, np.random.default_rng(1)))
    said = markdown.text(sweep.document(found))
    assert "100 to 1,000,000 | a" in said
    assert " or " not in said


def test_warm_calls_are_drawn_and_no_map_without_starts(crossing: SweepReport) -> None:
    [(name, curves)] = sizes.named(crossing)
    assert name == "by_size"
    assert b"<svg" in drawing.svg(curves)


def test_nothing_measured_is_no_figure() -> None:
    assert not list(sizes.named(report([])))
    assert sweep.document(report([])).blocks
