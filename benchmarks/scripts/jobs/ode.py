"""Fifty steps of classical Runge-Kutta for a chain of n masses and springs.

A spring stretched by d pulls with d + 0.25 d^3, both ends are fixed to walls,
the step is 0.05 and the state is (x, v). NumPy, torch and un-jitted JAX loop in
Python over whole-array steps; torch.compile compiles the step; JAX has the loop
inside one jit; Numba loops over the masses.
"""

import numpy as np
from timing import run

STEPS = 50
H = 0.05


def inputs(n):
    rng = np.random.default_rng(0)
    return [0.1 * rng.standard_normal(n, dtype=np.float32) for _ in range(2)]


def step_with(pad):
    """One step in whole arrays; pad(x) puts a wall (a zero) at each end."""

    def acceleration(x):
        walled = pad(x)
        d = walled[1:] - walled[:-1]
        force = d + 0.25 * d * d * d
        return force[1:] - force[:-1]

    def step(x, v):
        a1 = acceleration(x)
        v2 = v + H / 2 * a1
        a2 = acceleration(x + H / 2 * v)
        v3 = v + H / 2 * a2
        a3 = acceleration(x + H / 2 * v2)
        v4 = v + H * a3
        a4 = acceleration(x + H * v3)
        x = x + H / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + H / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return x, v

    return step


def loop_of(step):
    def solve(x, v):
        for _ in range(STEPS):
            x, v = step(x, v)
        return x, v

    return solve


def build_numpy():
    def pad(x):
        walled = np.zeros(x.size + 2, dtype=x.dtype)
        walled[1:-1] = x
        return walled

    return loop_of(step_with(pad))


def build_numba():
    from numba import njit

    h, half, sixth = np.float32(H), np.float32(H / 2), np.float32(H / 6)
    quarter, two = np.float32(0.25), np.float32(2)

    @njit
    def force(d):
        return d + quarter * d * d * d

    @njit
    def accelerate(x, a):
        last = x.size - 1
        a[0] = force(x[1] - x[0]) - force(x[0])
        for i in range(1, last):
            a[i] = force(x[i + 1] - x[i]) - force(x[i] - x[i - 1])
        a[last] = force(-x[last]) - force(x[last] - x[last - 1])

    @njit
    def solve(x, v):
        x, v = x.copy(), v.copy()
        a1, a2 = np.empty_like(x), np.empty_like(x)
        a3, a4 = np.empty_like(x), np.empty_like(x)
        at = np.empty_like(x)
        for _ in range(STEPS):
            accelerate(x, a1)
            for i in range(x.size):
                at[i] = x[i] + half * v[i]
            accelerate(at, a2)
            for i in range(x.size):
                at[i] = x[i] + half * (v[i] + half * a1[i])
            accelerate(at, a3)
            for i in range(x.size):
                at[i] = x[i] + h * (v[i] + half * a2[i])
            accelerate(at, a4)
            for i in range(x.size):
                v2, v3, v4 = v[i] + half * a1[i], v[i] + half * a2[i], v[i] + h * a3[i]
                x[i] += sixth * (v[i] + two * v2 + two * v3 + v4)
                v[i] += sixth * (a1[i] + two * a2[i] + two * a3[i] + a4[i])
        return x, v

    return solve


def torch_step():
    from torch.nn.functional import pad

    return step_with(lambda x: pad(x, (1, 1)))


def build_torch():
    return loop_of(torch_step())


def build_torch_compiled():
    import torch

    return loop_of(torch.compile(torch_step()))


def jax_step():
    import jax.numpy as jnp

    return step_with(lambda x: jnp.pad(x, 1))


def build_jax():
    import jax
    from jax import lax

    step = jax_step()

    @jax.jit
    def solve(x, v):
        return lax.fori_loop(0, STEPS, lambda _, state: step(*state), (x, v))

    return solve


def build_jax_eager():
    return loop_of(jax_step())


if __name__ == "__main__":
    run(inputs, globals())
