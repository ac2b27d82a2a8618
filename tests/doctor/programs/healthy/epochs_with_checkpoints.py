"""Reads the loss and saves the parameters once an epoch; stops early."""

import tempfile
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, donate_argnames=("params",))
def epoch(params, x, y):
    def body(_, params):
        grads = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    params = jax.lax.fori_loop(0, 50, body, params)
    return params, jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


def main():
    x = jnp.sin(jnp.arange(80.0 * 4).reshape(80, 4))
    y = x.sum(axis=1) + 0.5
    params = {"w": jnp.zeros(4), "b": jnp.zeros(())}
    best = np.inf
    with tempfile.TemporaryDirectory() as folder:
        for number in range(6):
            params, loss = epoch(params, x, y)
            np.savez(Path(folder) / f"{number}.npz", **jax.tree.map(np.asarray, params))
            if float(loss) > best:
                break
            best = float(loss)
        print(len(list(Path(folder).iterdir())) > 0, best < 1.0)


if __name__ == "__main__":
    main()
