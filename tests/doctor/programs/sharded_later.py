"""Two devices; the data are spread over them from the second half on."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


@jax.jit
def normalise(x):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / jnp.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-6)


def main():
    mesh = Mesh(np.array(jax.devices()), ("rows",))
    whole = NamedSharding(mesh, PartitionSpec())
    spread = NamedSharding(mesh, PartitionSpec("rows"))
    x = np.sin(np.arange(64.0 * 32, dtype=np.float32).reshape(64, 32))
    peaks = []
    for turn in range(20):
        placed = jax.device_put(x + turn, whole if turn < 10 else spread)
        peaks.append(normalise(placed).max())
    total = sum(jax.device_get(peaks))
    print(f"devices {len(jax.devices())}, total {total:.0f}")


if __name__ == "__main__":
    main()
