"""Work that is large by the sizes of arrays, known from looks: with innocents beside each."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from tests import started
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen
from tests.doctor.test_looks import looked

if TYPE_CHECKING:
    from pathlib import Path

Array = tuple[str, str, list[int]]
Held = dict[str, Array]
X: Array = ("torch", "float32", [2400, 60])
V: Array = ("torch", "float64", [5000])
ONE: Array = ("torch", "float32", [])
NUMPYS: Array = ("numpy", "float64", [2400, 60])


def held(line: int, arrays: Held) -> dict[str, Any]:
    told = [[name, *what] for name, what in arrays.items()]
    return {"kind": "held", "at_s": journals.BEGIN_S, "path": FILE, "line": line, "arrays": told}


def named(text: str, line: int, arrays: Held, seconds: float = 2.0) -> list[tuple[str, int]]:
    """Return what is found where a line took so long, and could use such arrays."""
    text = textwrap.dedent(text).lstrip()
    found = seen(text, looks=[(line, "", seconds)], more=[held(line, arrays)])
    return [(one.pattern, one.line) for one in found]


@pytest.mark.parametrize(
    ("text", "array", "is_named"),
    [
        ("u, s, v = torch.linalg.svd(x)\n", X, True),
        ("u, s, v = torch.linalg.svd(x, full_matrices=False)\n", X, False),
        ("u, s, v = torch.linalg.svd(x)\n", ("torch", "float32", [60, 60]), False),
        ("u, s, v = torch.linalg.svd(x)\n", ("torch", "float32", [60]), False),
        ("u, s, v = torch.svd(x)\n", X, False),  # which is not full
        ("u, s, v = np.linalg.svd(x)\n", NUMPYS, False),  # no work of a framework's
    ],
)
def test_square_factors_of_a_long_matrix(text: str, array: Array, *, is_named: bool) -> None:
    assert named(text, 1, {"x": array}) == [("svd-full-matrices", 1)] * is_named
    assert named(text, 1, {"x": array}, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("text", "array", "is_named"),
    [
        ("g = x.T @ torch.diag(w) @ x\n", V, True),
        ("g = torch.linalg.multi_dot((x.T, torch.diag(w), x))\n", V, True),
        ("g = x.mm(torch.diag_embed(w))\n", V, True),
        ("g = x.T @ torch.diag(w)\n", X, False),  # the diagonal of a matrix
        ("g = x.T @ torch.diag(w)\n", ("torch", "float32", [9]), False),
        ("g = torch.diag(w) + x\n", V, False),
    ],
)
def test_a_diagonal_matrix_in_a_product(text: str, array: Array, *, is_named: bool) -> None:
    assert named(text, 1, {"w": array}) == [("diagonal-for-product", 1)] * is_named
    assert named(text, 1, {"w": array}, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("text", "shape", "is_named"),
    [
        ("found = [size(image, labels == k) for k in range(1, n + 1)]\n", [600, 600], True),
        ("for k in numbers:\n    sums[k] = x[labels == k].sum()\n", [20_000], True),
        ("for k in range(10):\n    sums[k] = x[labels == k].sum()\n", [20_000], False),
        ("for k in numbers:\n    sums[k] = x[labels == k].sum()\n", [200], False),
        ("for k in numbers:\n    sums[k] = x[labels == other].sum()\n", [20_000], False),
    ],
)
def test_a_mask_of_a_whole_array_for_each_number(
    text: str, shape: list[int], *, is_named: bool
) -> None:
    line = text.count("\n")
    array = {"labels": ("torch", "int64", shape)}
    assert named(text, line, array) == [("mask-per-number", line)] * is_named
    assert named(text, line, array, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("text", "arrays", "is_named"),
    [
        ("for a in games:\n    change = k * (a - gap)\n", {"gap": ONE}, True),
        ("for a in games:\n    change = k * (a - gap)\n", {"gap": ONE, "x": X}, True),
        ("for a in games:\n    change = k * (a - x)\n", {"gap": ONE, "x": X}, False),
        ("for a in games:\n    change = k * model(gap)\n", {"gap": ONE}, False),
        ("for a in games:\n    change = self.k * gap\n", {"gap": ONE}, True),
        ("for a in games:\n    change = self.net.weight * gap\n", {"gap": ONE}, False),
        ("for a in games:\n    change = net.weight * gap\n", {"gap": ONE}, False),
        ("for a in games:\n    change = k * gap\n", {"gap": ("numpy", "float64", [])}, False),
        ("change = k * (a - gap)\n", {"gap": ONE}, False),
    ],
)
def test_operations_of_single_numbers(text: str, arrays: Held, *, is_named: bool) -> None:
    line = text.count("\n")
    assert named(text, line, arrays) == [("torch-tiny-operations", line)] * is_named
    assert named(text, line, arrays, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("text", "shape", "is_named"),
    [
        ("rows = [torch.autograd.grad(v, p, retain_graph=True)[0] for v in y]\n", [110], True),
        ("for i, v in enumerate(y):\n    v.backward(retain_graph=True)\n", [110], True),
        ("for v in y:\n    v.backward(retain_graph=True)\n", [3], False),
        ("for v in losses:\n    v.backward(retain_graph=True)\n", [110], False),
    ],
)
def test_elements_that_are_differentiated_one_by_one(
    text: str, shape: list[int], *, is_named: bool
) -> None:
    line = text.count("\n")
    found = named(text, line, {"y": ("torch", "float32", shape)})
    assert found == [("gradient-per-row", line)] * is_named


SOLVED = """
@jax.jit
def implicit(matrix, head):
    return jnp.linalg.solve(matrix, head)

