"""A factory that imports JAX only when it is called."""

from __future__ import annotations

from typing import Any


def make() -> tuple[Any, tuple[Any]]:
    """Return a jitted function and its argument."""
    import jax
    import jax.numpy as jnp

    def decayed(x: Any) -> Any:
        for step in range(8):
            x = jnp.exp(-x * x) + jnp.sin(step * x)
        return x.sum()

    return jax.jit(decayed), (jnp.linspace(0.0, 1.0, 20_000),)
