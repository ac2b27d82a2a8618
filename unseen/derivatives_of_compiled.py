"""Derivatives of a compiled potential, each taken where it is needed."""

import jax
import jax.numpy as jnp


@jax.jit
def potential(x):
    r = jnp.sqrt(1.0 + x**2)
    return jnp.exp(-r) * jnp.cos(3.0 * x) / r


def series(f, x, terms):
    """Return the coefficients of a Taylor series."""
    out = []
    for n in range(terms):
        out.append(f(x))
        f = jax.grad(f)
    return out


def main():
    terms = series(potential, 0.3, 5)
    print(len(terms))


main()
