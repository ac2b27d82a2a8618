"""Innermost loops of compiled code that go down columns are named; others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen
from tests.doctor.test_looks import looked

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """@njit
def work(x, out):
    n, m = x.shape
    for j in range(m):
        state = 0.0
        for i in range(n):
            {body}
    return out

work(x, out)
"""
DOWN = "state = 0.9 * state + x[i, j]\n            out[i, j] = state"
WALKED = """@njit
def work(x, out):
    n, m = x.shape
    j = 0
    while j < m:
        row = n - 1
        for _ in range(n):
            out[row, j] = x[row, j]
            row -= 1
        j += 1

work(x, out)
"""


def named(
    text: str, *, sizes: tuple[int, int] = (1000, 600), layout: str = "C", seconds: float = 2.0
) -> list[tuple[str, int]]:
    line = text.count("\n")
    kind = f"array(float64, 2d, {layout})"
    told: dict[str, Any] = {
        "framework": "numba",
        "stack": [[FILE, line, "<module>"]],
        "function": {"name": "work", "path": FILE, "line": 1, "whose": "user"},
        "declared": False,
        "given": {"x": list(sizes), "out": list(sizes)},
        "signature": {"arguments": {"x": kind, "out": kind}, "static": {}},
    }
    rows = [journals.call(1, **told), journals.stage(1, 9.0, {"compile": 0.01})]
    found = seen(text, looks=[(line, "", seconds)], more=rows)
    return [(one.pattern, one.line) for one in found]


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        (DOWN, True),
        ("out[i, j] = x[i, j] + x[i - 1, j]", True),
        ("out[j, i] = x[j, i]", False),
        ("out[j, i] = x[i, j]", False),  # one of both has to
        ("state += out[j, 0]", False),
        (f"{DOWN}\n            for k in range(m): out[i, k] += 1.0", False),
        ("out[i, j] = math.exp(x[i, j])", False),  # which takes longer than to fetch it
    ],
)
def test_a_loop_down_the_columns(body: str, *, is_named: bool) -> None:
    text = TEXT.format(body=body)
    assert named(text) == [("numba-loop-order", 6)] * is_named
    assert named(text, seconds=0.1) == [], "of no matter"
    assert named(text, layout="F") == [], "its columns lie one after the other"
    assert named(text, sizes=(300, 100)) == [], "all of it is at hand"
    assert named(text, sizes=(100_000, 8)) == [], "a line of the cache holds a row"


def test_an_index_that_a_loop_moves_by_itself() -> None:
    assert named(WALKED) == [("numba-loop-order", 7)]


PROGRAM = """
import numpy as np
from numba import njit

@njit
def filtered(x, out):
    n, m = x.shape
    for j in range(m):
        state = 0.0
        for i in range(n):
            state = 0.9 * state + x[i, j]
            out[i, j] = state

@njit
def power(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
    return total

x = np.random.default_rng(0).random((3000, 1000))
out = np.empty_like(x)
for _ in range(60):
    filtered(x, out)
    total = power(out)
print(total)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = looked(tmp_path, PROGRAM)["findings"]
    named = [one["source"] for one in found if one["pattern"] == "numba-loop-order"]
    assert named == ["for i in range(n):"]
