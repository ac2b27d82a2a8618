"""What turns of compiled loops need not do is named; what they have to do is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen
from tests.doctor.test_looks import looked

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.doctor import Finding

HEAD = "@njit\ndef work({arguments}):\n    n = len(x)\n"
TAIL = "    return out\n\nwork({arguments})\n"
MATRIX, VECTOR = "array(float64, 2d, C)", "array(float64, 1d, C)"
KINDS = {"x": VECTOR, "w": VECTOR, "cov": MATRIX, "grid": MATRIX, "out": MATRIX}
SIZES = {"x": [4000], "w": [500], "cov": [20, 20], "grid": [300, 300], "out": [300, 300]}
TEXTS = {"table": "DictType[unicode_type,float64]<iv=None>", "names": "ListType[unicode_type]"}


def in_compiled(
    text: str, kinds: dict[str, str], sizes: dict[str, list[int]], seconds: float
) -> list[Finding]:
    """Return what is found where the function at the first line was compiled, for the last one."""
    line = text.count("\n")
    told: dict[str, Any] = {
        "framework": "numba",
        "stack": [[FILE, line, "<module>"]],
        "function": {"name": "work", "path": FILE, "line": 1, "whose": "user"},
        "declared": False,
        "given": sizes,
        "signature": {"arguments": kinds, "static": {}},
    }
    rows = [journals.call(1, **told), journals.stage(1, 9.0, {"compile": 0.01})]
    return seen(text, looks=[(line, "", seconds)], more=rows)


def named(body: str, *, seconds: float = 2.0, kinds: dict[str, str] | None = None) -> list[str]:
    """Return what is found in a function that was compiled and took so long."""
    known = {**KINDS, **(kinds or {})}
    given = ", ".join(known)
    inside = "".join(f"    {line}\n" for line in body.splitlines())
    text = (HEAD + "{body}" + TAIL).format(arguments=given, body=inside)
    found = in_compiled(text, known, SIZES, seconds)
    wanted = {"numba-array-grows", "numba-constant-in-loop", "numba-text-keys", "numba-remainders"}
    return [one.pattern for one in found if one.pattern in wanted]


GROWS = "found = np.zeros(0)\nfor i in range(n):\n    if x[i] > 0:\n        {}"
FACTORS = "for i in range(n):\n    {}\n    for j in range(20):\n        s += r[j]"
SUMS = "for i in range(n):\n    s += x[i] - {}"
NEIGHBOURS = "for i in range(300):\n    for j in range(300):\n        out[i, j] = {}"
ROWS = """for i in range(300):
    up = (i + 1) % 300
    down = (i - 1) % 300
    for j in range(300):
        out[i, j] = grid[up, j] + grid[down, j]"""
COLUMNS = """for i in range(300):
    for j in range(300):
        up = (j + 1) % 300
        down = (j - 1) % 300
        out[i, j] = grid[i, up] + grid[i, down]"""
LOOKUP = "for i in range(n):\n    {}"


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        (GROWS.format("found = np.append(found, x[i])"), True),
        (GROWS.format("found = np.concatenate((found, x[i : i + 3]))"), True),
        (GROWS.format("part = np.append(found, x[i])"), False),
        ("found = np.zeros(0)\nfound = np.append(found, x)", False),
        (GROWS.format("found.append(x[i])"), False),
    ],
)
def test_arrays_that_grow_in_a_compiled_loop(body: str, *, is_named: bool) -> None:
    assert named(body) == ["numba-array-grows"] * is_named
    assert named(body, seconds=0.05) == [], "of no matter"


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        (FACTORS.format("r = np.linalg.inv(cov) @ w"), True),
        (FACTORS.format("r = np.linalg.solve(cov, w)"), True),
        (FACTORS.format("r = np.linalg.inv(cov * x[i]) @ w"), False),
        (FACTORS.format("r = np.linalg.inv(cov) @ w\n    cov[0, 0] += 1.0"), False),
        (FACTORS.format("r = np.linalg.inv(cov) @ w\n    change(cov)"), False),
        (FACTORS.format("r = w\n    if i == 7:\n        r = np.linalg.inv(cov) @ w"), False),
        (SUMS.format("np.mean(w)"), True),
        (SUMS.format("np.mean(w[i:])"), False),
        (SUMS.format("np.mean(x[:3])"), True),
        (SUMS.format("np.mean(small)"), False),
        (SUMS.format("np.random.normal(np.mean(w), 1.0)"), True),
        (FACTORS.format("r = w * np.sum(w)"), False),  # little beside the loop inside
        ("s = np.mean(w)\nfor i in range(n):\n    s += x[i]", False),
        ("v = w[1:]\nfor i in range(n):\n    v[i % 9] = 1.0\n    s += np.mean(w)", False),
        ("v = w.T\nu = v\nfor i in range(n):\n    u[i % 9] = 1.0\n    s += np.mean(w)", False),
        ("v = w.copy()\nfor i in range(n):\n    v[i % 9] = 1.0\n    s += np.mean(w)", True),
        ("for i in range(n):\n    v = w[i % 9]\n    s += v * np.mean(w)", True),
    ],
)
def test_what_a_turn_computes_of_what_does_not_change(body: str, *, is_named: bool) -> None:
    assert named(body) == ["numba-constant-in-loop"] * is_named
    assert named(body, seconds=0.05) == [], "of no matter"


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        (LOOKUP.format("s += table[names[i]]"), True),
        (LOOKUP.format("s += table.get(names[i], 0.0)"), True),
        (LOOKUP.format("s += 'a' in names"), True),
        ("s = table['a']\nfor i in range(n):\n    s += x[i]", False),
        (LOOKUP.format("s += x[i]"), False),
    ],
)
def test_texts_that_a_turn_looks_for(body: str, *, is_named: bool) -> None:
    assert named(body, kinds=TEXTS) == ["numba-text-keys"] * is_named
    numbers = {"table": "DictType[int64,float64]<iv=None>", "names": "ListType[int64]"}
    assert named(body, kinds=numbers) == []


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        (NEIGHBOURS.format("grid[i, (j + 1) % 300] + grid[i, (j - 1) % 300]"), True),
        (NEIGHBOURS.format("grid[i, (j + 1) % 300]"), False),  # one
        (NEIGHBOURS.format("grid[i, (j + 1) % 256] + grid[i, (j - 1) % 256]"), False),
        (NEIGHBOURS.format("(j + 1) % 300 + (j + 2) % 300"), False),  # no places
        (NEIGHBOURS.format("math.exp(grid[i, (j + 1) % 300] + grid[i, (j - 1) % 300])"), False),
        (ROWS, False),
        (COLUMNS, True),
    ],
)
def test_places_by_remainders(body: str, *, is_named: bool) -> None:
    assert named(body) == ["numba-remainders"] * is_named
    assert named(body, seconds=0.05) == [], "of no matter"


PROGRAM = """
import numpy as np
from numba import njit, types
from numba.typed import Dict

