"""Long kernels, items that are computed again, and parts that are put together one by one."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen
from tests.doctor.test_looks import looked
from tests.doctor.test_one_by_one import compiled
from tests.doctor.test_sized_arrays import named

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.test_sized_arrays import Array

LONG: Array = ("torch", "float32", [262_144])
KERNEL: Array = ("torch", "float32", [3000])
TAPS: Array = ("torch", "float32", [31])
MANY: Array = ("torch", "float32", [64, 64, 3000])
OF_NUMPY: Array = ("numpy", "float64", [262_144])
KERNEL_OF_NUMPY: Array = ("numpy", "float64", [3000])


@pytest.mark.parametrize(
    ("text", "x", "k", "is_named"),
    [
        ("y = F.conv1d(x[None, None], k[None, None])\n", LONG, KERNEL, True),
        ("y = torch.conv1d(x.view(1, 1, -1), k.flip(0)[None, None])\n", LONG, KERNEL, True),
        ("y = F.conv1d(x[None, None], k[None, None])\n", LONG, TAPS, False),
        ("y = F.conv1d(x[None, None], k[None, None])\n", KERNEL, KERNEL, False),
        ("y = F.conv1d(x[None, None], k[None, None], stride=4)\n", LONG, KERNEL, False),
        ("y = F.conv1d(x[None], k)\n", LONG, MANY, False),  # of many channels
        ("y = F.conv1d(x[None, None], k[:30][None, None])\n", LONG, KERNEL, False),
        ("y = np.convolve(x, k, mode='same')\n", OF_NUMPY, KERNEL_OF_NUMPY, True),
        ("y = np.convolve(k, x)\n", OF_NUMPY, KERNEL_OF_NUMPY, True),
        ("y = scipy.signal.convolve(x, k)\n", OF_NUMPY, KERNEL_OF_NUMPY, False),  # by FFT
        ("y = convolve(x, k)\n", OF_NUMPY, KERNEL_OF_NUMPY, False),  # of the program's own
    ],
)
def test_a_convolution_with_a_long_kernel(text: str, x: Array, k: Array, *, is_named: bool) -> None:
    begin = "import numpy as np\nimport torch\nimport torch.nn.functional as F\n"
    found = named(begin + text, 4, {"x": x, "k": k})
    assert found == [("direct-convolution", 4)] * is_named
    assert named(begin + text, 4, {"x": x, "k": k}, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("line", "is_named"),
    [
        ("batch = torch.stack([t.state for t in picks])", True),
        ("batch = torch.cat([t[0] for t in picks])", True),
        ("batch = torch.stack([net(t.state) for t in picks])", False),  # it computes
        ("batch = torch.stack([other.state for t in picks])", False),
        ("batch = torch.stack(picks)", False),
        ("batch = np.stack([t.state for t in picks])", False),
    ],
)
def test_parts_of_many_objects_in_one_tensor(line: str, *, is_named: bool) -> None:
    text = f"import torch\nfor _ in range(n):\n    {line}\n"
    assert named(text, 3, {}) == [("tensor-from-list", 3)] * is_named
    once = f"import torch\n{line}\n"
    assert named(once, 2, {}) == [], "once"


ITEMS = """
import torch
from torch.utils.data import Dataset

class {cls}:
    def __getitem__(self, k):
        {line}
        return x

def describe(x):
    {inside}

def epoch(loader):
    for x in loader:
        step(x)

for _ in range(9):
    epoch(loader)
"""


@pytest.mark.parametrize(
    ("cls", "line", "inside", "callers", "is_named"),
    [
        ("Waves(Dataset)", "x = describe(self.w[k])", "return x.sum()", (13, 17), True),
        ("Waves(torch.utils.data.Dataset)", "x = self.w[k] ** 2", "pass", (13, 17), True),
        ("Waves(Dataset)", "x = describe(self.w[k])", "return x.sum()", (13,), False),  # one pass
        ("Waves(Dataset)", "x = describe(self.rng.random(k))", "return x", (13, 17), False),
        ("Waves(Dataset)", "x = describe(self.w[k])", "return augment(x)", (13, 17), False),
        ("Waves(Dataset)", "x = describe(self.w[k])", "return np.load(x)", (13, 17), False),
        ("Waves", "x = describe(self.w[k])", "return x.sum()", (13, 17), False),  # any class
    ],
)
def test_items_that_are_computed_in_each_pass(
    cls: str, line: str, inside: str, callers: tuple[int, ...], *, is_named: bool
) -> None:
    text = ITEMS.format(cls=cls, line=line, inside=inside).lstrip()
    spent = journals.looks(0.0, ((FILE, 6), "", 2.0))
    of = {13: "epoch", 17: "<module>"}
    spent[0]["stack"] = [[FILE, 6, "Waves.__getitem__"], *([FILE, at, of[at]] for at in callers)]
    found = [(one.pattern, one.line) for one in seen(text, more=spent)]
    assert found == [("item-computed-again", 6)] * is_named


CALLED = """
for i in range(len(x)):
    low, w = weights(x[i])
    out[i, 0] = w[0]
return out

@njit
def weights(at):
    {made}
    return at, w
"""


@pytest.mark.parametrize(
    ("made", "is_named"),
    [
        ("w = np.zeros(2)", True),
        ("w = np.array([at, 1.0 - at])", True),
        ("w = np.zeros(400)", False),
        ("w = at, 1.0 - at", False),
        ("w = np.zeros(2)\n    for j in range(400):\n        w[0] += j", False),  # it has a loop
    ],
)
def test_a_small_array_of_a_function_that_a_loop_calls(made: str, *, is_named: bool) -> None:
    body, _, other = CALLED.format(made=made).strip().partition("\n\n")
    text = f"{body}\n\n{other}"
    found = [pattern for pattern, _ in compiled(text, "")]
    assert found == ["numba-small-arrays"] * is_named


PICKED = """
import jax
import jax.numpy as jnp

@jax.jit
def step(table, ids):
    def loss(t):
        rows = jax.nn.one_hot(ids, t.shape[0]) @ t
        return (rows**2).sum()
    return table - 0.1 * jax.grad(loss)(table)

table, ids = jnp.ones(({n}, 16)), jnp.arange(512)
for _ in range(100):
    table = step(table, ids)
table.block_until_ready()
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="calls are not seen")
@pytest.mark.parametrize(("n", "is_named"), [(20_000, True), (300, False)])
def test_rows_of_jax_that_a_product_picks(tmp_path: Path, n: int, *, is_named: bool) -> None:
    report = looked(tmp_path, textwrap.dedent(PICKED.format(n=n)))
    found = [one["source"] for one in report["findings"] if one["pattern"] == "one-hot-product"]
    assert bool(found) == is_named
    assert not found or "one_hot" in found[0]
