"""Long kernels, items that are computed again, and parts that are put together one by one."""

from __future__ import annotations

import sys
import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from tests.doctor import journals
from tests.doctor.test_looked_at import FILE, seen
from tests.doctor.test_looks import looked
from tests.doctor.test_one_by_one import compiled
from tests.doctor.test_sized_arrays import named

from coldwarm.doctor.record import jax_work

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.doctor.test_sized_arrays import Array

LONG: Array = ("torch", "float32", [262_144])
KERNEL: Array = ("torch", "float32", [3000])
TAPS: Array = ("torch", "float32", [31])
MANY: Array = ("torch", "float32", [64, 64, 3000])
OF_NUMPY: Array = ("numpy", "float64", [262_144])
KERNEL_OF_NUMPY: Array = ("numpy", "float64", [3000])
WHOLE: Array = ("numpy", "int64", [262_144])
KERNEL_OF_WHOLE: Array = ("numpy", "int64", [3000])


@pytest.mark.parametrize(
    ("text", "x", "k", "is_named"),
    [
        ("y = F.conv1d(x[None, None], k[None, None])\n", LONG, KERNEL, True),
        ("y = torch.conv1d(x.view(1, 1, -1), k.flip(0)[None, None])\n", LONG, KERNEL, True),
        ("y = F.conv1d(x[None, None], k[None, None])\n", LONG, TAPS, False),
        ("y = F.conv1d(x[None, None], k[None, None])\n", KERNEL, KERNEL, False),
        ("y = F.conv1d(x[None, None], k[None, None], stride=4)\n", LONG, KERNEL, False),
        ("y = F.conv1d(x[None, None], k[None, None], None)\n", LONG, KERNEL, True),
        ("y = F.conv1d(x[None, None], k[None, None], None, 4)\n", LONG, KERNEL, False),
        ("y = F.conv1d(x[None, None], k[None, None], *more)\n", LONG, KERNEL, False),
        ("y = F.conv1d(x[None], k)\n", LONG, MANY, False),  # of many channels
        ("y = F.conv1d(x[None, None], k[:30][None, None])\n", LONG, KERNEL, False),
        ("y = np.convolve(x, k, mode='same')\n", OF_NUMPY, KERNEL_OF_NUMPY, True),
        ("y = np.convolve(k, x)\n", OF_NUMPY, KERNEL_OF_NUMPY, True),
        ("y = np.correlate(x, k, 'same')\n", OF_NUMPY, KERNEL_OF_NUMPY, True),
        ("y = np.convolve(x, k)\n", WHOLE, KERNEL_OF_WHOLE, False),  # exact
        ("y = np.convolve(x, k)\n", OF_NUMPY, KERNEL_OF_WHOLE, False),
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


COLLATED = """
import torch

def {name}(batch):
    xs = torch.stack([one[0] for one in {iterated}])
    return xs

picks = torch.load("picks")
loader = DataLoader(data, batch_size=8, collate_fn={given})
for _ in range(9):
    {name}(picks)
"""


@pytest.mark.parametrize(
    ("name", "iterated", "given", "is_named"),
    [
        ("together", "batch", "together", False),
        ("together", "batch", "partial(together, pad=0)", False),
        ("collate_pairs", "batch", "None", False),
        ("together", "batch", "None", True),
        ("together", "picks", "together", True),
    ],
)
def test_items_that_a_loader_gives_one_by_one(
    name: str, iterated: str, given: str, *, is_named: bool
) -> None:
    text = COLLATED.format(name=name, iterated=iterated, given=given).lstrip()
    spent = journals.looks(0.0, ((FILE, 4), "", 2.0))
    spent[0]["stack"] = [[FILE, 4, name], [FILE, 10, "<module>"]]
    found = [(one.pattern, one.line) for one in seen(text, more=spent)]
    assert found == [("tensor-from-list", 4)] * is_named


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
        ("Waves(Dataset)", "x = self.transform(self.w[k])", "return x", (13, 17), False),
        ("Waves(Dataset)", "x = self.make(self.w[k])", "return x", (13, 17), False),
        ("Waves(Dataset)", "x = self.describe(self.w[k])", "return x", (13, 17), True),
        ("Waves(Dataset)", "x = self.steps[0](self.w[k])", "return x", (13, 17), False),
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


PASSED = """
from torch.utils.data import Dataset

class Waves(Dataset):
    def __getitem__(self, k):
        return self.w[k] ** 2

def epoch(loader, at):
    for x in loader:
        step(x)

{before}
for i in range(9):
    {within}
    {loop}
"""


@pytest.mark.parametrize(
    ("before", "within", "loop", "is_named"),
    [
        ("loader = make(1)", "pass", "epoch(loader, i)", True),
        ("loader = make(1)", "pass", "epoch(at=i, loader=loader)", True),
        ("waves = make(1)", "loader = DataLoader(waves)", "epoch(loader, i)", True),
        ("loader = make(1)", "other = make(i)", "epoch(loader, i)", True),
        ("pass", "loader = make(i)", "epoch(loader, i)", False),
        ("pass", "waves = make(i); loader = DataLoader(waves)", "epoch(loader, i)", False),
        ("folds = make(1)", "pass", "epoch(folds[i], i)", False),
        ("waves = make(1)", "waves.level = i", "epoch(waves, i)", False),
        ("waves = make(1)", "waves.begin(i)", "epoch(waves, i)", False),
        ("folds = make(1)", "train = epoch", "train(folds[i], i)", False),
    ],
)
def test_data_that_are_others_in_each_turn(
    before: str, within: str, loop: str, *, is_named: bool
) -> None:
    text = PASSED.format(before=before, within=within, loop=loop).lstrip()
    spent = journals.looks(0.0, ((FILE, 5), "", 2.0))
    callers = [[FILE, 8, "epoch"], [FILE, 14, "<module>"]]
    spent[0]["stack"] = [[FILE, 5, "Waves.__getitem__"], *callers]
    found = [(one.pattern, one.line) for one in seen(text, more=spent)]
    assert found == [("item-computed-again", 5)] * is_named


@pytest.mark.parametrize(("within", "is_named"), [("pass", True), ("loader = make(i)", False)])
def test_data_in_a_loop_around_their_own(within: str, *, is_named: bool) -> None:
    begin = PASSED.partition("\ndef epoch")[0].lstrip()
    text = f"{begin}\nfor i in range(9):\n    {within}\n    for x in loader:\n        step(x)\n"
    spent = journals.looks(0.0, ((FILE, 5), "", 2.0))
    spent[0]["stack"] = [[FILE, 5, "Waves.__getitem__"], [FILE, 9, "<module>"]]
    found = [(one.pattern, one.line) for one in seen(text, more=spent)]
    assert found == [("item-computed-again", 5)] * is_named


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
        ("w = np.zeros(2)\n    w[0] = math.sqrt(at) + np.exp(at)", True),
        ("w = np.zeros(2)\n    w[0] = interpolated(at)", False),  # it may take long
        ("w = np.zeros(2)\n    w[:] = np.linalg.solve(at, w)", False),
        ("w = np.zeros(2)\n    v = np.zeros(2000)", False),
        ("v = np.zeros(2)\n    w = v.sum()", False),
        ("v = np.zeros(2)\n    w = v[0]", False),  # it is not returned
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
        rows = {rows}
        return (rows**2).sum()
    return table - 0.1 * jax.grad(loss)(table)

table, ids = jnp.ones(({n}, 16)), jnp.arange(512)
for _ in range(100):
    table = step(table, ids)
table.block_until_ready()
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="calls are not seen")
@pytest.mark.parametrize(
    ("rows", "n", "is_named"),
    [
        ("jax.nn.one_hot(ids, t.shape[0]) @ t", 20_000, True),
        ("jax.nn.one_hot(ids, t.shape[0]) @ t", 300, False),
        # Sums of the rows of each class.
        ("jax.nn.one_hot(ids, t.shape[0]).T @ jnp.ones((512, 16)) * t", 20_000, False),
        ("jnp.einsum('kn,kd->nd', jax.nn.one_hot(ids, 20_000), jnp.ones((512, 16))) * t", 1, False),
    ],
)
def test_rows_of_jax_that_a_product_picks(
    tmp_path: Path, rows: str, n: int, *, is_named: bool
) -> None:
    report = looked(tmp_path, textwrap.dedent(PICKED.format(rows=rows, n=n)))
    found = [one["source"] for one in report["findings"] if one["pattern"] == "one-hot-product"]
    assert bool(found) == is_named
    assert not found or "one_hot" in found[0]


@pytest.mark.parametrize(
    ("work", "is_named"),
    [
        (lambda jax, ids, t: jax.nn.one_hot(ids, 600) @ t, True),
        (lambda jax, ids, t: jax.nn.one_hot(ids, 600).astype("int32").reshape(64, 600) @ t, True),
        (lambda jax, ids, t: jax.nn.one_hot(ids.reshape(8, 8), 600) @ t, True),
        (lambda jax, ids, t: jax.nn.one_hot(ids, 600).T @ t[:64], False),  # sums of rows
        (lambda jax, ids, t: jax.numpy.einsum("kn,kd", jax.nn.one_hot(ids, 600), t[:64]), False),
        (lambda jax, ids, t: jax.nn.one_hot(ids, 600, axis=0).T @ t, False),
        (
            lambda jax, ids, t: jax.vmap(jax.numpy.dot)(
                jax.nn.one_hot(ids, 600), jax.numpy.stack([t] * 64)
            ),
            False,
        ),
    ],
)
def test_a_product_picks_rows_along_its_columns_alone(
    work: Callable[..., Any], *, is_named: bool
) -> None:
    jax = pytest.importorskip("jax")
    ids, t = jax.numpy.arange(64), jax.numpy.ones((600, 2))
    with patch.object(jax_work, "_first", lambda _: (FILE, 1, "work")):
        found = jax_work.in_vain(jax.make_jaxpr(partial(work, jax, ids))(t).jaxpr)
    assert found["picked"] == [[(FILE, 1, "work"), 64, 600]] * is_named


@pytest.mark.parametrize(
    ("numbers", "is_named"),
    [
        ((60, 59 << 22, 59), True),
        ((60, 5 << 10, 5), False),  # little of what was sent was sent before
        ((60, 4 << 22, 4), False),
        ((60, 0, 0), False),
    ],
)
def test_only_what_is_sent_again_counts(numbers: tuple[int, ...], *, is_named: bool) -> None:
    text = "for batch in batches:\n    x = jax.device_put(batch)\n"
    found = [(one.pattern, one.line) for one in seen(text, ("transfer", 2, numbers))]
    assert found == [("device-transfer-in-loop", 2)] * is_named
