"""timeit on a compiled function."""

import timeit

import jax
import jax.numpy as jnp


@jax.jit
def chain(x):
    return jax.lax.fori_loop(0, 20, lambda _, y: jnp.tanh(y @ x), x)


if __name__ == "__main__":
    x = jnp.eye(500) * 0.9
    chain(x).block_until_ready()
    seconds = timeit.timeit(lambda: chain(x), number=4)
    print("per call", seconds > 0)
