"""How much of a measured interval was compiling, in words: as the table of lines adds it up."""

from __future__ import annotations

from typing import Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S, MAIN

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

PATH = "/timed.py"
TEXT = "begin = perf_counter()\nout = total(jnp.stack(parts))\nspent = perf_counter() - begin\n"


def clock(slot: int, line: int, at_s: float) -> list[dict[str, Any]]:
    """Return the rows of a clock that is read once."""
    stack = [[PATH, line, "<module>"]]
    place = {"kind": "place", "at_s": BEGIN_S, "what": "clock", "name": "perf_counter"}
    read = {"kind": "clock", "at_s": BEGIN_S + at_s, "slot": slot, "thread": MAIN, "caller": None}
    return [{**place, "stack": stack, "slot": slot, "bound": []}, {**read, "after": None}]


def compiled(number: int, begin_s: float, seconds: float, **function: Any) -> list[dict[str, Any]]:
    described = {"name": "total", "path": PATH, "line": 9, "whose": "user", **function}
    row = journals.call(number, stack=[[PATH, 2, "<module>"]], function=described)
    return [row, journals.stage(number, begin_s, {"compile": seconds})]


def test_operations_are_compiling_too() -> None:
    operation = {"name": "stack", "operation": True, "whose": "framework"}
    rows = [
        journals.process(),
        *clock(0, 1, 1.0),
        *clock(4, 3, 5.0),
        *compiled(1, 1.5, 2.0),
        *compiled(2, 3.5, 1.0, **operation),
        *compiled(3, 4.0, 1.5),  # beside the operation, and on beyond the reading
    ]
    (one,) = findings(ProcessTrace.of(rows, [1, 0, 0, 0] * 2, SourceFiles({PATH: TEXT})))
    assert one.pattern == "first-call-in-timing"
    assert one.says.values["interval_s"] == pytest.approx(4.0)
    assert one.says.values["compiled_s"] == pytest.approx(3.5)
