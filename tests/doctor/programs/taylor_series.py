"""The coefficients of a Taylor series, by one derivative after another."""

import math

import jax
import jax.numpy as jnp


@jax.jit
def wave(x):
    return jnp.sin(x) * jnp.exp(-0.5 * x)


def coefficients(function, point, order):
    found = []
    derivative = function
    for n in range(order):
        found.append(derivative(point) / math.factorial(n))
        derivative = jax.grad(derivative)
    return found


def main():
    found = coefficients(wave, jnp.float32(0.5), 6)
    print([f"{float(value):.3f}" for value in found])


if __name__ == "__main__":
    main()
