"""A line search: the old point is needed again, so nothing can be given away."""

import jax
import jax.numpy as jnp


@jax.jit
def proposal(x, rate):
    gradient = jax.grad(lambda x: jnp.sum(jnp.cosh(x)))(x)
    return x - rate * gradient


@jax.jit
def chosen(old, new):
    better = jnp.sum(jnp.cosh(new)) < jnp.sum(jnp.cosh(old))
    return jnp.where(better, new, old), better


def main(size=2_000_000):
    x = jnp.linspace(-1, 1, size)
    rate = jnp.float32(0.5)
    for _ in range(20):
        candidate = proposal(x, rate)
        kept, better = chosen(x, candidate)
        rate = jnp.where(better, rate * 1.1, rate * 0.5)
        distance = jnp.abs(kept - x).max() + jnp.abs(candidate - x).max()
        x = kept
    print(f"{jnp.abs(x).max():.2f}", distance.shape)


if __name__ == "__main__":
    main()