@njit
def scored(points, cov, mean):
    out = np.zeros(len(points))
    for i in range(len(points)):
        gap = points[i] - mean
        out[i] = gap @ np.linalg.inv(cov) @ gap
    return out

@njit
def smoothed(grid, times):
    n, m = grid.shape
    for _ in range(times):
        out = np.empty_like(grid)
        for i in range(n):
            for j in range(m):
                out[i, j] = (
                    grid[i, (j + 1) % m] + grid[i, (j - 1) % m]
                    + grid[(i + 1) % n, j] + grid[(i - 1) % n, j]
                )
        grid = out / 4.0
    return grid

@njit
def counted(words, table):
    total = 0
    for word in words:
        total += table[word]
    return total

rng = np.random.default_rng(0)
cov = np.eye(12) + 0.1
print(scored(rng.standard_normal((900_000, 12)), cov, np.zeros(12)).sum() > 0)
print(smoothed(rng.random((500, 500)), 3000).mean() > 0)
table = Dict.empty(types.unicode_type, types.int64)
words = [f"name-{k}" for k in range(300)]
for k, word in enumerate(words):
    table[word] = k
many = np.array(words)[rng.integers(0, 300, 400_000)]
typed = __import__("numba").typed.List([str(one) for one in many[:40_000]])
print(sum(counted(typed, table) for _ in range(500)) > 0)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = {one["pattern"]: one["source"] for one in looked(tmp_path, PROGRAM)["findings"]}
    assert "np.linalg.inv(cov)" in found["numba-constant-in-loop"]
    assert "% m" in found["numba-remainders"]
    assert "table[word]" in found["numba-text-keys"]
