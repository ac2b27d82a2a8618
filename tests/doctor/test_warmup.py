"""A warm-up fills JAX's cache with what a program compiles; the program then compiles nothing."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.doctor import journals
from tests.started import coldwarm

from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace
from coldwarm.doctor.warmup import archive_of, programs, script

LIMIT_S = 240
HARD = '''
"""What is hard to build again from outside: a method, a closure, a lambda, single operations."""
import functools
import multiprocessing
import sys

import jax
import jax.numpy as jnp
import numpy as np


class Model:
    def __init__(self, n):
        self.w = jnp.ones((n, n))

    @functools.partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return jnp.tanh(x @ self.w)


def make(scale):
    @jax.jit
    def step(state, batch):
        def loss(s):
            return jnp.mean((batch["x"] * s["w"] * scale) ** 2)

        value, grad = jax.value_and_grad(loss)(state)
        return jax.tree.map(lambda a, g: a - 0.1 * g, state, grad), value

    return step


def child(n):
    print(float(jax.jit(lambda x: jnp.cos(x).sum())(jnp.ones(n))), flush=True)


if __name__ == "__main__":
    big = jnp.asarray(np.random.default_rng(0).normal(size=(64, 64)))
    print(float(Model(32).apply(jnp.ones((4, 32))).sum()))
    step, state = make(3.0), {"w": jnp.ones(8)}
    for _ in range(2):
        state, value = step(state, {"x": np.ones(8, np.float32)})
    print(float(value), float(jax.jit(lambda x: (x @ big).sum())(jnp.ones(64))))
    print(jax.vmap(jax.jit(lambda a: a + 1))(jnp.arange(3)).tolist())
    key = jax.random.split(jax.random.key(0))[0]
    print(float(jax.random.normal(key, (3,)).sum()))
    print(float(jax.lax.scan(lambda c, x: (c + x, None), 0.0, jnp.arange(5.0))[0]))
    jax.config.update("jax_enable_x64", True)
    print(jnp.ones(3).dtype, float(jnp.linalg.norm(jnp.ones(3))), flush=True)
    one = multiprocessing.get_context("spawn").Process(target=child, args=(7,))
    one.start()
    one.join()
    if "callback" in sys.argv:
        jax.jit(lambda x: jax.debug.callback(print, x[0]) or x * 2)(jnp.ones(3))
'''
LIBRARIES = """
import equinox as eqx, jax, jax.numpy as jnp, optax
from flax import linen

class Net(linen.Module):
    @linen.compact
    def __call__(self, x):
        return linen.Dense(1)(linen.relu(linen.Dense(8)(x)))

net, optimizer, x = Net(), optax.adam(1e-2), jnp.ones((4, 3))
params = net.init(jax.random.key(0), x)
state = optimizer.init(params)

