"""Works until a deadline that is far away; the clock is no measurement."""

import time

import jax
import jax.numpy as jnp


@jax.jit
def improve(x):
    return jax.lax.fori_loop(0, 20, lambda _, y: y - 0.1 * jnp.sin(y), x)


def main():
    deadline = time.monotonic() + 300.0
    x = jnp.linspace(0, 3, 100_000)
    for _ in range(60):
        x = improve(x)
        if time.monotonic() > deadline:
            break
    print(f"{x.max():.2f}")


if __name__ == "__main__":
    main()
