"""Gradient descent on Rosenbrock's function."""

import jax
import jax.numpy as jnp


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def minimise(function, x, rate, steps):
    for _ in range(steps):
        g = jax.jit(jax.grad(function))(x)
        x = x - rate * g / (1.0 + jnp.linalg.norm(g))
    return x


def main():
    x = minimise(rosenbrock, jnp.full(6, -0.5), rate=0.05, steps=30)
    print(f"value {rosenbrock(x):.1f}")


if __name__ == "__main__":
    main()
