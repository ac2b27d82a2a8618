"""Each batch is new, so each has to be brought to the device."""

import jax
import jax.numpy as jnp
import numpy as np


def stream(n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        yield rng.standard_normal((256, 32)).astype(np.float32)


@jax.jit
def update(w, x):
    return w - 0.05 * x.T @ (x @ w - 1.0) / x.shape[0]


def main():
    w = jnp.zeros(32)
    for batch in stream(100):
        w = update(w, jax.device_put(batch))
    print(w.shape)


if __name__ == "__main__":
    main()
