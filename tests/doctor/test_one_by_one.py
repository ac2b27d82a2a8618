"""Work that goes number by number is named where it need not; what has to is not."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen
from tests.doctor.test_looks import looked
from tests.doctor.test_numba_turns import in_compiled
from tests.doctor.test_sized_arrays import held

if TYPE_CHECKING:
    from pathlib import Path

MATRIX, VECTOR = "array(float64, 2d, C)", "array(float64, 1d, C)"
KINDS = {
    "x": VECTOR,
    "y": VECTOR,
    "grid": MATRIX,
    "out": MATRIX,
    "few": VECTOR,
    "ids": "array(int64, 1d, C)",
}
SIZES = {"x": [4000], "y": [4000], "grid": [300, 300], "out": [300, 300], "few": [3], "ids": [4000]}
COMPILED = {"numba-sum-in-order", "numba-range-parallel", "numba-small-arrays"}


def compiled(body: str, options: str, *, seconds: float = 2.0) -> list[tuple[str, int]]:
    """Return what is found in a function that was compiled and took so long."""
    given = ", ".join(KINDS)
    inside = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"@njit{options}\ndef work({given}):\n{inside}    return out\n\nwork({given})\n"
    found = in_compiled(text, KINDS, SIZES, seconds)
    return [(one.pattern, one.line) for one in found if one.pattern in COMPILED]


SUM = "s = 0.0\nfor j in range({n}):\n    {line}"
LAGS = (
    "for i in range(300):\n    s = 0.0\n    for j in range(300):\n        {line}\n    out[i, 0] = s"
)


@pytest.mark.parametrize(
    ("body", "options", "line"),
    [
        (SUM.format(n="len(x)", line="s += x[j] * y[j]"), "", 5),
        (SUM.format(n="len(x)", line="d = x[j] - y[j]\n    s += d * d"), "", 6),
        (SUM.format(n="len(x)", line="s += abs(x[j])"), "(cache=True)", 5),
        (LAGS.format(line="s += grid[i, j] * x[i + j]"), "(parallel=False)", 6),
        (SUM.format(n="len(x)", line="s += x[j] * y[j]"), "(fastmath=True)", 0),
        (SUM.format(n="len(x)", line="s += x[j] * y[j]"), '(fastmath={"reassoc"})', 0),
        (SUM.format(n="len(x)", line="s += x[j] * y[j]"), "(**options)", 0),
        (SUM.format(n="8", line="s += x[j] * y[j]"), "", 0),  # few turns
        (SUM.format(n="len(few)", line="s += few[j]"), "", 0),
        (SUM.format(n="len(x)", line="s += ids[j]"), "", 0),  # whole numbers
        (SUM.format(n="len(x)", line="s += x[ids[j]]"), "", 0),  # not side by side
        (LAGS.format(line="s += grid[j, i]"), "", 0),
        (SUM.format(n="len(x)", line="s += math.exp(x[j])"), "", 0),  # takes longer than adding
        (SUM.format(n="len(x)", line="s += x[j] / y[j]"), "", 0),
        (SUM.format(n="len(x)", line="if x[j] > 0:\n        s += x[j]"), "", 0),
        (SUM.format(n="len(x)", line="s = x[j] - 0.5 * s"), "", 0),  # each turn needs the last
        (SUM.format(n="len(x)", line="s += x[j]\n    y[j] = s"), "", 0),
        (SUM.format(n="len(x)", line="s = s + x[j] * y[j]"), "", 5),
        (SUM.format(n="len(x)", line="s += (x[j] - y[j]) ** 2"), "", 5),
        (SUM.format(n="len(x)", line="v = 0.9 * v + x[j]\n    s += v * v"), "", 0),
        (SUM.format(n="len(x)", line="s += x[j]\n    c += s"), "", 0),
        (SUM.format(n="len(x)", line="t = s + x[j]\n    c += t - s\n    s = t"), "", 0),
        (SUM.format(n="len(x)", line="y[j] = x[j]\n    s += 1"), "", 0),
        (SUM.format(n="300", line="s += grid[j]"), "", 0),  # rows
        (SUM.format(n="len(x)", line="s += x[2 * j]"), "", 0),
        (SUM.format(n="len(x)", line="s += x[j]") + "\nsolve(out)", "", 0),  # it may take all
    ],
)
def test_sums_that_keep_their_order(body: str, options: str, line: int) -> None:
    assert compiled(body, options) == [("numba-sum-in-order", line)] * bool(line)
    assert compiled(body, options, seconds=0.05) == [], "of no matter"


ROWS = "for i in range(300):\n    {first}\n    for j in range(300):\n        {line}\n    {last}"
SOLVED = ROWS.format(first="p = 0.0", line="p = max(p, grid[i, j])", last="out[i, 0] = p")


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        (SOLVED, True),
        (ROWS.format(first="s = 1.0", line="out[i, j] = s * grid[i, j]", last="pass"), True),
        (ROWS.format(first="s = 1.0", line="out[i, j] += math.exp(grid[i, j])", last="pass"), True),
        (SOLVED.replace("for i in range", "for i in prange"), False),
        (SOLVED.replace("p = 0.0", "pass"), False),  # of all turns
        (ROWS.format(first="pass", line="out[i, j] = out[i - 1, j]", last="pass"), False),
        (ROWS.format(first="pass", line="out[j, i] = grid[i, j]", last="pass"), False),
        (ROWS.format(first="pass", line="out[i, j] = change(grid)", last="pass"), False),
        (ROWS.format(first="pass", line="out[i, j] = np.random.rand()", last="pass"), False),
        (ROWS.format(first="pass", line="out[i, j] = 1.0", last="if x[i] > 0: break"), False),
        ("for i in range(300):\n    out[i, 0] = grid[i, 0]", False),  # little work
        (SOLVED.replace("range(300)", "range(0, 300, 2)"), False),
        (SOLVED.replace("range(300)", "range(3)"), False),
        (SOLVED.replace("    p = 0.0", "    assert i\n    p = 0.0"), False),
        (SOLVED.replace("grid[i, j])", "np.sum(out))"), False),
        (SOLVED.replace("out[i, 0]", "table[i]"), False),  # it may be a dictionary
        (SOLVED + "\nout[0, 0] = p", False),  # of the last turn
        (SOLVED + "\nfor k in prange(300):\n    out[k, 1] = 1.0", False),
    ],
)
def test_loops_of_parallel_functions_that_run_in_one_thread(body: str, *, is_named: bool) -> None:
    found = compiled(body, "(parallel=True, fastmath=True)")
    assert found == [("numba-range-parallel", 3)] * is_named
    assert not compiled(body, "(fastmath=True)"), "nothing is said of threads"


CHAIN = "pose = {made}\nfor i in range(len(x)):\n    pose = {product}\nout[0, 0] = pose[0, 0]"


@pytest.mark.parametrize(
    ("made", "product", "is_named"),
    [
        ("np.eye(4)", "np.dot(pose, grid[:4, :4])", True),
        ("np.array([[1.0, 0.0], [0.0, 1.0]])", "pose @ grid[:2, :2]", True),
        ("np.zeros((3, 3))", "grid[:3, :3] @ pose", True),
        ("np.eye(40)", "np.dot(pose, grid[:40, :40])", False),
        ("np.zeros((3, 900))", "pose @ grid", False),
        ("np.zeros((n, n))", "pose @ grid", False),
        ("np.eye(4)", "pose + 1.0", False),
        ("np.array([[1.0, 0.0], [0.0, 1.0]])", "cloud\n    cloud = pose @ cloud", False),
    ],
)
def test_products_of_small_matrices_in_a_compiled_loop(
    made: str, product: str, *, is_named: bool
) -> None:
    found = compiled(CHAIN.format(made=made, product=product), "")
    assert found == [("numba-small-arrays", 5)] * is_named


NUMBERS: dict[str, tuple[str, str, list[int]]] = {
    "codes": ("numpy", "int64", [900]),
    "grid": ("numpy", "float64", [30, 30]),
    "rows": ("numpy", "float64", [30, 30]),
    "weight": ("torch", "float32", []),
    "dates": ("numpy", "datetime64[s]", [30]),
}


def python(text: str, line: int, below: str = "") -> list[tuple[str, int]]:
    """Return what is found where a line took long that can use these arrays."""
    text = textwrap.dedent(text).lstrip()
    found = seen(text, looks=[(line, below, 2.0)], more=[held(line, NUMBERS)])
    return [(one.pattern, one.line) for one in found]


@pytest.mark.parametrize(
    ("body", "is_named"),
    [
        ("for i in range(codes.size):\n    n += codes[i] == 2\n", True),
        ("for i in range(len(codes)):\n    n = max(n, abs(codes[i] - codes[i - 1]))\n", True),
        ("for one in codes:\n    n += one\n", True),
        ("for i, one in enumerate(codes):\n    n += i * one\n", True),
        ("for i in range(30):\n    n += math.sin(grid[i, 0])\n", True),
        ("for i in range(30):\n    n += grid[i].sum()\n", False),  # a row
        ("for i in range(30):\n    n += codes[i] * grid[i]\n", False),
        ("for i in range(30):\n    n += codes[i] + (codes > 0)\n", False),  # a whole array
        ("for i in range(30):\n    n += solve(codes[i])\n", False),  # it may take long
        ("for i in range(30):\n    n += codes[i : i + 3]\n", False),
        ("for i in range(30):\n    n += i * i\n", False),
        ("for row in rows:\n    n += row\n", False),
        ("while n < 30:\n    n += codes[n]\n", False),
        ("for i in range(30):\n    n += np.sqrt(codes[i])\n", True),
        ("for i in range(len(codes)):\n    lines.append(f'{codes[i]}')\n", False),
        ("for i in range(30):\n    parts[i] = parts[i] * codes[i]\n", False),
        ("for i in range(30):\n    nodes[i].left = codes[i]\n", False),
        ("for i in range(30):\n    loss = loss + weight * codes[i]\n", False),
        ("for i in range(30):\n    n += dates[i] > n\n", False),
    ],
)
def test_loops_of_python_over_single_numbers(body: str, *, is_named: bool) -> None:
    assert python(body, 2) == [("python-loop", 1)] * is_named
    assert python(body, 2, "numpy.mean") == [], "what is called takes the time"


PRIORS = "for value, prior in zip(codes, priors):\n    total += prior.logpdf({given})\n"
ENTRIES = "for e, corner in enumerate(triangles):\n    for r in range(3):\n        {line}\n"
FROZEN, ENTRY = "scipy.rv_frozen.logpdf", "scipy._lil_base.__setitem__"


@pytest.mark.parametrize(
    ("text", "line", "below", "pattern"),
    [
        (PRIORS.format(given="value"), 2, FROZEN, "distribution-per-number"),
        (PRIORS.format(given="2.0 * value - 1"), 2, FROZEN, "distribution-per-number"),
        (PRIORS.format(given="codes[3]"), 2, FROZEN, "distribution-per-number"),
        (PRIORS.format(given="codes"), 2, FROZEN, ""),
        (PRIORS.format(given="values"), 2, FROZEN, ""),  # nobody knows
        (PRIORS.format(given="grid[3]"), 2, FROZEN, ""),
        ("for i in range(3):\n    x = prior.rvs(900)\n", 2, "scipy.rv_frozen.rvs", ""),
        (PRIORS.format(given="abs(codes)"), 2, FROZEN, ""),
        (PRIORS.format(given="abs(value)"), 2, FROZEN, "distribution-per-number"),
        (PRIORS.format(given="0.5) + other.logpdf(codes"), 2, FROZEN, ""),
        ("total = prior.logpdf(2.0)\n", 1, FROZEN, ""),  # no loop
        (ENTRIES.format(line="m[codes[r], r] += 1.0"), 3, ENTRY, "sparse-by-entry"),
        (ENTRIES.format(line="m[r, e] = 1.0"), 3, ENTRY, "sparse-by-entry"),
        (ENTRIES.format(line="m[r, codes] = 1.0"), 3, ENTRY, ""),
        (ENTRIES.format(line="m[r, :] = 1.0"), 3, ENTRY, ""),
        (ENTRIES.format(line="n = m[r, e]"), 3, "scipy._lil_base.__getitem__", ""),
        ("for i, j in edges:\n    m[i, j] = 1.0\n", 2, ENTRY, "sparse-by-entry"),
        ("for i, j in edges:\n    m[i, j] *= 0.5\n", 2, ENTRY, ""),
        ("for i, j in edges:\n    m[i, j] = 1.0\n", 2, "scipy.netcdf_variable.__setitem__", ""),
    ],
)
def test_what_scipy_does_for_one_number(text: str, line: int, below: str, pattern: str) -> None:
    assert python(text, line, below) == [(pattern, line)] * bool(pattern)


STEPS = """
import numpy as np
import scipy
from scipy.sparse.linalg import spsolve

