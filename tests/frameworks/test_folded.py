"""Programs that XLA has computed from their constants while compiling are named, others are not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import numpy as np
import jax, jax.numpy as jnp
from coldwarm.frameworks.jax import JaxWatch

rng = np.random.default_rng(0)
A = jnp.asarray(rng.normal(size=(60, 60)) / 8)
V = jnp.asarray(rng.normal(size=500))
HOST = rng.normal(size=(40, 40)).astype("f4")
x = jnp.ones(500)
jax.block_until_ready((A, V, x))
folded = {
    "power": (lambda: jnp.linalg.matrix_power(A, 31).sum(), ()),
    "product": (lambda: (A @ A).sum(), ()),
    "norm": (lambda: jnp.sqrt((V * V).sum()), ()),
    "host": (lambda: jnp.asarray(HOST).sum() * 2, ()),
    "table": (lambda: jnp.cumsum(V), ()),
    "exponent": (lambda: jnp.exp(V).sum(), ()),
    "scalar": (lambda s: s + (A @ A).sum(), (2.0,)),
    "loop": (lambda: jax.lax.fori_loop(0, 4, lambda i, a: jnp.tanh(a), V).sum(), ()),
    "several": (lambda: (V.sum(), A.sum()), ()),
    "picked": (lambda i: i * jnp.linalg.norm(A), (3.0,)),
    "mapped": (lambda: jax.vmap(jnp.dot)(A, A).sum(), ()),
}
honest = {
    "argument": (lambda a: (a @ a).sum(), (A,)),
    "weights": (lambda v: (v @ HOST).sum(), (jnp.ones(40, "f4"),)),
    "both": (lambda v: jnp.exp(v * V).sum(), (x,)),
    "plain": (lambda v: v + 1, (x,)),
    "fresh": (lambda: jnp.zeros(500) + 1, ()),
    "scaled": (lambda v: jnp.sin(v) * V.sum(), (x,)),
    "copied": (lambda v: v, (x,)),
    "random": (lambda k: jax.random.normal(k, (500,)), (jax.random.key(0),)),
}
found = {}
for name, (function, given) in {**folded, **honest}.items():
    watch = JaxWatch()
    watch.install()
    function.__name__ = name
    out = jax.jit(function)(*given)
    jax.block_until_ready(out)
    watch.mark()
    found[name] = watch.folded()
    for undo in watch._undo:
        undo()
print(json.dumps([found, list(folded), list(honest)]))
"""


def test_what_is_compiled_to_a_constant_is_named() -> None:
    pytest.importorskip("jax")
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, timeout=240
    )
    found, folded, honest = json.loads(ended.stdout)
    assert {name: found[name] for name in honest if found[name]} == {}
    assert [name for name in folded if found[name] != [f"jit({name})"]] == []
    assert len(folded) > 10