class Model:
    def __init__(self, matrix):
        self.matrix = matrix

    def advance(self):
        self.head = implicit({given}, self.head)

for k in range(n):
    model.advance()
"""


@pytest.mark.parametrize(
    ("given", "size", "more", "is_named"),
    [
        ("self.matrix", 1024, "", True),
        ("self.matrix", 8, "", False),
        ("self.matrix", 1024, "model.matrix = other\n", False),
        ("made(self.matrix)", 1024, "", False),
    ],
)
def test_a_matrix_that_is_factored_in_each_turn(
    given: str, size: int, more: str, *, is_named: bool
) -> None:
    text = SOLVED.format(given=given).lstrip() + more
    spent = journals.looks(0.0, ((FILE, 10), "", 2.0))
    spent[0]["stack"] = [[FILE, 10, "Model.advance"], [FILE, 13, "<module>"]]
    arrays = held(10, {"self.matrix": ("jaxlib", "float32", [size, size])})
    found = seen(text, more=[*spent, arrays])
    assert [(one.pattern, one.line) for one in found] == [("constant-recomputed", 3)] * is_named


def test_a_method_is_given_its_object_besides() -> None:
    text = SOLVED.format(given="self.matrix").lstrip()
    text = text.replace("@jax.jit\ndef implicit(matrix", "@jax.jit\ndef implicit(self, matrix")
    spent = journals.looks(0.0, ((FILE, 10), "", 2.0))
    spent[0]["stack"] = [[FILE, 10, "Model.advance"], [FILE, 13, "<module>"]]
    arrays = held(10, {"self.matrix": ("jaxlib", "float32", [999, 999])})
    for call, n in (("solver.implicit(self.matrix, ", 1), ("solver.implicit(x, self.matrix, ", 0)):
        found = seen(text.replace("implicit(self.matrix, ", call), more=[*spent, arrays])
        assert [one.pattern for one in found] == ["constant-recomputed"] * n


FITTED = """
import torch
from scipy.optimize import minimize

def cost(x):
    return model(torch.from_numpy(x)).item()

best = minimize(cost, start{more})
"""


@pytest.mark.parametrize(
    ("more", "size", "is_named"),
    [
        ("", 56, True),
        (', method="L-BFGS-B"', 56, True),
        (", jac=True", 56, False),
        (', method="Nelder-Mead"', 56, False),
        ("", 2, False),
    ],
)
def test_a_function_of_pytorchs_without_a_gradient(more: str, size: int, *, is_named: bool) -> None:
    spent = journals.looks(0.0, ((FILE, 5), "", 2.0))
    spent[0]["stack"] = [[FILE, 5, "cost"], [FILE, 7, "<module>"]]
    arrays = held(7, {"start": ("numpy", "float64", [size])})
    found = seen(FITTED.format(more=more).lstrip(), more=[*spent, arrays])
    assert [(one.pattern, one.line) for one in found] == [("finite-differences", 7)] * is_named


PROGRAM = """
import torch

