"""Numbers that figures are drawn from follow from the observations."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from tests.report.charts import conftest
from tests.stats import results

from coldwarm.contracts.observation import Block, LoopAccount
from coldwarm.report.charts import every
from coldwarm.report.charts.workload import workloads
from coldwarm.runner import recompute
from coldwarm.stats import outcome, planning
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.steady import detect, steady_places

if TYPE_CHECKING:
    from coldwarm.contracts.result import CaseResult


@pytest.mark.parametrize("seed", range(20))
def test_steady_places_are_those_of_the_samples(seed: int) -> None:
    """GIVEN blocks with warm-up, slow first calls, and jumps THEN places name the samples kept."""
    rng = np.random.default_rng(seed)
    blocks = []
    for number in range(int(rng.integers(1, 6))):
        samples = 1 + 0.01 * rng.exponential(size=int(rng.integers(3, 30)))
        samples[: int(rng.integers(0, 4))] *= 1 + rng.exponential()
        blocks.append((samples * (2.0 if number == 0 else 1.0)).tolist())
    flat = [sample for block in blocks for sample in block]
    places = steady_places(blocks)
    assert tuple(flat[place] for place in places) == detect(blocks).samples


def _data(cases: list[CaseResult], kind: str) -> dict[str, list[dict[str, Any]]]:
    """Return what a figure of a workload is drawn from; nothing: there is no figure."""
    (workload,) = workloads(cases)
    found = every.charts(workload, kinds=[kind])
    return {name: [dict(row) for row in rows] for one in found for name, rows in one.data.items()}


def test_processes_lie_end_to_end() -> None:
    cases = _computed([conftest.case("numpy")])
    data = _data(cases, "warm_series")
    begins = 0
    for one in data["warm_processes"]:
        assert one["begins"] == begins
        assert one["steady_at"] == one["begins"] + one["steady_from"]
        own = [row for row in data["warm_samples"] if row["process"] == one["process"]]
        assert [row["at"] for row in own] == list(range(begins, begins + one["n_samples"]))
        assert own[one["steady_from"]]["steady"]
        assert not any(row["steady"] for row in own if row["warming"])
        begins += one["n_samples"]
    assert len(data["warm_processes"]) == len(warm_processes(cases[0].observations))


def test_a_block_with_compiles_is_in_no_figure() -> None:
    case = conftest.case("numpy", n=2)
    compiled = Block(order=9, start_s=9.0, batch=1, samples_s=[1.0] * 9, compiles=1)
    seen = [
        msgspec.structs.replace(one, blocks=[compiled, *one.blocks]) if one.blocks else one
        for one in case.observations
    ]
    changed = msgspec.structs.replace(case, observations=seen)
    kind, name = "warm_series", "warm_samples"
    assert _data(_computed([changed]), kind)[name] == _data(_computed([case]), kind)[name]


def test_memory_only_grows() -> None:
    """THEN stages lie end to end up to the second call, and the last end is the peak."""
    data = _data(_computed([conftest.case("numpy")]), "memory")
    stages = [row for row in data["memory_stages"] if row["cache_mode"] == conftest.EMPTY]
    assert stages[0]["from_bytes"] == 0
    for before, after in pairwise(stages):
        assert after["from_bytes"] == before["to_bytes"]
        assert after["to_bytes"] >= after["from_bytes"]
    (median,) = [row for row in data["memory_medians"] if row["cache_mode"] == conftest.EMPTY]
    assert stages[-1]["to_bytes"] == median["median_bytes"]
    assert {row["peak_bytes"] for row in data["memory_peaks"]} == {140_000_000}


def test_new_shapes_beside_other_calls() -> None:
    data = _data(_computed([conftest.case("numpy", n=4)]), "new_shape")
    kinds = [row["kind"] for row in data["shape_calls"]]
    assert kinds.count("new") == 8
    assert kinds.count("first") == 4
    assert kinds.count("warm") == 4
    assert _data(_computed([results.case()]), "new_shape") == {}


def test_totals_meet_where_another_is_cheapest() -> None:
    """THEN at a crossing the totals of the two are as near as one call makes them."""
    cases = _computed([conftest.case(name) for name in conftest.NAMES])
    found = planning.settings(cases)
    assert {one.caches for one in found} == {"cold", "warm"}
    rows = planning.totals(found)
    assert all(row.low_s is None or row.low_s <= row.total_s for row in rows)
    crossings = planning.crossings(found)
    assert crossings
    for one in crossings:
        (setting,) = [it for it in found if it.caches == one.caches]
        at = {
            name: float(np.interp(one.calls, setting.calls, curve.total_s))
            for name, curve in setting.curves.items()
        }
        assert one.total_s == at[one.candidate]
        assert one.total_s <= min(at.values()) * 1.01


def test_a_scenario_has_no_totals_by_calls() -> None:
    assert planning.settings([conftest.case("numpy", scenario=True)]) == []


def test_shares_are_those_of_the_loops() -> None:
    case = conftest.case("numpy", n=2, scenario=True)
    seen = []
    for one in case.observations:
        parts = one.first_call_parts
        assert parts
        loop = LoopAccount(
            total_s=2.0,
            loop_s=parts.rest_s + 1,
            steps_s=[1.0, parts.rest_s],
            compiling_steps=[0],
            parts=parts,
            compiling_share=0.25,
        )
        seen.append(msgspec.structs.replace(one, loop=loop))
    (made,) = _computed([msgspec.structs.replace(case, observations=seen)])
    (chart,) = every.of_result(workloads([made]))
    for name in ("loop_shares", "loop_medians"):
        assert {row["share"] for row in chart.data[name]} == {0.25}


def test_a_wrong_answer_is_named() -> None:
    """GIVEN one output that is wrong THEN its candidate is named, and the worst error told."""
    good, bad = conftest.case("numpy"), conftest.case("numba")
    first, *others = bad.observations
    assert first.gate
    gate = msgspec.structs.replace(first.gate, passed=False, max_relative_error=0.5)
    wrong = msgspec.structs.replace(
        bad, observations=[msgspec.structs.replace(first, gate=gate), *others]
    )
    found = outcome.of_group([good, wrong])
    assert found
    assert found.failed == ("numba",)
    assert found.worst == 0.5
    assert found.n_passed == found.n_checked - 1
    assert outcome.of_group([]) is None


def _computed(cases: list[CaseResult]) -> list[CaseResult]:
    """Return the cases with their summaries, as they are read."""
    return [recompute.computed(case, case.observations) for case in cases]
