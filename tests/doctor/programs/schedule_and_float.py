"""Ridge regression: a schedule of penalties, and a loss that is read at each step."""

import argparse
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=3)
def step(w, x, y, penalty):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2) + penalty * jnp.sum(w**2)

    value, gradient = jax.value_and_grad(loss)(w)
    return w - 0.1 * gradient, value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--penalties", type=int, default=8)
    args = parser.parse_args()
    x = jnp.sin(jnp.arange(200.0 * 6).reshape(200, 6))
    y = x @ jnp.arange(6.0)
    w = jnp.zeros(6)
    history = []
    for turn in range(args.penalties):
        for _ in range(25):
            w, value = step(w, x, y, 10.0 ** (-turn))
            history.append(float(value))
    print(len(history), f"{history[-1] < history[0]}")


if __name__ == "__main__":
    main()
