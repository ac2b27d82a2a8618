"""Fits a small network, and waits more than it computes: `coldwarm doctor train.py` says why."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jax import Array

    Weights = list[Array]


@functools.partial(jax.jit, static_argnames="rate")
def step(weights: Weights, x: Array, y: Array, rate: float) -> tuple[Weights, Array]:
    """Take one step of gradient descent."""

    def loss(weights: Weights) -> Array:
        hidden = jnp.tanh(x @ weights[0])
        return jnp.mean((hidden @ weights[1] - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(weights)
    return [w - rate * g for w, g in zip(weights, gradients, strict=True)], value


def batches(n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield batches, whose last one of each epoch is smaller."""
    generator = np.random.default_rng(0)
    for turn in range(n):
        size = 256 if turn % 4 else 200 - turn
        x = generator.normal(size=(size, 16)).astype("float32")
        yield x, x[:, :1] ** 2


def main() -> None:
    """Train, and print how long a step takes."""
    key = jax.random.key(0)
    weights = [jax.random.normal(key, (16, 64)), jax.random.normal(key, (64, 1))]
    losses = []
    begin = time.perf_counter()
    for turn, (x, y) in enumerate(batches(24)):
        weights, loss = step(weights, x, y, rate=0.1 / (1 + turn // 6))
        losses.append(float(loss))
    step_s = (time.perf_counter() - begin) / len(losses)
    print(f"loss {losses[0]:.2f} to {losses[-1]:.2f}, {1000 * step_s:.1f} ms a step")


if __name__ == "__main__":
    main()
