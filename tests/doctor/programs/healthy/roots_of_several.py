"""Finds the roots of several functions: each needs a loop of its own, compiled once."""

import jax
import jax.numpy as jnp


def root(function, low, high):
    def halve(state):
        low, high = state
        middle = 0.5 * (low + high)
        above = function(middle) > 0
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    def is_wide(state):
        low, high = state
        return high - low > 1e-4

    low, high = jax.lax.while_loop(is_wide, halve, (jnp.float32(low), jnp.float32(high)))
    return 0.5 * (low + high)


if __name__ == "__main__":
    print(f"{root(lambda x: x**2 - 2, 0, 2):.2f}")
    print(f"{root(lambda x: x**3 - 2, 0, 2):.2f}")
    print(f"{root(jnp.sin, -1, 2):.2f}")
    print(f"{root(lambda x: jnp.exp(x) - 3, 0, 2):.2f}")
    print(f"{root(jnp.tanh, -2, 1):.2f}")
