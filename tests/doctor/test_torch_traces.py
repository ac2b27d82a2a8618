"""Branches that ``torch.jit.trace`` decides by its example are named; those of shapes are not."""

from __future__ import annotations

import textwrap

import pytest
from tests.doctor.journals import BEGIN_S
from tests.doctor.test_looked_at import FILE, seen

TEXT = """
import torch
from torch import nn

class Step(nn.Module):
    def forward(self, swe, temp, steps=3):
        warm = temp - 1.0
        {body}
        return swe

def step(swe, temp):
    {body}
    return swe

print({traced})
"""
MODULE = "torch.jit.trace(Step(), (swe, temp))"


@pytest.mark.parametrize(
    ("body", "traced", "named"),
    [
        ("if temp > 0: swe = swe - temp", MODULE, True),
        ("if warm.max() > 0: swe = swe - temp", MODULE, True),
        ("swe = swe - 1 if temp.sum() > 0 else swe", MODULE, True),
        ("if temp > 0: swe = swe - temp", "torch.jit.trace(step, (swe, temp))", True),
        ("swe = torch.where(temp > 0, swe - temp, swe)", MODULE, False),
        ("if temp.shape[0] > 3: swe = swe - temp", MODULE, False),
        ("if temp is None: swe = swe - 1", MODULE, False),
        ("if steps > 2: swe = swe - 1", MODULE, False),
        ("if self.training: swe = swe - 1", MODULE, False),
        ("if temp > 0: swe = swe - temp", "torch.jit.script(Step())", False),
        ("if temp > 0: swe = swe - temp", "Step()(swe, temp)", False),
    ],
)
def test_a_branch_by_numbers_is_named(body: str, traced: str, *, named: bool) -> None:
    text = textwrap.dedent(TEXT).format(body=body, traced=traced)
    files = [{"kind": "debugging", "at_s": BEGIN_S, "on": [], "files": [FILE]}]
    found = [(one.pattern, one.line) for one in seen(text, more=files)]
    assert found == [("torch-traced-branch", 15)] * named
