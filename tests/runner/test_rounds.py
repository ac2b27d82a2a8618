"""How warm calls are batched, and how long a block lasts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.runner.case_list import (
    BATCH_WINDOW_S,
    SHORT_CALL_S,
    batch_for,
    block_seconds,
    planned_calls,
)


@given(st.floats(0, 10))
def test_a_batch_lasts_longer_than_the_clock_can_be_seen_in(call_s: float) -> None:
    batch = batch_for(call_s)
    assert batch >= 1
    assert batch & (batch - 1) == 0, "a power of two"
    if call_s >= SHORT_CALL_S:
        assert batch == 1
    elif call_s > 1e-9:
        assert batch * call_s * (1 + 1e-9) >= BATCH_WINDOW_S
        assert batch * call_s <= 2 * BATCH_WINDOW_S * (1 + 1e-9)


@given(st.floats(0, 1e-3), st.floats(0, 1e-3))
def test_shorter_calls_come_in_larger_batches(one_s: float, other_s: float) -> None:
    short_s, long_s = sorted([one_s, other_s])
    assert batch_for(short_s) >= batch_for(long_s)


@pytest.mark.parametrize(
    ("call_s", "wanted_s", "seconds"),
    [(1e-6, 0.15, 0.15), (0.1, 0.15, 0.3), (30.0, 0.15, 2.0), (0.01, 5.0, 2.0)],
)
def test_a_block_lasts_three_calls_or_as_wanted_within_a_bound(
    call_s: float, wanted_s: float, seconds: float
) -> None:
    assert block_seconds(call_s, wanted_s) == pytest.approx(seconds)


@given(st.floats(1e-6, 1.0), st.floats(1.0, 2.0), st.floats(2.1, 1e6))
def test_equal_sides_are_planned_alike_though_a_burst_struck_one(
    call_s: float, burst: float, further: float
) -> None:
    looked = {"a": call_s, "b": call_s * burst, "slow": call_s * burst * further}
    planned = planned_calls(looked)
    assert planned["a"] == planned["b"] == looked["b"]
    assert planned["slow"] == looked["slow"]
