"""Rows that are computed one by one are named where no turn needs another."""

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

X: Held = {"x": ("torch", "float32", [400, 30])}
WIDE: Held = {"x": ("torch", "float32", [400, 30_000])}
FEW: Held = {"x": ("torch", "float32", [4, 30])}
HEAD = """import torch
def scaled(row):
    return row / row.norm()
class Kept:
    def seen(self, row):
        self.last = row
"""


def named(text: str, arrays: Held = X, seconds: float = 2.0) -> list[str]:
    whole = HEAD + textwrap.dedent(text).lstrip()
    line = whole.count("\n")
    found = seen(whole, looks=[(line, "", seconds)], more=[held(line, arrays)])
    return [one.pattern for one in found]


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("for i in range(400):\n    out[i] = torch.dot(x[i], w) / x[i].norm()\n", True),
        ("for row in x:\n    out.append(scaled(row) @ w)\n", True),
        ("for i, row in enumerate(x):\n    total += scaled(row).sum()\n", True),
        ("out = torch.stack([scaled(row) @ w for row in x])\n", True),
        ("for i in range(400):\n    state = 0.9 * state + x[i]\n", False),
        ("for i in range(400):\n    out[i] = out[i - 1] + x[i].sum()\n", False),
        ("for i in range(400):\n    out[k] = x[i].sum()\n", False),
        ("for row in x:\n    kept.seen(row)\n", False),
        ("for row in x:\n    out.append(row + torch.randn(30))\n", False),
        ("for row in x:\n    loss(row).backward()\n", False),
        ("for row in x:\n    total += row.sum() * total\n", False),
        ("for row in x:\n    if row.sum() > 3: break\n", False),
        ("for rows in x.split(64):\n    out.append(rows @ w)\n", False),
        ("for row in names:\n    out.append(w @ v)\n", False),
    ],
)
def test_rows_one_by_one(text: str, *, is_named: bool) -> None:
    assert named(text) == ["torch-rows-one-by-one"] * is_named
    assert named(text, seconds=0.1) == [], "of no matter"
    assert named(text, WIDE) == [], "computing takes longer than dispatching"
    assert named(text, FEW) == [], "few turns"


CHOSEN = """
class Agent:
    def act(self, x):
        for k, row in enumerate(x):
            if self.rng.random() < 0.1:
                actions[k] = self.rng.integers(5)
            {more}
            actions[k] = {answer}
"""
ANSWER = "self.online(torch.from_numpy(row)).argmax().item()"


@pytest.mark.parametrize(
    ("more", "answer", "is_named"),
    [
        ("pass", ANSWER, True),
        ("pass", "self.online(row).argmax()", False),  # of no tensor of PyTorch's
        ("self.optimizer.step()", ANSWER, False),
        ("h = self.cell(h)", f"{ANSWER} + h", False),
        ("if actions[k] > 3: return", ANSWER, False),
    ],
)
def test_answers_of_a_network_for_one_row_each(more: str, answer: str, *, is_named: bool) -> None:
    rows: Held = {"x": ("numpy", "float32", [48, 30])}
    found = named(CHOSEN.format(more=more, answer=answer), rows)
    assert found == ["torch-rows-one-by-one"] * is_named


PROGRAM = """
import torch

def projected(rows, basis):
    found = []
    for row in rows:
        weights = basis @ row
        found.append(torch.softmax(weights, 0) @ basis)
    return torch.stack(found)

def filtered(rows):
    state = torch.zeros(rows.shape[1])
    kept = []
    for row in rows:
        state = 0.9 * state + 0.1 * torch.tanh(row)
        kept.append(state)
    return torch.stack(kept)

rows, basis = torch.randn(3000, 40), torch.randn(12, 40)
total = 0.0
for _ in range(25):
    total += projected(rows, basis).sum().item()
for _ in range(25):
    total += filtered(rows).sum().item()
print(total == total)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = looked(tmp_path, PROGRAM)["findings"]
    rows = [one for one in found if one["pattern"] == "torch-rows-one-by-one"]
    assert [one["function"] for one in rows] == ["projected"]
