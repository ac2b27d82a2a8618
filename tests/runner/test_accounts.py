"""The account of a whole loop, from what a worker says of it."""

from __future__ import annotations

from typing import Any

import pytest

from coldwarm.contracts.observation import Phase
from coldwarm.runner import accounts

NAMES = ("trace_s", "lower_s", "compile_s", "cache_read_s")
PHASES = {
    "first_call": Phase(name="first_call", start_s=1.0, duration_s=0.5),
    "remaining_calls": Phase(name="remaining_calls", start_s=1.5, duration_s=1.5),
}


def said(first: dict[str, Any], rest: dict[str, Any], compiles: list[int] | None) -> dict[str, Any]:
    """Return what a worker says of a loop of three steps."""
    nothing = dict.fromkeys(NAMES)
    steps_ns = [500_000_000, 900_000_000, 500_000_000]
    loop = {"steps_ns": steps_ns, "compiles": compiles, "parts": {**nothing, **rest}}
    return {"parts": {**nothing, **first}, "loop": loop}


def test_the_parts_of_all_steps_are_added_up() -> None:
    found = accounts.of_loop(
        said({"trace_s": 0.1, "compile_s": 0.2}, {"trace_s": 0.2, "cache_read_s": 0.1}, [2, 0, 1]),
        PHASES,
    )
    assert found is not None
    assert (found.total_s, found.loop_s) == (3.0, 2.0)
    assert found.steps_s == [0.5, 0.9, 0.5]
    assert found.compiling_steps == [0, 2]
    parts = found.parts
    assert parts.trace_s == pytest.approx(0.3)
    assert (parts.compile_s, parts.cache_read_s, parts.lower_s) == (0.2, 0.1, None)
    assert parts.rest_s == pytest.approx(1.4)
    assert found.compiling_share == pytest.approx(0.6 / 3.0)


def test_without_any_part_the_share_is_unknown_and_not_nothing() -> None:
    why = {"reasons": dict.fromkeys(NAMES, "numpy has no such step")}
    found = accounts.of_loop(said(why, why, None), PHASES)
    assert found is not None
    assert found.compiling_share is None
    assert found.null_reasons["compiling_share"] == "numpy has no such step"
    assert found.compiling_steps is None
    assert "compiling_steps" in found.null_reasons
    assert found.parts.rest_s == 2.0


def test_what_is_no_scenario_has_no_loop() -> None:
    assert accounts.of_loop({"parts": {}, "loop": None}, PHASES) is None
