"""An orbit, integrated inside one compiled function."""

import jax
import jax.numpy as jnp


def acceleration(position):
    return -position / jnp.linalg.norm(position) ** 3


@jax.jit
def orbit(position, velocity):
    for _ in range(120):
        velocity = velocity + 0.01 * acceleration(position)
        position = position + 0.01 * velocity
    return position, velocity


def main():
    position, velocity = orbit(jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]))
    print(f"radius {jnp.linalg.norm(position):.2f}, speed {jnp.linalg.norm(velocity):.2f}")


main()
