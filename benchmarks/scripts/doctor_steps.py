"""Runs blocks of steps when it is told to, and prints what each block took.

``python doctor_steps.py KIND`` prints ``ready`` when everything is compiled. Then each line with a
number of steps runs so many and prints nanoseconds a step; the line ``memory`` prints the most
bytes that the process has held so far.
"""

import resource
import sys
import time

import jax
import jax.numpy as jnp

SIDE = 256


def train(state: jax.Array, batch: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Take about a millisecond or more."""
    for _ in range(3):
        state = jnp.tanh(state @ batch) + 0.1 * state
    return state, jnp.mean(state)


def count(x: jax.Array) -> jax.Array:
    """Take no time but that of the call."""
    return x + 1.0


long_step, short_step = jax.jit(train), jax.jit(count)


def run_long(n: int) -> int:
    """Train: the loss of every tenth step is read."""
    state = jnp.ones((SIDE, SIDE))
    batch = jnp.eye(SIDE)
    losses = []
    begin = time.perf_counter_ns()
    for at in range(n):
        state, loss = long_step(state, batch)
        if at % 10 == 0:
            losses.append(float(loss))
    state.block_until_ready()
    return time.perf_counter_ns() - begin


def run_short(n: int) -> int:
    """Call a function that hardly computes."""
    x = jnp.zeros(())
    begin = time.perf_counter_ns()
    for _ in range(n):
        x = short_step(x)
    x.block_until_ready()
    return time.perf_counter_ns() - begin


def main() -> None:
    """Obey the lines of standard input."""
    run = {"long": run_long, "short": run_short}[sys.argv[1]]
    run(20)
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "memory":
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)
        else:
            n = int(line)
            print(run(n) / n, flush=True)


if __name__ == "__main__":
    main()
