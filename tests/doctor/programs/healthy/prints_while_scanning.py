"""Prints from inside of compiled loops: JAX reads these values, not the loop around them."""

import jax
import jax.numpy as jnp


def run(start, rate):
    def turn(x, step):
        x = x - rate * x
        jax.lax.cond(
            step % 5 == 0,
            lambda: jax.debug.print("step {} x {}", step, x, ordered=True),
            lambda: None,
        )
        return x, None

    return jax.lax.scan(turn, start, jnp.arange(20))[0]


run = jax.jit(run)

if __name__ == "__main__":
    for rate in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        last = run(jnp.float32(1.0), rate)
    print(f"{last:.3f}")
