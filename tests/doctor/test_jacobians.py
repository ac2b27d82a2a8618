"""Jacobians that are taken the long way are named, where they matter; the others are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S
from tests.doctor.test_looks import looked

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from pathlib import Path

FILE = "/fit.py"
TEXT = "def fit(x):\n    return jacobian(x)\n\nfit(x)\n"


@pytest.mark.parametrize(
    ("by", "n_inputs", "n_outputs", "spent_s", "named"),
    [
        ("jacrev", 14, 1500, 2.0, True),
        ("jacfwd", 260, 1, 2.0, True),
        ("jacfwd", 14, 1500, 2.0, False),
        ("jacrev", 260, 1, 2.0, False),
        ("jacrev", 14, 60, 2.0, False),  # few passes
        ("jacrev", 400, 1500, 2.0, False),
        ("jacrev", 14, 1500, 0.1, False),  # of no matter
    ],
)
def test_the_direction_with_many_more_passes_is_named(
    by: str, n_inputs: int, n_outputs: int, spent_s: float, *, named: bool
) -> None:
    row = {"kind": "jacobian", "at_s": BEGIN_S, "by": by, "stack": [[FILE, 2, "fit"]]}
    rows = [
        journals.process(),
        {**row, "framework": "jax", "n_inputs": n_inputs, "n_outputs": n_outputs},
        *journals.looks(0.0, ((FILE, 2), "", spent_s)),
        journals.end(3.0),
    ]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: TEXT})))
    assert [(one.pattern, one.line) for one in found] == [("jacobian-direction", 2)] * named


PROGRAM = """
import time
import jax
import jax.numpy as jnp

t = jnp.linspace(0.0, 1.0, 2000)

def residuals(p):
    return p[0] * jnp.exp(-p[1] * t) + jnp.sin(p[2] * t)

tall = jax.jit(jax.jacrev(residuals))
short = jax.jit(jax.jacfwd(residuals))
whole = jax.jit(jax.hessian(lambda p: jnp.sum(residuals(p) ** 2)))

def solve(p):
    end = time.monotonic() + 2
    while time.monotonic() < end:
        J = tall(p)
        K = short(p)
        H = whole(p)
        p = p + 1e-9 * (J.T @ J @ K.T).sum() + 1e-9 * H.sum()
    return p

print(solve(jnp.ones(3)))
"""


@pytest.mark.slow
def test_jax_tells_of_rows_and_columns(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    found = looked(tmp_path, PROGRAM)["findings"]
    named = [one for one in found if one["pattern"] == "jacobian-direction"]
    assert [one["source"] for one in named] == ["J = tall(p)"]
    told = {"function": "jax.jacrev", "other": "jax.jacfwd"}
    assert named[0]["says"]["values"] == {"n_inputs": 3, "n_outputs": 2000, **told}


OF_TORCH = """
import time
import torch
from torch.func import hessian, jacfwd, jacrev

t = torch.linspace(0.0, 1.0, 2000)

def residuals(p):
    return p[0] * torch.exp(-p[1] * t) + torch.sin(p[2] * t)

def energy(q):
    return (q * q).sum()[None]

end = time.monotonic() + 4
p, q = torch.ones(3), torch.ones(300)
while time.monotonic() < end:
    J = jacrev(residuals)(p)
    K = jacfwd(residuals)(p)
    g = jacrev(energy)(q)
    G = jacfwd(energy)(q)
    H = hessian(lambda p: (residuals(p) ** 2).sum())(p)
print(J.shape)
"""


@pytest.mark.slow
def test_pytorch_tells_of_rows_and_columns(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = looked(tmp_path, OF_TORCH)["findings"]
    named = [one for one in found if one["pattern"] == "jacobian-direction"]
    assert {one["source"] for one in named} <= {"J = jacrev(residuals)(p)", "G = jacfwd(energy)(q)"}
    (rows,) = [one for one in named if one["source"].startswith("J")]
    told = {"function": "torch.func.jacrev", "other": "torch.func.jacfwd"}
    assert rows["says"]["values"] == {"n_inputs": 3, "n_outputs": 2000, **told}
