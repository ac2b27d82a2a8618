"""Costs of many jobs at once are those of each job alone."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.stats.test_planning import bounds, costs, middle_s, planned, total_s, with_new

from coldwarm.contracts.base import CACHE_MODES
from coldwarm.stats.planning import MOST_CALLS, Job, grid

if TYPE_CHECKING:
    from coldwarm.stats.costs import Costs

PLAIN = costs("plain", empty=0.103, filled=0.107, call=0.02, warm=0.0203, compiles=False)
JIT = costs("jit")
ASKED = set(CACHE_MODES)


def without_round(one: Costs, name: str) -> Costs:
    """Give the same candidate with fewer processes of one cost, so that rounds do not match."""
    few = {"7": one.series[name]["0"], "8": one.series[name]["1"]}
    return dataclasses.replace(one, series={**one.series, name: few})


def _best(known: list[Costs], job: Job) -> Costs:
    return min(known, key=lambda one: middle_s(one, job))


@pytest.mark.parametrize(
    "known",
    [
        [PLAIN, JIT],
        [with_new(PLAIN, 0.02), with_new(JIT, 0.3)],
        [PLAIN, without_round(JIT, "empty.two")],
        [PLAIN, JIT, costs("other", empty=0.5, warm=0.011)],
    ],
    ids=["bounded", "measured", "separate", "three"],
)
def test_a_grid_says_what_a_plan_says_of_each_of_its_jobs(known: list[Costs]) -> None:
    found = grid(known, ASKED)
    assert {setting.caches for setting in found} == {"cold", "kept", "warm"}
    measured = all("empty.new" in one.series for one in known)
    for setting in found:
        for at, calls in enumerate(setting.calls):
            job = Job(calls, setting.shapes, setting.processes, setting.caches, measured)
            best = _best(known, job)
            assert setting.cheapest[at] == best.candidate
            apart = []
            for one in known:
                curve = setting.curves[one.candidate]
                assert curve.total_s[at] == pytest.approx(total_s(one, job))
                low, high = bounds(one, job)
                assert curve.low_s is not None
                assert curve.high_s is not None
                assert (curve.low_s[at], curve.high_s[at]) == pytest.approx((low, high))
                if one is not best:
                    margins = {it.candidate: it for it in planned(one, best, job=job).totals}
                    assert margins[best.candidate].margin_s == pytest.approx(0.0, abs=1e-12)
                    margin = margins[one.candidate].margin_low_s
                    apart.append(margin is not None and margin > 0)
            assert setting.told_apart[at] == all(apart)


def test_crossings_are_the_first_calls_at_which_another_is_the_cheapest() -> None:
    known = [PLAIN, JIT, costs("other", empty=0.503, warm=0.0117)]
    for setting in grid(known, ASKED):
        job = Job(1, setting.shapes, setting.processes, setting.caches)

        def cheapest(calls: int, job: Job = job) -> str:
            there = replace(job, calls=calls)
            return min(known, key=lambda one: middle_s(one, there)).candidate

        for calls, name in setting.crossings:
            assert cheapest(calls) == name
            assert cheapest(calls - 1) != name
        last = setting.crossings[-1][1] if setting.crossings else cheapest(setting.shapes)
        assert cheapest(MOST_CALLS) == last


def test_a_candidate_without_the_costs_of_a_setting_is_not_in_it() -> None:
    lacking = dataclasses.replace(JIT, series={**JIT.series, "filled.two": {}})
    found = {(one.caches, one.processes): set(one.curves) for one in grid([PLAIN, lacking], ASKED)}
    assert found["cold", 1] == {"plain", "jit"}
    assert found["warm", 1] == {"plain"}


def test_nothing_is_costed_that_was_not_asked_for() -> None:
    assert grid([PLAIN, JIT], {"cold_process_cold_cache"}) == []
    found = grid([PLAIN, JIT], {"cold_process_cold_cache", "warm_process"})
    assert {setting.caches for setting in found} == {"cold"}
