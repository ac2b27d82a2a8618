"""Keeps every state of a map."""

import jax
import jax.numpy as jnp


@jax.jit
def logistic(x):
    return 3.7 * x * (1 - x)


def main():
    x = jnp.linspace(0.1, 0.9, 8)
    trajectory = x[None]
    for _ in range(36):
        x = logistic(x)
        trajectory = jnp.concatenate([trajectory, x[None]], axis=0)
    print(trajectory.shape, f"{trajectory.mean():.1f}")


if __name__ == "__main__":
    main()
