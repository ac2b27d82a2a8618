"""What a number of calls costs, asked of a comparison in Python."""

from __future__ import annotations

import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.policy import Policy
from coldwarm.errors import UsageError
from coldwarm.inprocess.bench import BenchComparison
from coldwarm.stats.bench_report import bench_report
from coldwarm.stats.outcome import with_comparisons


@pytest.fixture
def found() -> BenchComparison:
    numpy = results.case(1, case="numpy_matmul_512_f32", candidate="numpy", baseline=True)
    cases = with_comparisons([numpy, results.case(2, speed=0.5)])
    suite = samples.index()
    report, planned = bench_report(suite, cases, "out", Policy())
    return BenchComparison(report, suite, {case.candidate: case for case in cases}, planned)


def test_the_total_of_a_number_of_calls_is_told(found: BenchComparison) -> None:
    planned = found.plan(300)
    (plan,) = planned.report.plans
    assert plan.calls == 300
    assert {one.candidate for one in plan.totals} == set(found.cases)
    assert "300 calls" in repr(planned)
    assert "The answer" not in repr(planned)
    assert found.plan(300, caches="filled").report.plans[0].caches == "warm"


@pytest.mark.parametrize("asked", [{"calls": 0}, {"calls": 1, "caches": "cold"}])
def test_what_cannot_be_planned_is_refused(found: BenchComparison, asked: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="give whole numbers from 1, and one of empty, filled"):
        found.plan(**asked)  # type: ignore[arg-type]  # as somebody may call it
