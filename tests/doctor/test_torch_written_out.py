"""What PyTorch has one function for is named where it is written out; the like of it is not."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
from tests.doctor.test_looked_at import seen
from tests.doctor.test_looks import looked
from tests.doctor.test_sized_arrays import held

if TYPE_CHECKING:
    from pathlib import Path

    from tests.doctor.test_sized_arrays import Held

HEAD = "import torch\nimport torch.nn.functional as F\n"
POINTS: Held = {"x": ("torch", "float32", [800, 16]), "y": ("torch", "float32", [700, 16])}
FEW: Held = {"x": ("torch", "float32", [80, 3]), "y": ("torch", "float32", [70, 3])}
KERNEL: Held = {"k": ("torch", "float64", [900, 900]), "b": ("torch", "float64", [900])}
ROWS: Held = {"d": ("torch", "float32", [400, 3000]), "q": ("torch", "float32", [8, 200, 32])}


def named(text: str, arrays: Held, seconds: float = 2.0) -> list[str]:
    """Return what is found where each line of a function took so long."""
    body = textwrap.indent(text, "    ")
    whole = f"{HEAD}def work(x, y, k, b, d, q, v, w, mask):\n{body}    return out\n"
    lines = range(4, whole.count("\n") + 1)
    found = seen(
        whole,
        looks=[(line, "", seconds / len(lines)) for line in lines],
        more=[held(line, arrays) for line in lines],
    )
    return [one.pattern for one in found]


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("out = ((x[:, None] - y[None]) ** 2).sum(-1)\n", True),
        ("out = (x[:, None, :] - y[None, :, :]).pow(2).sum(dim=2)\n", True),
        ("gap = x.unsqueeze(1) - y.unsqueeze(0)\nout = (gap * gap).sum(-1).sqrt()\n", True),
        ("out = torch.linalg.norm(x.unsqueeze(1) - y.unsqueeze(0), dim=-1)\n", True),
        ("gap = x[:, None] - y[None]\nout = gap.norm(dim=-1)\n", True),
        ("gap = x[:, None] - y[None]\nout = gap / gap.norm(dim=-1, keepdim=True)\n", False),
        ("out = ((x - y) ** 2).sum(-1)\n", False),
        ("out = (x[:, None] - y[None]).max(-1)\n", False),
        ("out = torch.cdist(x, y)\n", False),
    ],
)
def test_distances_by_all_differences(text: str, *, is_named: bool) -> None:
    assert named(text, POINTS) == ["distances-written-out"] * is_named
    assert named(text, FEW) == [], "of few points"
    assert named(text, POINTS, 0.1) == [], "of no matter"


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("out = F.one_hot(y, 5000).float() @ w\n", True),
        ("picked = F.one_hot(y, 5000).to(x.dtype)\nout = picked @ w\n", True),
        ("picked = F.one_hot(y, 5000).float()\nout = picked @ w + picked.sum()\n", False),
        ("out = F.one_hot(y, 5000).float() * w\n", False),
    ],
)
def test_products_that_pick_rows(text: str, *, is_named: bool) -> None:
    assert named(text, POINTS) == ["one-hot-product"] * is_named


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("out = torch.argsort(d, dim=1)[:, :5]\n", True),
        ("out = d.sort(descending=True).values[:, :5]\n", True),
        ("n = 5\norder = d.argsort(dim=-1)\nout = order[:, :n]\n", True),
        ("out = d.sort().values[:, -5:]\n", True),
        ("out = d.sort().values[..., :5]\n", True),
        ("out = d.sort().values[:5]\n", False),  # a few rows, each of them sorted
        ("out = d.sort(dim=0).values[:, :5]\n", False),
        ("out = d.sort().values[:, :2000]\n", False),
        ("out = d.argsort()[:, :n]\n", False),  # nobody knows how many
        ("order = d.argsort()\nout = order[:, :5] + order[:, -1:]\n", False),
        ("out = d.topk(5).values\n", False),
    ],
)
def test_sorting_for_a_few(text: str, *, is_named: bool) -> None:
    assert named(text, ROWS) == ["sorted-for-few"] * is_named


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("out = torch.linalg.inv(k) @ b\n", True),
        ("inverse = torch.inverse(k)\nout = inverse @ b\n", True),
        ("inverse = torch.inverse(k)\nout = inverse @ b + inverse.diag()\n", False),
        ("out = torch.linalg.inv(k)\n", False),
        ("out = torch.linalg.solve(k, b)\n", False),
    ],
)
def test_inverses_for_one_product(text: str, *, is_named: bool) -> None:
    assert named(text, KERNEL) == ["inverse-for-product"] * is_named
    small: Held = {"k": ("torch", "float64", [9, 9])}
    assert named(text, small) == []


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("a = torch.softmax(q @ q.mT / 5.6, dim=-1)\nout = a @ v\n", True),
        ("s = q @ q.transpose(-2, -1)\na = F.softmax(s, -1)\nout = torch.matmul(a, v)\n", True),
        ("a = (q @ q.mT).softmax(-1)\na2 = F.dropout(a, 0.1)\nout = a2 @ v\n", True),
        ("a = torch.softmax(q @ q.mT, dim=-1)\nout = a @ v, a\n", False),  # weights are used
        ("a = torch.softmax(w, dim=-1)\nout = a @ v\n", False),  # no attention
        ("out = F.scaled_dot_product_attention(q, q, v)\n", False),
    ],
)
def test_attention(text: str, *, is_named: bool) -> None:
    assert named(text, ROWS) == ["attention-written-out"] * is_named
    assert named(text, ROWS, 0.1) == [], "of no matter"


CELL = "self.cell = nn.GRUCell(8, 16)\nfor t in range(90):\n    {}\n"


@pytest.mark.parametrize(
    ("turn", "is_named"),
    [
        ("b = self.cell(x[:, t], b)", True),
        ("b = self.cell(y, b)\n    y = self.read(b)", False),  # which a step needs of the last
        ("b = self.cell(x[:, t], b)\n    b = b * mask", False),
        ("b = self.other(x[:, t], b)", False),
    ],
)
def test_cells_of_recurrent_networks(turn: str, *, is_named: bool) -> None:
    found = named(CELL.format(turn) + "out = b\n", POINTS, 6.0)
    assert found == ["cells-in-loop"] * is_named


PROGRAM = """
import torch

def nearest(x, y):
    gaps = ((x[:, None] - y[None]) ** 2).sum(-1)
    return torch.argsort(gaps, dim=1)[:, :3]

def attended(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / 8.0, dim=-1)
    return weights @ v

x, y = torch.randn(1200, 40), torch.randn(1500, 40)
q = torch.randn(8, 900, 64)
total = 0
for _ in range(12):
    total += int(nearest(x, y).sum())
for _ in range(12):
    total += float(attended(q, q, q).sum())
print(total == total)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = {one["pattern"]: one["source"] for one in looked(tmp_path, PROGRAM)["findings"]}
    assert "x[:, None]" in found["distances-written-out"]
    assert "argsort" in found["sorted-for-few"]
    assert "weights @ v" in found["attention-written-out"]
