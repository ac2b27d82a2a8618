"""Train, and evaluate with the highest precision, then go on with a third."""

import contextlib

import jax
import jax.numpy as jnp


@jax.jit
def loss_of(w, x):
    return jnp.mean((jnp.tanh(x @ w) @ w.T - x) ** 2)


descend = jax.jit(lambda w, x: w - 0.05 * jax.grad(loss_of)(w, x))


@contextlib.contextmanager
def precise():
    """Evaluate as exactly as can be."""
    with jax.default_matmul_precision("highest"), jax.numpy_dtype_promotion("strict"):
        yield


def main():
    x = jnp.linspace(-1, 1, 64 * 16).reshape(64, 16)
    w = jnp.full((16, 4), 0.1, jnp.float32)
    fast, exact = [], []
    for turn in range(10):
        w = descend(w, x)
        fast.append(loss_of(w, x))
        if turn % 5 == 4:
            with precise():
                exact.append(loss_of(w, x))
    print(len(fast), len(exact))


main()
