"""Results in which nothing is known of what a figure is about have no such figure."""

from __future__ import annotations

import msgspec
import pytest
from tests.stats import results

from coldwarm.report.charts import every
from coldwarm.report.charts.workload import workloads
from coldwarm.stats.answers import answers


@pytest.mark.parametrize("kind", ["cold", "first_call", "memory"])
def test_a_figure_without_rows_is_none(kind: str) -> None:
    case = results.case(6)
    known = [msgspec.structs.replace(one, phases=[]) for one in case.observations]
    case = msgspec.structs.replace(case, observations=known)
    (found,) = workloads([case], answers([case]))
    for chart in every.charts(found, kinds=[kind]):
        assert all(chart.data.values())
