"""Small arrays made in the innermost loop of compiled code are named; others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S
from tests.doctor.test_looks import looked

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from pathlib import Path

FILE = "/forces.py"
TEXT = """@njit
def forces(x, box):
    out = np.zeros_like(x)
    for i in range(len(x)):
        own = x[i]
        for j in range(i):
            {body}
    return out

forces(x, 9.0)
"""
ROWS = "d = x[i] - x[j]\n            out[i] += d / box"


@pytest.mark.parametrize(
    ("body", "columns", "named"),
    [
        (ROWS, 3, True),
        (ROWS.replace("x[i]", "own"), 3, True),
        ("d = x[i] - x[j]\n            if np.sum(d * d) < box: out[i] += d", 3, True),
        ("d = x[i] - x[j]\n            r = (d * d).sum()", 3, True),
        ("p = np.array([1.0, x[i, 0], 2.0])\n            q = np.zeros(3)", 3, True),
        (ROWS, 64, False),
        ("d = x[i, 0] - x[j, 0]\n            out[i, 0] += d / box", 3, False),
        ("out[i] += x[j]", 3, False),  # in place
        ("d = own + work(x[j])\n            out[i] += d * d", 3, False),  # it may take long
        (f"{ROWS}\n            for k in range(9): out[i, 0] += k", 3, False),
    ],
)
def test_arrays_of_a_few_numbers_in_the_innermost_loop(
    body: str, columns: int, *, named: bool
) -> None:
    assert seen(TEXT.format(body=body), columns, 2.0) == [("numba-small-arrays", 7)] * named
    assert seen(TEXT.format(body=body), columns, 0.1) == [], "of no matter"


def test_a_loop_beside_it_may_take_as_long() -> None:
    other = "    for i in range(9):\n        for j in range(9):\n            out[i, 0] += j\n"
    beside = TEXT.format(body=ROWS).replace("    return out\n", f"{other}    return out\n")
    assert seen(beside, 3, 2.0) == []


def seen(text: str, columns: int, spent_s: float) -> list[tuple[str, int]]:
    last = text.count("\n")
    stack = [[FILE, last, "<module>"]]
    told: dict[str, Any] = {
        "framework": "numba",
        "function": {"name": "forces", "path": FILE, "line": 1, "whose": "user"},
        "declared": False,
        "given": {"x": [500, columns]},
    }
    rows: list[dict[str, Any]] = [
        journals.process(),
        journals.call(1, stack=stack, **told),
        journals.stage(1, 0.0, {"compile": 0.01}),
        {"kind": "spot", "at_s": BEGIN_S, "number": 1, "stack": stack, "below": ""},
        {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S + 1, "runs": [[1, spent_s]]},
        journals.end(4.0),
    ]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: text})))
    return [(one.pattern, one.line) for one in found]


PROGRAM = """
import numpy as np
from numba import njit

@njit
def forces(x, box):
    out = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            d = d - box * np.rint(d / box)
            if np.sum(d * d) < 1.0:
                out[i] += d
    return out

@njit
def lengths(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            total += np.sqrt(dx * dx + dy * dy)
    return total

x = np.random.default_rng(0).random((1200, 3))
for _ in range(12):
    out = forces(x, 1.0)
for _ in range(400):
    total = lengths(x)
print(out.sum(), total)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = looked(tmp_path, PROGRAM)["findings"]
    named = [one["source"] for one in found if one["pattern"] == "numba-small-arrays"]
    assert named == ["d = x[i] - x[j]"]
