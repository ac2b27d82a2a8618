"""The answer names a cheapest candidate where it is one, and nobody where that cannot be known."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from benchmarks import answers as simulated
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stats import results

from coldwarm.contracts.reasons import because
from coldwarm.stats.answers import answer, answers, by_calls, changes
from coldwarm.stats.costs import WARM_CALL, Costs
from coldwarm.stats.outcome import with_comparisons

if TYPE_CHECKING:
    from coldwarm.contracts.answer import ByCalls
    from coldwarm.contracts.result import CaseResult

FEWEST = 3
"""Rounds from which intervals tell who is the cheapest; two tell what they put far apart."""
OTHER = "numpy_matmul_512_f32"
LINES = st.tuples(st.floats(0.01, 100.0, allow_nan=False), st.floats(1e-6, 1.0, allow_nan=False))
"""What a start takes, and a warm call, in seconds."""


def costs(name: str, start_s: float, call_s: float, n: int = 5, noise: float = 1e-6) -> Costs:
    """Give a candidate whose rounds hardly differ."""
    factors = 1 + noise * np.linspace(-1, 1, n)
    figures = {"empty.first": start_s, "empty.two": start_s + call_s, WARM_CALL: call_s}
    series = {
        key: dict(zip(map(str, range(n)), (value * factors).tolist(), strict=True))
        for key, value in figures.items()
    }
    return Costs(name, name, name == "a", compiles=False, series=series)


def told(by: ByCalls) -> list[tuple[int, int | None, str | None]]:
    return [(one.from_calls, one.to_calls, one.cheapest) for one in by.ranges]


@settings(deadline=None, max_examples=60)
@given(st.lists(LINES, min_size=2, max_size=4))
def test_ranges_are_without_gap_and_hold_the_truth(lines: list[tuple[float, float]]) -> None:
    known = [costs("abcd"[place], *line) for place, line in enumerate(lines)]
    by = by_calls(known, "process")
    assert by.ranges[0].from_calls == 1
    assert by.ranges[-1].to_calls is None
    for before, after in pairwise(by.ranges):
        assert before.to_calls is not None
        assert after.from_calls == before.to_calls + 1
        assert (before.among, before.same_within) != (after.among, after.same_within)
    for one in by.ranges:
        assert one.among
        assert (one.cheapest is None) == (len(one.among) > 1)
    assert not simulated.wrong(by, dict(zip("abcd", lines, strict=False)))
    other = by_calls(known[::-1], "process")
    assert told(other) == told(by)


def test_several_candidates_take_turns() -> None:
    known = [costs("a", 0.1, 0.1), costs("b", 1.1, 0.01), costs("c", 11.1, 0.001)]
    by = by_calls(known, "process")
    assert [one.cheapest for one in by.told] == ["a", "b", "c"]
    assert [one.cheapest for one in by.estimates] == ["a", "b", "c"]
    assert [one.value for one in by.estimates] == pytest.approx([1, 12, 1112], abs=2)
    assert by.cheapest_at(1) == "a"
    assert by.cheapest_at(100) == "b"
    assert by.cheapest_at(10**9) == "c"


def test_candidates_that_cannot_be_told_apart_are_told_together() -> None:
    noisy = [costs("b", 1.0, 0.01, noise=0.05), costs("c", 1.0, 0.01, noise=-0.05)]
    by = by_calls([costs("a", 0.1, 0.1), *noisy], "process")
    assert by.ranges[0].cheapest == "a"
    assert by.ranges[-1].among == ["b", "c"]
    assert by.told[-1] == by.ranges[-1]


@pytest.mark.parametrize(("n", "same"), [(9, 0.02), (FEWEST, None)])
def test_candidates_that_cost_the_same_are_the_same(n: int, same: float | None) -> None:
    known = [costs("a", 1.0, 0.01, n), costs("b", 1.0, 0.01, n, noise=-1e-6)]
    by = by_calls([*known, costs("c", 9.0, 0.1, n)], "process")
    assert [(one.among, one.same_within) for one in by.ranges] == [(["a", "b"], same)]
    assert by_calls(known, "process", threshold=1e-9).ranges[0].same_within is None


def test_processes_of_other_rounds_can_cost_the_same() -> None:
    n = 9
    a, b = costs("a", 1.0, 0.01, n), costs("b", 1.0, 0.01, n)
    later = {
        name: {str(int(key) + n): value for key, value in series.items()}
        for name, series in b.series.items()
    }
    by = by_calls([a, dataclasses.replace(b, series=later)], "process")
    assert [one.same_within for one in by.ranges] == [0.02]


def test_too_few_processes_give_no_winner_and_are_named() -> None:
    few = costs("b", 100.0, 1.0, n=1)
    by = by_calls([costs("a", 0.1, 0.1), few], "process")
    assert by.ranges == []
    assert by.reason == because("no_other_total")
    assert by.left_out["b"] == because("few_processes", n_processes=1, n_needed=2)
    third = by_calls([costs("a", 0.1, 0.1), few, costs("c", 1.0, 0.1)], "process")
    assert told(third) == [(1, None, "a")]
    assert [*third.left_out] == ["b"]


@pytest.mark.parametrize(
    ("n", "times", "cheapest"),
    [(FEWEST, 16.0, "a"), (FEWEST, 3.0, None), (2, 40.0, "a"), (2, 9.0, None)],
)
def test_few_rounds_tell_what_each_of_them_puts_far_apart(
    n: int, times: float, cheapest: str | None
) -> None:
    a, b = costs("a", 1.0, 1.0, n=n, noise=0.3), costs("b", times, 1.0, n=n, noise=-0.3)
    by = by_calls([a, b], "process")
    assert by.cheapest_at(1) == cheapest
    assert by.cheapest_at(10**6) is None


@pytest.mark.parametrize(("times", "cheapest"), [(16.0, "a"), (3.0, None)])
def test_few_processes_of_other_rounds_tell_it_too(times: float, cheapest: str | None) -> None:
    a, b = costs("a", 1.0, 1.0, n=FEWEST, noise=0.3), costs("b", times, 1.0, n=FEWEST, noise=0.3)
    later = {
        name: {str(int(key) + FEWEST): value for key, value in series.items()}
        for name, series in b.series.items()
    }
    by = by_calls([a, dataclasses.replace(b, series=later)], "process")
    assert by.cheapest_at(1) == cheapest


def test_rounds_of_calls_alone_count_for_calls() -> None:
    many = 9
    a, b = costs("a", 1.0, 1.0, many, noise=0.04), costs("b", 40.0, 1.1, many, noise=-0.04)
    starts = [
        {
            name: {key: one for key, one in series.items() if name == WARM_CALL or key in "048"}
            for name, series in each.series.items()
        }
        for each in (a, b)
    ]
    known = [
        dataclasses.replace(each, series=series)
        for each, series in zip((a, b), starts, strict=True)
    ]
    assert told(by_calls(known, "process")) == [(1, None, "a")]


def test_a_candidate_without_the_costs_of_a_reading_is_named() -> None:
    by = by_calls([costs("a", 0.1, 0.1), costs("b", 1.0, 0.01)], "cached")
    assert [reason.code for reason in by.left_out.values()] == ["no_valid_process_in"] * 2


def group(**changes: Any) -> list[CaseResult]:
    baseline = results.case(1, case=OTHER, candidate="numpy", baseline=True)
    return with_comparisons([baseline, results.case(2, speed=0.5, **changes)])


def test_the_answer_of_a_group_of_cases() -> None:
    found = answer(group())
    assert found.baseline == "numpy"
    assert found.warm is not None
    assert found.warm.fastest == "jax_jit_cpu"
    assert found.cold is not None
    assert found.cold.fastest == "jax_jit_cpu"
    by = found.reading("process")
    assert by is not None
    assert told(by) == [(1, None, "jax_jit_cpu")]
    assert by.confidence == pytest.approx(0.95)
    assert (found.n_processes, found.n_rounds, found.provenance) == (12, 6, "measured_here")


def test_what_failed_is_named_with_its_reason() -> None:
    failed = {"status": "failed", "reason": because("correctness_gate")}
    found = answer(
        [group()[0], msgspec.structs.replace(group()[1], comparisons=[], observations=[], **failed)]
    )
    assert found.not_measured == {"jax_jit_cpu": because("correctness_gate")}
    assert found.leads == []


def test_a_scenario_has_no_ranges_and_says_why() -> None:
    loops = [msgspec.structs.replace(one, scenario=True) for one in group()]
    found = answer(loops)
    assert found.by_calls == []
    assert found.null_reasons["by_calls"] == because("whole_loops")


def test_groups_are_answered_each_by_itself() -> None:
    others = [msgspec.structs.replace(one, size=64, case=f"{one.case}_64") for one in group()]
    assert [one.size for one in answers([*group(), *others])] == [512, 64]


def test_filled_caches_and_new_shapes_change_the_answer() -> None:
    empty = by_calls([costs("a", 0.1, 0.1), costs("b", 11.1, 0.01)], "process")
    filled = by_calls([costs("a", 0.1, 0.1), costs("b", 0.05, 0.01)], "process")
    filled = msgspec.structs.replace(filled, reading="cached")
    longer, then = changes([empty, filled], [])
    assert longer.code == "longer_process"
    assert longer.values["candidate_names"] == ["b"]
    assert then == because("filled_caches", candidate_names=["b"], n_calls=1)


@pytest.mark.parametrize("name", simulated.RESULTS)
def test_simulated_answers_hold_the_truth(name: str) -> None:
    held = simulated.held(simulated.RESULTS[name], n_rounds=5, trials=30, seed=3)
    assert held >= 0.83  # of 30 that hold with 95 %, 24 or fewer in 3 of 1,000 attempts


def test_costs_of_nothing_tell_nothing_and_warn_of_nothing() -> None:
    by = by_calls([costs("a", 0.0, 0.0), costs("b", 0.0, 0.0)], "process")
    assert told(by) == [(1, None, None)]
