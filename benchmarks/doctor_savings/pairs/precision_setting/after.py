"""A setting that changes around one function."""

import jax
import jax.numpy as jnp


@jax.jit
def energy(x):
    def value(x):
        big = jax.scipy.linalg.expm(x)
        return jnp.trace(big @ big.T) + jnp.trace(jnp.linalg.inv(big))

    return value(x) + jax.grad(value)(x).sum()


x, total = jnp.eye(6) * 0.1, 0.0
for name in ("default", "high", "highest"):
    with jax.default_matmul_precision("highest"):
        total += energy(x)
print(f"{total:.3f}")
