"""The account of a whole loop, from what a worker says of it."""

from __future__ import annotations

from typing import Any

import pytest

from coldwarm.contracts.observation import PARTS, LoopAccount, Phase
from coldwarm.contracts.reasons import because
from coldwarm.runner.replies import _LoopReply, _Parts

PHASES = {
    "first_call": Phase(name="first_call", start_s=1.0, duration_s=0.5),
    "remaining_calls": Phase(name="remaining_calls", start_s=1.5, duration_s=1.5),
}


def account(first: dict[str, Any], rest: dict[str, Any], compiles: list[int] | None) -> LoopAccount:
    """Return the account of a loop of three steps, of which a worker says this."""
    steps_ns = [500_000_000, 900_000_000, 500_000_000]
    loop = _LoopReply(steps_ns=steps_ns, compiles=compiles, parts=_Parts(**rest))
    return loop.account(_Parts(**first), PHASES)


def test_the_parts_of_all_steps_are_added_up() -> None:
    found = account(
        {"trace_s": 0.1, "compile_s": 0.2}, {"trace_s": 0.2, "cache_read_s": 0.1}, [2, 0, 1]
    )
    assert (found.total_s, found.loop_s) == (3.0, 2.0)
    assert found.steps_s == [0.5, 0.9, 0.5]
    assert found.compiling_steps == [0, 2]
    parts = found.parts
    assert parts.trace_s == pytest.approx(0.3)
    assert (parts.compile_s, parts.cache_read_s, parts.lower_s) == (0.2, 0.1, None)
    assert parts.rest_s == pytest.approx(1.4)
    assert found.compiling_share == pytest.approx(0.6 / 3.0)


def test_without_any_part_the_share_is_unknown_and_not_nothing() -> None:
    why = {"reasons": dict.fromkeys(PARTS, "numpy has no such step")}
    found = account(why, why, None)
    assert found.compiling_share is None
    assert found.null_reasons["compiling_share"] == because("stated", text="numpy has no such step")
    assert found.compiling_steps is None
    assert "compiling_steps" in found.null_reasons
    assert found.parts.rest_s == 2.0
