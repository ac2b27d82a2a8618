"""Run with `python -m profiled.run --repeats 4`."""

import argparse

import jax
import jax.numpy as jnp

from profiled.clock import Timer


@jax.jit
def propagate(state, operator):
    return jax.lax.fori_loop(0, 20, lambda _, s: jnp.sin(s @ operator), state)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=4)
    args = parser.parse_args()
    state = jnp.full((480, 480), 0.01, jnp.float32)
    operator = jnp.eye(480) * 0.9
    state = propagate(state, operator).block_until_ready()
    timer = Timer("propagate")
    for _ in range(args.repeats):
        with timer:
            state = propagate(state, operator)
    state.block_until_ready()
    print(timer.name, timer.seconds > 0, state.shape)


if __name__ == "__main__":
    main()
