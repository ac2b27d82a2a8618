"""Results in which nothing is known of what a figure is about have no such figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from tests.stats import repeating

from coldwarm.report.charts import every
from coldwarm.report.charts.workload import workloads
from coldwarm.stats.answers import answers

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult


def _unknown(case: CaseResult) -> CaseResult:
    """Return a case whose phases have names that nobody knows, and that has no summary of them."""
    seen = [
        replace(one, phases=[replace(phase, name="other") for phase in one.phases])
        for one in case.observations
    ]
    return replace(case, observations=seen, cold=[])


@pytest.mark.parametrize("kind", ["cold", "first_call", "memory"])
def test_a_figure_without_rows_is_none(kind: str) -> None:
    cases = [_unknown(case) for case in repeating.run(1, n=6).cases.values()]
    (found,) = workloads(cases, answers(cases))
    assert every.charts(found, kinds=[kind]) == []
