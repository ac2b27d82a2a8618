"""The energy of recordings of many lengths, each computed by the next free thread."""

from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def energy(recording):
    return jnp.log1p(recording**2).sum()


def main():
    rng = np.random.default_rng(5)
    recordings = [rng.normal(size=n).astype(np.float32) for n in range(120, 190, 7)]
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(energy, one) for one in recordings]
        print(f"{sum(float(one.result()) for one in waiting):.1f}")


if __name__ == "__main__":
    main()
