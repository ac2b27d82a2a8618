"""A static argument whose hash takes a part of every call is named, with how long it takes."""

from __future__ import annotations

import sys
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

FILE = "/walk.py"
TEXT = "for k in range(n):\n    x = step(x, net)\n"


@pytest.mark.parametrize(("hash_s", "named"), [(2e-3, True), (1e-5, False), (None, False)])
def test_its_time_in_all_calls_counts(hash_s: float | None, *, named: bool) -> None:
    stack = [[FILE, 2, "<module>"]]
    told = {"net": hash_s} if hash_s is not None else {}
    place = {"kind": "place", "at_s": BEGIN_S, "what": "jitted", "name": "step", "slot": 0}
    rows = [
        journals.process(),
        journals.call(1, stack=stack, hash_s=told),
        journals.stage(1, 0.0, {"compile": 0.1}),
        {**place, "stack": stack, "bound": []},
        journals.end(5.0),
    ]
    found = findings(ProcessTrace.of(rows, [1000, 0, 0, 0], SourceFiles({FILE: TEXT})))
    found = [one for one in found if one.pattern == "static-argument-large"]
    assert [one.line for one in found] == [2] * named
    assert [one.cost_s for one in found] == pytest.approx([2.0] * named)


PROGRAM = """
from functools import partial
import jax
import jax.numpy as jnp

EDGES = tuple((k, k + 1) for k in range(60_000))

@partial(jax.jit, static_argnames=("edges",))
def step(x, edges):
    return x * 0.5 + len(edges)

@partial(jax.jit, static_argnames=("n",))
def small(x, n):
    return x * n

x = jnp.ones(3)
for _ in range(300):
    x = step(x, EDGES)
    x = small(x, 2)
print(x)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 12), reason="no calls are told of")
def test_a_tuple_of_edges(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    found = looked(tmp_path, PROGRAM)["findings"]
    named = [one for one in found if one["pattern"] == "static-argument-large"]
    assert [one["source"] for one in named] == ["x = step(x, EDGES)"]
    assert named[0]["n"] == 300