class Plate:
    def __init__(self, system):
        self.system = made(system)

    def step(self, b):
        return {solved}

    def change(self):
        {change}

plate = Plate(system)
for _ in range(n):
    {more}b = plate.step(b)
"""


@pytest.mark.parametrize(
    ("solved", "change", "is_named"),
    [
        ("spsolve(self.system, b)", "pass", True),
        ("scipy.sparse.linalg.spsolve(self.system, b)", "pass", True),
        ("np.linalg.solve(self.system, b)", "pass", True),
        ("spsolve(self.system, b)", "self.system = other", False),
        ("spsolve(self.system + b, b)", "pass", False),
        ("solve(self.system, b)", "pass", False),  # of the program's own
        ("np.linalg.lstsq(self.system, b)", "pass", False),
        ("np.linalg.solve(self.system, b)", "self.system.fill(0)", False),
        ("np.linalg.solve(self.system, b)", "assemble(self.system)", False),
        ("np.linalg.solve(self.system, b)", "K = self.system; K[:] = 0", False),
        ("np.linalg.solve(self.system, b)", "np.copyto(self.system, b)", False),
        ("np.linalg.solve(self.system, b)", "return self.system @ b", True),
    ],
)
def test_what_scipy_factors_again(solved: str, change: str, *, is_named: bool) -> None:
    for more in ("", "plate = Plate(b); "):
        text = STEPS.format(solved=solved, change=change, more=more).lstrip()
        spent = journals.looks(0.0, ((FILE, 10), "scipy.spsolve", 2.0))
        spent[0]["stack"] = [[FILE, 10, "Plate.step"], [FILE, 17, "<module>"]]
        found = [(one.pattern, one.line) for one in seen(text, more=spent)]
        named = is_named and not more  # else each object may be used once
        assert found == [("constant-recomputed", 10)] * named


NEWTON = """
import numpy as np

