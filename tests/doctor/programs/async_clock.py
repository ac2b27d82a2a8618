"""Epoch times from a decorator which reads the clock around a step that is not awaited."""

import functools
import time

import jax
import jax.numpy as jnp

TIMES = {}


def clocked(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        begin = time.perf_counter_ns()
        out = function(*args, **kwargs)
        TIMES.setdefault(function.__name__, []).append((time.perf_counter_ns() - begin) / 1e9)
        return out

    return wrapper


@clocked
@jax.jit
def evolve(x):
    return jax.lax.fori_loop(0, 25, lambda _, y: jnp.sin(y @ y.T) * 1e-2, x)


x = jnp.full((500, 500), 1e-2)
jax.block_until_ready(evolve(x))
for _ in range(5):
    x = evolve(x)
    jax.block_until_ready(x)
print(sorted(TIMES), len(TIMES["evolve"]))
