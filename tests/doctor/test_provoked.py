"""Each kind of cause is provoked in a real program, and named with the argument and both values."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.started import coldwarm

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

ONE, TWO = jax.devices()


@jax.jit
def shaped(x):
    return x * 2


@jax.jit
def typed(x):
    return x * 2


@jax.jit
def weak(x):
    return x * 2


@partial(jax.jit, static_argnames="power")
def fixed(x, power):
    return x**power


@jax.jit
def nested(state):
    return jax.tree.map(lambda leaf: leaf * 2, state)


@jax.jit
def placed(x):
    return x * 2


@jax.jit
def spread(x):
    return x * 2


@jax.jit
def set_otherwise(x):
    return x @ x


@jax.jit
def transformed(x):
    return (x * 2).sum()


def made(scale):
    return jax.jit(lambda x: x * scale)


@partial(jax.jit, static_argnames="n")
def together(x, n):
    return x * n


for n in range(6):
    shaped(jnp.ones(3 + n))
for n in range(1, 6):
    together(np.ones(n), n=n)
lowered = [jax.jit(lambda x: x + 1).lower(1.0)]
lowered[0].compile()
for dtype in ("float32", "int32"):
    typed(np.ones(3, dtype))
for value in (jnp.ones(()), 1.0):
    weak(value)
for power in range(5):
    fixed(np.ones(3), power=power)
for n in range(1, 5):
    nested({f"layer{at}": np.ones(3) for at in range(n)})
for where in (jnp.ones(3), jax.device_put(jnp.ones(3), ONE)):
    placed(where)
mesh = jax.make_mesh((2,), ("data",))
for spec in (PartitionSpec(), PartitionSpec("data")):
    spread(jax.device_put(np.ones(4, "float32"), NamedSharding(mesh, spec)))
for precision in ("default", "highest"):
    with jax.default_matmul_precision(precision):
        set_otherwise(np.ones((3, 3)))
x = jnp.ones((2, 2, 3))
for change in (jax.grad, jax.jacfwd, jax.hessian, jax.vmap, lambda f: jax.vmap(jax.grad(f))):
    for around in (lambda f: f, jax.vmap):
        around(change(transformed))(x)
for scale in (1.0, 2.0, 3.0):
    made(scale)(np.ones(3))
"""
WANTED = {
    "shaped": ("shape", "x", "f32[7]", "f32[8]"),
    "typed": ("dtype", "x", "f32[3]", "i32[3]"),
    "weak": ("weak_type", "x", "strongly", "weakly"),
    "fixed": ("static", "power", "3", "4"),
    "nested": ("tree", "state", "'layer2': *}", "'layer3': *}"),
    "placed": ("commitment", "x", "False", "True"),
    "spread": ("sharding", "x", "spec=", "('data'"),
    "set_otherwise": ("context", "jax_default_matmul_precision", "default", "highest"),
    "made.<lambda>": ("new_function", "scale", "2.0", "3.0"),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("jax")
    folder: Path = tmp_path_factory.mktemp("causes")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    settings = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    command = ("doctor", "--json", "--out", "out.json", "program.py")
    done = coldwarm(*command, cwd=folder, env={**os.environ, **settings}, timeout_s=240)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads((folder / "out.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("function", WANTED)
def test_each_cause_is_named_with_the_argument_and_both_values(
    report: dict[str, Any], function: str
) -> None:
    kind, argument, before, now = WANTED[function]
    causes = [
        one["cause"]
        for one in report["findings"]
        if one["cause"] and one["says"]["values"].get("function") == function
    ]
    assert [one["kind"] for one in causes] == [kind]
    (cause,) = causes
    assert cause["argument"] == argument
    assert before in cause["before"]
    assert now in cause["now"]


def test_a_transform_of_a_traced_function_is_named(report: dict[str, Any]) -> None:
    sites = [one for one in report["sites"] if one["function"] == "transformed"]
    assert sum(one["causes"].get("transform", 0) for one in sites) >= 4
    found = [one for one in report["findings"] if one["pattern"] == "transform-of-traced"]
    assert found
    assert all(one["cause"]["before"] != one["cause"]["now"] for one in found)


def test_where_two_arguments_change_together_one_alone_saves_nothing(
    report: dict[str, Any],
) -> None:
    found = [
        one for one in report["findings"] if one["says"]["values"].get("function") == "together"
    ]
    assert found
    assert all(one["saving_s"] is None for one in found)
    (code,) = {one["null_reasons"]["saving_s"]["code"] for one in found}
    assert code == "saving_other"


def test_what_is_compiled_by_itself_is_told_at_its_own_line(report: dict[str, Any]) -> None:
    lines = PROGRAM.splitlines()
    lower, compiled = (
        next(at for at, text in enumerate(lines, 1) if text.startswith(start))
        for start in ("lowered = ", "lowered[0]")
    )
    named = {one["line"]: one for one in report["sites"] if one["function"].endswith("<lambda>")}
    assert named[lower]["n_compiles"] == 0
    assert (named[compiled]["n_compiles"], named[compiled]["lower_s"]) == (1, 0)
