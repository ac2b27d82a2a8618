"""A compiled potential whose gradient is taken outside."""

import jax
import jax.numpy as jnp


@jax.jit
def potential(x):
    distance = jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1.0)
    return jnp.sum(1 / distance**12 - 1 / distance**6)


def forces(x):
    return -jax.grad(potential)(x)


def main():
    x = jnp.sin(jnp.arange(36.0).reshape(12, 3) * 2)
    start = potential(x)
    for _ in range(100):
        x = x + 0.01 * forces(x)
    batch = jnp.stack([x, x + 0.1])
    both = jax.vmap(potential)(batch)
    print(bool(potential(x) < start), both.shape)


if __name__ == "__main__":
    main()
