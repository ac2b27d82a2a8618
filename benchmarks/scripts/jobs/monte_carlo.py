"""Price of an Asian option by Monte Carlo, n random paths of 100 steps.

Geometric Brownian motion from 1, volatility 0.2, rate 0.05, one year; the
payoff is max(mean of the price over the path - 1, 0), discounted. The normals
(100 x n) are the argument: drawing them is not measured. NumPy, torch and
un-jitted JAX take all paths and steps at once; Numba one path after the other;
JAX loops over the steps with all paths inside one jit.
"""

import math

import numpy as np
from timing import run

STEPS = 100
STRIKE = 1.0
RATE, VOLATILITY, YEARS = 0.05, 0.2, 1.0
DRIFT = (RATE - VOLATILITY**2 / 2) * YEARS / STEPS
SPREAD = VOLATILITY * math.sqrt(YEARS / STEPS)
DISCOUNT = math.exp(-RATE * YEARS)


def inputs(n):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((STEPS, n), dtype=np.float32)]


def build_numpy():
    def price(normals):
        paths = np.exp(np.cumsum(DRIFT + SPREAD * normals, axis=0))
        payoff = np.maximum(paths.mean(axis=0) - STRIKE, 0)
        return DISCOUNT * payoff.mean()

    return price


def build_numba():
    from numba import njit

    drift, spread = np.float32(DRIFT), np.float32(SPREAD)
    strike, discount = np.float32(STRIKE), np.float32(DISCOUNT)
    zero = np.float32(0)

    @njit
    def price(normals):
        steps, paths = normals.shape
        payoffs = zero
        for path in range(paths):
            log_price = zero
            total = zero
            for step in range(steps):
                log_price += drift + spread * normals[step, path]
                total += math.exp(log_price)
            payoffs += max(total / np.float32(steps) - strike, zero)
        return discount * payoffs / np.float32(paths)

    return price


def build_torch():
    import torch

    def price(normals):
        paths = torch.exp(torch.cumsum(DRIFT + SPREAD * normals, dim=0))
        payoff = torch.relu(paths.mean(dim=0) - STRIKE)
        return DISCOUNT * payoff.mean()

    return price


def build_torch_compiled():
    import torch

    return torch.compile(build_torch())


def build_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    @jax.jit
    def price(normals):
        def step(carry, row):
            log_price, total = carry
            log_price = log_price + (DRIFT + SPREAD * row)
            return (log_price, total + jnp.exp(log_price)), None

        start = jnp.zeros_like(normals[0])
        (_, total), _ = lax.scan(step, (start, start), normals)
        payoff = jnp.maximum(total / normals.shape[0] - STRIKE, 0)
        return DISCOUNT * payoff.mean()

    return price


def build_jax_eager():
    import jax.numpy as jnp

    def price(normals):
        paths = jnp.exp(jnp.cumsum(DRIFT + SPREAD * normals, axis=0))
        payoff = jnp.maximum(paths.mean(axis=0) - STRIKE, 0)
        return DISCOUNT * payoff.mean()

    return price


if __name__ == "__main__":
    run(inputs, globals())