class Fits:
    def __init__(self, x):
        self.x = x

    def modes(self):
        left, scale, right = torch.linalg.svd(self.x)
        return left[:, :3] * scale[:3]

def weighted(design, weights):
    return torch.linalg.multi_dot((design.T, torch.diag(weights), design))

def rated(games):
    ratings = torch.zeros(50)
    for home, away in games:
        gap = (ratings[away] - ratings[home]) / 400.0
        expected = 1.0 / (1.0 + 10.0**gap)
        change = 24.0 * (1.0 - expected) - 0.1 * gap
        ratings[home] += change
    return ratings

fits = Fits(torch.randn(1800, 30))
total = sum(float(fits.modes().sum()) for _ in range(12))
design, weights = torch.randn(4000, 6), torch.rand(4000)
for _ in range(12):
    total += float(weighted(design, weights).sum())
total += float(rated([(k % 50, (7 * k + 1) % 50) for k in range(60000)]).sum())
print(total == total)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = {one["pattern"]: one["line"] for one in looked(tmp_path, PROGRAM)["findings"]}
    rows = textwrap.dedent(PROGRAM).split("\n")
    where = {name: rows[line - 1].strip() for name, line in found.items()}
    assert where["svd-full-matrices"].endswith("svd(self.x)")
    assert "torch.diag(weights)" in where["diagonal-for-product"]
    assert where["torch-tiny-operations"].startswith(("expected", "change"))


REFERENCES = """
import sys, time
import numpy as np

class Own:
    def work(self, seconds):
        kept = np.zeros(50_000)
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            total = kept.sum() + self.more.sum()
        n_references = sys.getrefcount(kept)
        kept.resize(60_000)  # raises where something else holds it
        return n_references

def read_from_caller(seconds):
    # As packages do that compute expressions with the variables of who calls them.
    held = sys._getframe(1).f_locals
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        n = len(held["kept"])
    return sorted(held), n

def asked(seconds):
    kept = np.zeros(40)
    return read_from_caller(seconds)

own = Own()
own.more = np.ones(50_000)
print(own.work(1.5))
print(asked(1.5))
"""


def test_looking_at_arrays_keeps_none_of_them(tmp_path: Path) -> None:
    """An array that something else refers to cannot be resized in place."""
    (tmp_path / "program.py").write_text(REFERENCES, encoding="utf-8")
    command = [sys.executable, "-m", "coldwarm", "doctor", "-o", "report.json", "program.py"]
    done = started.python(command, cwd=tmp_path, timeout_s=120)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().split("\n")[:2] == ["2", "(['kept', 'seconds'], 40)"]


FRONT = """
def features(x, w):
    y = {made}
    z = torch.log(y)
    return z{back}
"""


@pytest.mark.parametrize(
    ("made", "back", "window", "is_named"),
    [
        ("x * w", ".float()", V, True),
        ("w[None, :] + x.unfold(-1, 512, 128)", ".to(torch.float32)", V, True),
        ("x * w", "", V, False),  # float64 may be what is wanted
        ("x.double() * w", ".float()", V, False),
        ("x * w", " - labels.float()", V, False),  # of something else
        ("(x * w).float()", "", V, True),
        ("x * w", ".float()", ("torch", "float32", [60]), False),
        ("x * w", ".float()", ("torch", "float64", []), False),  # one number makes no float64
        ("x @ w", ".float()", V, False),  # an error
        ("x * w", ".float()", ("numpy", "float64", [60]), False),
    ],
)
def test_float64_in_between(made: str, back: str, window: Array, *, is_named: bool) -> None:
    text = FRONT.format(made=made, back=back)
    assert named(text, 2, {"x": X, "w": window}) == [("float64-promoted", 2)] * is_named
    assert named(text, 2, {"x": X, "w": window}, 0.1) == [], "of no matter"


def test_a_sum_in_float64_is_meant() -> None:
    text = "def f(x, w):\n    w = w + x\n    return w.float()\n"
    assert named(text, 2, {"x": X, "w": V}) == []
