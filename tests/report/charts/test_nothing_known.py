"""Results in which nothing is known of what a figure is about have no such figure."""

from __future__ import annotations

import pytest
from tests.stats import repeating

from coldwarm.report.charts import every
from coldwarm.report.charts.workload import workloads
from coldwarm.stats.answers import answers


@pytest.mark.parametrize("kind", ["cold", "first_call", "memory"])
def test_a_figure_without_rows_is_none(kind: str) -> None:
    cases = list(repeating.run(1, n=6).cases.values())  # no phase and no part is known
    (found,) = workloads(cases, answers(cases))
    for chart in every.charts(found, kinds=[kind]):
        assert all(chart.data.values())