def run(self, b):
    K = np.zeros((90, 90))
    for _ in range(n):
        {made}
        b = np.linalg.solve(K, b)
"""


@pytest.mark.parametrize(
    ("made", "is_named"),
    [
        ("self.u = b", True),
        ("K = self.tangent()", False),
        ("self.assemble(K)", False),
        ("K[0, 0] += 1.0", False),
        ("np.fill_diagonal(K, b)", False),
        ("K.fill(0)", False),
        ("np.matmul(b, b, out=K)", False),
    ],
)
def test_a_matrix_that_something_may_change_is_not_named(made: str, *, is_named: bool) -> None:
    text = NEWTON.format(made=made).lstrip()
    found = [(one.pattern, one.line) for one in seen(text, looks=[(7, "", 2.0)])]
    assert found == [("constant-recomputed", 7)] * is_named


PROGRAM = """
import numpy as np
from numba import njit
from scipy import sparse, stats

@njit
def correlated(x, lags):
    out = np.zeros(lags)
    for lag in range(lags):
        s = 0.0
        for j in range(x.size - lags):
            s += x[j] * x[j + lag]
        out[lag] = s
    return out

def skew(codes):
    low, n = 0, 0
    for i in range(codes.size):
        if codes[i] == 2:
            n += 1
        low = min(low, n - codes[i])
    return low

def prior(theta, priors):
    total = 0.0
    for value, one in zip(theta, priors):
        total += one.logpdf(value)
    return total

rng = np.random.default_rng(0)
for _ in range(3):
    out = correlated(rng.random(200_000), 4000)
low = skew(rng.integers(0, 4, 6_000_000))
priors = [stats.norm(0.0, 1.0 + k) for k in range(6)]
total = sum(prior(rng.random(6), priors) for _ in range(4000))
m = sparse.lil_matrix((3000, 3000))
for k in range(400_000):
    m[k % 3000, k % 2999] += 1.0
print(out.sum() > 0, low, total < 0, m.nnz)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = {one["pattern"]: one["source"] for one in looked(tmp_path, PROGRAM)["findings"]}
    assert "s += x[j]" in found["numba-sum-in-order"]
    assert "range(codes.size)" in found["python-loop"]
    assert "logpdf" in found["distribution-per-number"]
    assert "+= 1.0" in found["sparse-by-entry"]
