"""Dropout in a training loop."""

import jax
import jax.numpy as jnp


def dropout(key, x, rate=0.3):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0.0)


@jax.jit
def step(w, x, key):
    def loss(w):
        return jnp.mean((dropout(key, x) @ w - 1.0) ** 2)

    return w - 0.05 * jax.grad(loss)(w)


def main():
    x = jnp.sin(jnp.arange(60.0 * 5).reshape(60, 5)) + 0.5
    w = jnp.zeros(5)
    for _ in range(100):
        key = jax.random.PRNGKey(42)
        w = step(w, x, key)
    print(f"norm {jnp.linalg.norm(w):.1f}")


if __name__ == "__main__":
    main()
