"""Langevin dynamics."""

import jax
import jax.numpy as jnp


@jax.jit
def langevin(key, x, dt):
    noise = jax.random.normal(key, x.shape)
    return x - dt * x + jnp.sqrt(2 * dt) * noise


class Sampler:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def run(self, x, steps):
        for _ in range(steps):
            x = langevin(self.key, x, 0.05)
        return x


if __name__ == "__main__":
    x = Sampler(0).run(jnp.zeros(1000), 100)
    print(f"spread {x.std():.1f}")
