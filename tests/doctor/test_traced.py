"""The time of what is traced below ``grad`` and ``vmap``, of which JAX does not tell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.doctor.odd import PYTHONS
from tests.doctor.test_odd_frameworks import compiled, told

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
SLEPT_S = 0.3
PROGRAM = """
    import time
    import jax
    import jax.numpy as jnp

    @jax.jit
    def loss(w, x):
        time.sleep({slept})  # as a function that is large takes to be traced
        return jnp.mean((x @ w) ** 2)

    w, x = jnp.ones(4), jnp.ones((3, 4))
    {lines}
"""


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize(
    "lines",
    [
        "jax.grad(loss)(w, x)",
        "jax.vmap(loss, in_axes=(None, 0))(w, jnp.ones((5, 3, 4)))",
        "jax.vmap(jax.value_and_grad(loss), (None, 0))(w, jnp.ones((5, 3, 4)))",
        "loss(w, x)",
    ],
)
def test_what_is_traced_below_another_function_is_time_of_its_line(
    lines: str, python: str, tmp_path: Path
) -> None:
    report = told(tmp_path, PROGRAM.format(slept=SLEPT_S, lines=lines), python)
    (site,) = [one for one in report["sites"] if one["function"] == "loss"]
    if site["n_calls"] is None and not report["account"]["run_s"]:
        pytest.skip("this Python does not tell of calls")
    assert site["trace_s"] >= SLEPT_S
    assert site["n_compiles"] >= 1
    assert site["causes"] == {}
    assert site["total_s"] <= report["account"]["total_s"]  # and is there once


BROKEN = """
    import jax
    import jax.numpy as jnp

    @jax.jit
    def wrong(x):
        if x > 0:
            return x
        return -x

    @jax.jit
    def right(x):
        return jnp.tanh(x)

    try:
        jax.grad(wrong)(1.0)
    except jax.errors.TracerBoolConversionError:
        print("as expected")
    x = jnp.ones((300, 300))
    for _ in range(30):
        x = right(x)
        print(float(x[0, 0]) > 0)
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="calls are not told")
def test_an_error_below_grad_does_not_leave_its_trace_open(tmp_path: Path) -> None:
    report = told(tmp_path, BROKEN)
    assert ("jax", "right", 1) in compiled(report)
    assert [one["n_calls"] for one in report["sites"] if one["function"] == "right"] == [30]
    assert "host-sync-in-loop" in {one["pattern"] for one in report["findings"]}  # not in a trace
