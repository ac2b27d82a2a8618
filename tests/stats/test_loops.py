"""Whole loops: their figures, the share spent compiling, and what a loop will take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from benchmarks.whole_loops import predict
from tests.stats import results

from coldwarm.contracts.observation import FirstCallParts, LoopAccount
from coldwarm.contracts.reasons import because
from coldwarm.stats.summarise import compare_case, figure, summarise

if TYPE_CHECKING:
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import ColdSummary

EMPTY = results.EMPTY
PARTS = FirstCallParts(
    trace_s=0.1,
    lower_s=0.2,
    compile_s=0.7,
    rest_s=1.0,
    null_reasons={"cache_read_s": because("stated", text="nothing was read")},
)
NO_PARTS = FirstCallParts(
    rest_s=2.0,
    null_reasons=dict.fromkeys(
        ("trace_s", "lower_s", "compile_s", "cache_read_s"),
        because("stated", text="numpy has no such step"),
    ),
)


def looped(place: int, *, compiles: bool = True, factor: float = 1.0) -> Observation:
    """Return a process with a loop of five steps, of which the first two and the fourth compile."""
    made = results.observed(np.random.default_rng(place), place, 1.0, 0.0)
    account = LoopAccount(
        total_s=4.0 * factor,
        loop_s=2.0 * factor,
        steps_s=[1.0, 0.5 * factor, 0.01, 0.3 * factor, 0.03],
        compiling_steps=[0, 1, 3] if compiles else [],
        parts=PARTS if compiles else NO_PARTS,
        compiling_share=0.25 if compiles else None,
        null_reasons={}
        if compiles
        else {"compiling_share": because("stated", text="numpy has no such step")},
    )
    return msgspec.structs.replace(made, loop=account, ttfr_process_s=2.0)


def cold(seen: list[Observation]) -> ColdSummary:
    (found,) = summarise(seen, [EMPTY]).cold
    return found


def test_a_scenario_has_the_figures_of_its_loop() -> None:
    found = cold([looped(place) for place in range(3)])
    medians = {name: one.median for name, one in found.seconds.items()}
    assert medians["total"] == 4.0
    assert medians["loop"] == 2.0
    assert medians["loop.compile"] == 0.7
    assert medians["step.compiling"] == pytest.approx(0.4)
    assert medians["step.plain"] == pytest.approx(0.02)
    assert found.compiling_share is not None
    assert found.compiling_share.median == 0.25
    assert found.null_reasons["loop.cache_read"] == because("stated", text="nothing was read")


def test_what_a_loop_without_compiles_lacks_is_absent_with_its_reason() -> None:
    found = cold([looped(place, compiles=False) for place in range(3)])
    assert found.compiling_share is None
    assert found.null_reasons["compiling_share"] == because("stated", text="numpy has no such step")
    assert "loop.compile" not in found.seconds
    assert found.null_reasons["loop.compile"] == because("stated", text="numpy has no such step")
    assert found.null_reasons["step.compiling"] == because("no_compiling_step")


def test_other_workloads_have_none_of_it() -> None:
    seen = results.observed(np.random.default_rng(0), 0, 1.0, 0.0)
    found = cold([seen])
    of_loops = cold([looped(0)]).seconds
    assert "total" in of_loops
    own = {"total", "loop", *(name for name in of_loops if name.startswith(("loop.", "step.")))}
    assert not set(found.seconds) & own
    assert found.null_reasons["compiling_share"] == because("no_scenario")
    assert figure(seen, "total") is None


def test_precision_is_that_of_the_whole_loop() -> None:
    same_start = [looped(place, factor=1.0 + 0.1 * place) for place in range(5)]
    found = cold(same_start)
    assert found.precision_reached is not None
    assert found.precision_reached > 0.05


def test_totals_are_compared_beside_first_results() -> None:
    theirs = [looped(place) for place in range(5)]
    ours = [looped(place, factor=2.0) for place in range(5)]
    found = {one.metric: one for one in compare_case("base", theirs, ours, [EMPTY])}
    assert found[f"{EMPTY}.total_s"].ratio == pytest.approx(2.0)
    assert found[f"{EMPTY}.total_s"].verdict == "slower"
    assert f"{EMPTY}.ttfr_s" in found


def test_a_loop_is_added_up_from_start_compiling_and_plain_steps() -> None:
    seen = [looped(place) for place in range(5)]
    found = predict(seen, EMPTY, steps=10, new=4)
    assert found is not None
    assert found.middle == pytest.approx(2.0 + 3 * 0.4 + 6 * 0.02)
    assert math.isfinite(found.low)
    assert math.isfinite(found.high)
    assert found.low <= found.middle <= found.high


def test_other_shapes_are_told_less_surely() -> None:
    seen = [looped(place) for place in range(5)]
    same = predict(seen, EMPTY, steps=10, new=4)
    other = predict(seen, EMPTY, steps=10, new=4, other_shapes=True)
    assert same is not None
    assert other is not None
    assert other.middle == same.middle
    assert math.isfinite(other.low)
    assert math.isfinite(same.low)
    assert other.low < same.low
    assert math.isfinite(other.high)
    assert math.isfinite(same.high)
    assert other.high > same.high


def test_what_was_never_seen_is_not_predicted() -> None:
    seen = [looped(place, compiles=False) for place in range(5)]
    assert predict(seen, EMPTY, steps=10, new=4) is None
    plain = predict(seen, EMPTY, steps=3, new=0)
    assert plain is not None
    assert plain.middle == pytest.approx(2.0 + 2 * (0.5 + 0.01 + 0.3 + 0.03) / 4)
    alone = predict(seen[:1], EMPTY, steps=3, new=0)
    assert alone is not None
    assert (alone.low, alone.high) == (-math.inf, math.inf)
