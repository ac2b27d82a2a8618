"""Modules whose graphs nothing goes back through are named; those that learn are not."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest
from tests.doctor.test_looked_at import seen
from tests.doctor.test_looks import looked

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """import torch
from torch import nn
class Net(nn.Module):
    pass
net, criterion = Net(), nn.CrossEntropyLoss()
net = Net()
criterion = nn.CrossEntropyLoss()
"""


def named(text: str, seconds: float = 6.0) -> list[str]:
    """Return what is found where the line that calls the module took so long."""
    whole = HEAD + textwrap.dedent(text).lstrip()
    line = next(at for at, one in enumerate(whole.split("\n"), 1) if "= net(" in one)
    return [one.pattern for one in seen(whole, looks=[(line, "", seconds)])]


def loop(*body: str, before: str = "") -> str:
    lines = "".join(f"        {one}\n" for one in ("out = net(x)", *body))
    head = f"{before}def check(loader, net):\n    n = 0\n    for x, y in loader:\n"
    return f"{head}{lines}    return n\n"


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        (loop("n += (out.argmax(1) == y).sum().item()"), True),
        (loop("n += (out.argmax(1) == y).sum()"), True),
        (loop("n += criterion(out, y).item()"), True),
        (loop("loss = criterion(out, y)", "n += float(loss)"), True),
        (loop("print(f'{out.mean():.3f}')"), True),
        (loop("loss = criterion(out, y)", "loss.backward()", "n += loss.item()"), False),
        (loop("n += criterion(out, y)"), False),  # the sum may be gone back through
        (loop("n += torch.autograd.grad(out.sum(), x)[0].item()"), False),
        (loop("kept.append(out)"), False),
        (loop("return out"), False),
        (loop("n += other(out).item()"), False),  # which may go back through it
        (loop("n += out.argmax(1).sum()", before="@torch.no_grad()\n"), False),
        (loop("n += out.argmax(1).sum()", before="torch.set_grad_enabled(False)\n"), False),
        (loop("n += out.argmax(1).sum()", before="net.requires_grad_(False)\n"), False),
    ],
)
def test_results_that_are_numbers_alone(text: str, *, is_named: bool) -> None:
    assert named(text) == ["graph-unused"] * is_named
    assert named(text, 0.5) == [], "of no matter"


def test_with_no_grad() -> None:
    text = loop("n += out.argmax(1).sum()").replace(
        "    for x", "    with torch.no_grad():\n      for x"
    )
    assert named(text) == []


PROGRAM = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 10))

    def forward(self, x):
        return self.layers(x)

def accuracy(net, batches):
    right = 0
    for x, y in batches:
        scores = net(x)
        right += (scores.argmax(1) == y).sum().item()
    return right

net = Net()
batches = [(torch.randn(512, 64), torch.randint(0, 10, (512,))) for _ in range(20)]
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    for _ in range(20):
        right = accuracy(net, batches)
print(right >= 0)
"""


@pytest.mark.slow
def test_a_real_program(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = [(one["pattern"], one["source"]) for one in looked(tmp_path, PROGRAM)["findings"]]
    assert [one for one in found if one[0] == "graph-unused"] == [
        ("graph-unused", "scores = net(x)")
    ]
