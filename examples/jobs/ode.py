"""An ODE, 50 steps of Runge–Kutta for a chain of n masses and springs: n from 8 to 100,000.

    coldwarm bench ode.py:numpy ode.py:numba ode.py:torch ode.py:torch_compiled \
        ode.py:jax ode.py:jax_eager --sweep n=8:100000 --input n=n

Each mass is pulled by its two neighbours; the springs become stiffer when they are stretched, and
both ends are fixed. A step evaluates the forces four times. In PyTorch a step is compiled, and
the loop stays in Python; JAX compiles the loop. Numba uses one thread.
"""

STEPS = 50
STEP = 0.05


def numpy(n):
    """Whole arrays, a loop in Python."""
    import numpy as np

    return _loop(_step(np.diff, np.pad)), _start(n)


def numba(n):
    """Loops over the masses, compiled."""
    import numba
    import numpy as np

    reaches = np.array([0, STEP / 2, STEP / 2, STEP], "float32")
    weights = np.array([STEP / 6, STEP / 3, STEP / 3, STEP / 6], "float32")

    @numba.njit
    def solve(x, v):
        n = len(x)
        place = np.zeros(n + 2, x.dtype)  # with both ends
        speed, push = np.zeros_like(x), np.zeros_like(x)
        for _ in range(STEPS):
            new_x, new_v = x.copy(), v.copy()
            for stage in range(4):
                for i in range(n):
                    place[i + 1] = x[i] + reaches[stage] * speed[i]
                    speed[i] = v[i] + reaches[stage] * push[i]
                for i in range(n):
                    left, right = place[i + 1] - place[i], place[i + 2] - place[i + 1]
                    push[i] = right + right * right * right - left - left * left * left
                    new_x[i] += weights[stage] * speed[i]
                    new_v[i] += weights[stage] * push[i]
            x, v = new_x, new_v
        return x, v

    return solve, _start(n)


def torch(n):
    """Whole tensors, a loop in Python."""
    import torch

    step = _step(torch.diff, torch.nn.functional.pad, ends=(1, 1))
    return _loop(step), tuple(map(torch.from_numpy, _start(n)))


def torch_compiled(n):
    """The same loop around a compiled step."""
    import torch

    step = _step(torch.diff, torch.nn.functional.pad, ends=(1, 1))
    return _loop(torch.compile(step)), tuple(map(torch.from_numpy, _start(n)))


def jax(n):
    """Whole arrays; steps and loop are one program."""
    import jax
    import jax.numpy as jnp

    step = _step(jnp.diff, jnp.pad)

    @jax.jit
    def solve(x, v):
        return jax.lax.fori_loop(0, STEPS, lambda _, state: step(*state), (x, v))

    return solve, tuple(map(jnp.asarray, _start(n)))


def jax_eager(n):
    """The same step, one operation after the other, and a loop in Python."""
    import jax.numpy as jnp

    return _loop(_step(jnp.diff, jnp.pad)), tuple(map(jnp.asarray, _start(n)))


def _step(diff, pad, ends=1):
    """Return one step for places ``x`` and speeds ``v``, with two functions of a library."""

    def push(x):
        stretch = diff(pad(x, ends))
        return diff(stretch + stretch * stretch * stretch)

    def step(x, v):
        a1 = push(x)
        v2, a2 = v + STEP / 2 * a1, push(x + STEP / 2 * v)
        v3, a3 = v + STEP / 2 * a2, push(x + STEP / 2 * v2)
        v4, a4 = v + STEP * a3, push(x + STEP * v3)
        return x + STEP / 6 * (v + 2 * v2 + 2 * v3 + v4), v + STEP / 6 * (a1 + 2 * a2 + 2 * a3 + a4)

    return step


def _loop(step):
    def solve(x, v):
        for _ in range(STEPS):
            x, v = step(x, v)
        return x, v

    return solve


def _start(n):
    import numpy as np

    x, v = np.random.default_rng(0).standard_normal((2, n)).astype("float32") / 2
    return x, v
