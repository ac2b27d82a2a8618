"""Filled caches that a user will not have, who sets no more than a folder."""

from __future__ import annotations

from tests.deceit.base import Deceit

_SAID = ("filled_by_default",)

DECEITS = (
    Deceit(
        name="small_programs_of_jax",
        hides="compiling, in a cache that keeps small programs only for whoever lowers a threshold",
        figure="filled",
        needs=("jax",),
        said=_SAID,
        source="""
            import jax
            import jax.numpy as jnp

            X = jnp.ones((24, 24))

            def part(n):
                @jax.jit
                def step(x):
                    for k in range(4):
                        x = jnp.tanh(x @ x + k * n) * jnp.cos(x).sum()
                    return x
                return step

            PARTS = [part(n) for n in range(10)]

            def f():
                x = X
                for one in PARTS:
                    x = one(x)
                return x
        """,
    ),
    Deceit(
        name="eager_programs_of_jax",
        hides="compiling of single operations, which are cached by nobody else",
        figure="filled",
        needs=("jax",),
        said=_SAID,
        source="""
            import jax.numpy as jnp

            X = jnp.ones((24, 24))

            def f():
                x = X
                for name in ("sin", "cos", "tan", "exp", "log1p", "sqrt", "tanh", "cosh", "arctan"):
                    x = getattr(jnp, name)(x) / 9.0
                return (x @ x).sum()
        """,
    ),
)
