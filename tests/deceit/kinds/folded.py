"""Closures that a compiler computes once and for all, from data that cannot be others."""

from __future__ import annotations

from tests.deceit.base import Deceit

_SAID = ("untried", "constants_folded")
_HEAD = """
    import jax
    import jax.numpy as jnp
    import numpy as np

    RNG = np.random.default_rng(0)
    A = jnp.asarray(RNG.normal(size=(300, 300)) / 20)
    V = jnp.asarray(RNG.normal(size=100_000))
"""


def _closure(name: str, work: str, over: str = "A", *, quick: bool = False) -> Deceit:
    """Return a closure over an array, whose truth is the same with the array as an argument."""
    return Deceit(
        name=name,
        hides=f"the work, {work}, of an array in a closure",
        figure="warm",
        said=_SAID,
        source=f"{_HEAD}\n    f = jax.jit(lambda: {work})\n",
        truth=f"""
            import subject
            from subject import *
            true = jax.jit(lambda {over}: {work})
            true({over}).block_until_ready()
            for k in range({{calls}}):
                given = jax.block_until_ready({over} + k * 1e-6)
                mark()
                true(given).block_until_ready()
                mark()
        """,
        needs=("jax",),
        quick=quick,
    )


DECEITS = (
    _closure("folded_power", "jnp.linalg.matrix_power(A, 31).sum()"),
    _closure("folded_product", "(A @ A @ A).sum()"),
    _closure("folded_exponentials", "jnp.exp(jnp.sin(V)).sum()", "V"),
    _closure("folded_sums", "jnp.cumsum(jnp.cumsum(V))[-1]", "V"),
    _closure("folded_norm", "jnp.linalg.norm(A @ A.T)"),
    _closure("folded_loop", "jax.lax.fori_loop(0, 9, lambda i, a: jnp.tanh(a @ A), A).sum()"),
    _closure("folded_map", "jax.vmap(lambda row: jnp.outer(row, row).sum())(A).sum()"),
    _closure("folded_softmax", "jax.nn.softmax(A @ A).max()"),
    _closure("folded_gradient", "jax.grad(lambda v: jnp.sum(jnp.sin(v) ** 2))(V).sum()", "V"),
    _closure("folded_einsum", "jnp.einsum('ij,jk,ki->', A, A, A)"),
)
