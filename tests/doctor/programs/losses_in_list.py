"""Collect a history inside of the compiled step."""

import jax
import jax.numpy as jnp

HISTORY = {"loss": [], "calls": 0}


def logged(function):
    """Count the calls of a function."""

    def wrapper(*args):
        HISTORY["calls"] += 1
        return function(*args)

    return wrapper


@jax.jit
@logged
def step(w, x):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
    print("step", w.shape)
    return w - 0.1 * grad, loss


def main():
    w, x = jnp.zeros(8), jnp.ones((16, 8))
    for _ in range(25):
        w, loss = step(w, x)
    print(HISTORY["calls"], loss < 1)


main()
