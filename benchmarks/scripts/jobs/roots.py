"""Newton's method, twenty steps, for n independent Kepler equations.

x - e sin(x) = m, each with its own e in (0, 0.9) and m in (0, 2 pi), from
x = m; all take twenty steps. NumPy, torch and un-jitted JAX loop in Python over
whole arrays; torch.compile compiles the step; JAX has the loop inside one jit;
Numba takes all steps for one equation, then the next.
"""

import math

import numpy as np
from timing import run

STEPS = 20


def inputs(n):
    rng = np.random.default_rng(0)
    e = np.float32(0.9) * rng.random(n, dtype=np.float32)
    m = np.float32(2 * math.pi) * rng.random(n, dtype=np.float32)
    return [e, m]


def step_with(xp):
    def step(x, e, m):
        return x - (x - e * xp.sin(x) - m) / (1 - e * xp.cos(x))

    return step


def loop_of(step):
    def solve(e, m):
        x = m
        for _ in range(STEPS):
            x = step(x, e, m)
        return x

    return solve


def build_numpy():
    return loop_of(step_with(np))


def build_numba():
    from numba import njit

    one = np.float32(1)

    @njit
    def solve(e, m):
        out = np.empty_like(m)
        for i in range(m.size):
            x = m[i]
            for _ in range(STEPS):
                x -= (x - e[i] * math.sin(x) - m[i]) / (one - e[i] * math.cos(x))
            out[i] = x
        return out

    return solve


def build_torch():
    import torch

    return loop_of(step_with(torch))


def build_torch_compiled():
    import torch

    return loop_of(torch.compile(step_with(torch)))


def build_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

    step = step_with(jnp)

    @jax.jit
    def solve(e, m):
        return lax.fori_loop(0, STEPS, lambda _, x: step(x, e, m), m)

    return solve


def build_jax_eager():
    import jax.numpy as jnp

    return loop_of(step_with(jnp))


if __name__ == "__main__":
    run(inputs, globals())