@jax.jit
def step(params, state):
    grads = jax.grad(lambda p: net.apply(p, x).sum())(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state

for _ in range(3):
    params, state = step(params, state)
model = eqx.nn.MLP(3, 1, 8, 2, key=jax.random.key(1))
print(float(eqx.filter_jit(lambda m, x: jax.vmap(m)(x).sum())(model, x)))
"""


def variables(cache: Path | None = None) -> dict[str, str]:
    """Return variables with JAX's own defaults, and perhaps a cache."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    more = {} if cache is None else {"JAX_COMPILATION_CACHE_DIR": str(cache)}
    return {**kept, "JAX_PLATFORMS": "cpu", **more}


def watched(file: Path, *options: str, cache: Path | None = None) -> dict[str, Any]:
    """Return what the doctor says of a program."""
    out = file.with_suffix(".json")
    command = ("doctor", "--json", "--out", out, *options, file.name, "callback")
    done = coldwarm(*command, cwd=file.parent, env=variables(cache), timeout_s=LIMIT_S)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return {**said, "stdout": done.stdout}


def counts(report: dict[str, Any]) -> tuple[int, int]:
    """Return how many programs were compiled, and how many read."""
    sites = report["sites"]
    return sum(one["n_compiles"] for one in sites), sum(one["n_reads"] for one in sites)


@pytest.mark.slow
@pytest.mark.parametrize("program", [HARD, LIBRARIES], ids=["hard", "libraries"])
def test_after_it_a_program_compiles_nothing(program: str, tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    if program is LIBRARIES:
        for name in ("flax", "optax", "equinox"):
            pytest.importorskip(name)
    file, warmup, cache = tmp_path / "it.py", tmp_path / "fill.py", tmp_path / "cache"
    file.write_text(program, encoding="utf-8")
    first = watched(file, "--warmup", str(warmup))
    text = warmup.read_text("utf-8")
    done = subprocess.run(
        [sys.executable, str(warmup)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env=variables(cache),
    )
    assert done.returncode == 0, done.stderr
    n_kept = len(programs_of(text))
    assert f"{n_kept} programs were compiled, 0 were there" in done.stdout
    second = watched(file, cache=cache)
    n_left_out = text.count("it calls back into Python")
    assert n_left_out == (program is HARD and jax.__version_info__ < (0, 11)), text
    n_compiled, n_read = counts(second)
    assert n_compiled == n_left_out
    assert n_read == counts(first)[0] - n_left_out
    assert second["stdout"] == first["stdout"]


SMALL = "import jax, jax.numpy as jnp\nprint(jax.jit(lambda x: x * 2)(jnp.ones(3)))\n"


def filled(warmup: Path, *options: str, **more: str) -> tuple[int, str]:
    """Return how a script ended, and what it said at last."""
    done = subprocess.run(
        [sys.executable, *options, str(warmup)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        cwd=warmup.parent,
        env={**variables(), **more},
    )
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


@pytest.mark.slow
def test_what_hinders_a_script_is_said_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    file, warmup, cache = tmp_path / "it.py", tmp_path / "fill it.py", "JAX_COMPILATION_CACHE_DIR"
    file.write_text(SMALL, encoding="utf-8")
    watched(file, "--warmup", str(warmup))
    assert "    JAX_COMPILATION_CACHE_DIR=DIR python 'fill it.py'\n" in warmup.read_text("utf-8")
    (tmp_path / "file").touch()
    for place in ("file", "/proc/nowhere"):
        told = filled(warmup, **{cache: place})
        assert told[0] == 1
        assert told[1].startswith(f"JAX's cache {place} is no folder that can be written to: ")
    off = filled(warmup, **{cache: "it", "JAX_ENABLE_COMPILATION_CACHE": "0"})
    assert off == (1, "JAX's cache is switched off: leave JAX_ENABLE_COMPILATION_CACHE out")
    assert filled(warmup)[1].startswith("set JAX_COMPILATION_CACHE_DIR to the folder")
    lost = filled(warmup, **{cache: "small", "JAX_COMPILATION_CACHE_MAX_SIZE": "10"})
    assert re.fullmatch(r"(\d+) of \1 compiled programs did not stay in small", lost[1])
    assert filled(warmup, **{cache: "good"})[0] == 0
    archive = archive_of(warmup)
    archive.write_bytes(archive.read_bytes()[:-100])
    broken = filled(warmup, **{cache: "good"})
    assert broken == (
        1,
        f"{archive}, which holds the programs, cannot be used: File is not a zip file",
    )
    archive.unlink()
    assert "No such file or directory" in filled(warmup, **{cache: "good"})[1]
    status, said = filled(warmup, "-I", "-S", **{cache: "good"})
    assert (status, said.partition(", for ")[0]) == (1, "No module named 'jax'")


def programs_of(text: str) -> list[Any]:
    """Return the rows of a script."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PROGRAMS":
            return list(ast.literal_eval(node.value))
    raise AssertionError(text)


def test_a_script_says_what_is_left_out() -> None:
    numba = [journals.call(number, framework="numba") for number in (8, 9)]
    rows = [*kept(1, "step", "0a"), *kept(2, "told", None, why="callbacks"), *numba]
    text = made(rows)
    assert "Not included:" in text
    assert "told(x: f32[3]): it calls back into Python, and JAX 0.10.2 keeps no such" in text
    assert "2 programs of numba" in text
    assert "at.py:4 step(x: f32[3])" in text
    assert programs_of(text) == [("0a", "cpu", [0], [1], 0)]


def test_no_name_leaves_its_place() -> None:
    name = 'x"""\nimport os; os.abort()  # \\'
    text = made(kept(1, name, "0a"), [f"{name}.py", name])
    parsed = ast.parse(text)
    body = parsed.body
    assert [type(one).__name__ for one in body[:7]] == ["Expr", *["Import"] * 5, "ImportFrom"]
    body[0] = ast.Pass()
    assert "abort" not in ast.unparse(parsed)


def test_what_a_program_sets_itself_is_set() -> None:
    settings = {
        "jax_compilation_cache_dir": "here/cache",
        "jax_persistent_cache_enable_xla_caches": "none",
        "jax_compilation_cache_include_metadata_in_key": False,
    }
    variables = {"XLA_FLAGS": "--xla_a=1", "JAX_COMPILATION_CACHE_DIR": None}
    set_so = {"kind": "settings", "at_s": 0.0, "settings": settings, "variables": variables}
    text = made([*kept(1, "f", "0a"), set_so])
    assert "VARIABLES = {'XLA_FLAGS': '--xla_a=1'}" in text
    assert "'jax_compilation_cache_dir': 'here/cache'" in text
    assert "'jax_persistent_cache_enable_xla_caches': 'none'" in text
    assert "include_metadata" not in text
    assert "JAX_COMPILATION_CACHE_DIR=DIR" not in text


def kept(number: int, name: str, file: str | None, why: str = "") -> list[dict[str, Any]]:
    """Return the rows of a call, and of its program as JAX compiles it."""
    function = {"name": name, "path": "at.py", "line": 1}
    program = {"name": f"jit({name})", "file": file, "why": why, "call": number}
    where = {"platform": "cpu", "devices": [0], "shape": [1]}
    return [
        journals.call(number, stack=[["at.py", 4, "main"]], function=function),
        {"kind": "kept", "at_s": journals.BEGIN_S, **program, **where},
    ]


def made(rows: list[dict[str, Any]], command: list[str] | None = None) -> str:
    versions = {"jax": "0.10.2", "jaxlib": "0.10.2"}
    loaded = {"kind": "framework", "at_s": 0.0, "name": "jax", "versions": versions}
    trace = ProcessTrace.of([journals.process(), loaded, *rows], (), SourceFiles({}))
    return script(programs([trace]), command or ["at.py"], Path("fill.py"), "2026-01-02T03:04:05Z")
