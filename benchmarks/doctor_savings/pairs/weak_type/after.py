"""States that begin as Python numbers and come back as arrays."""

import jax
import jax.numpy as jnp


@jax.jit
def step(total, x, scale):
    def energy(x):
        big = jax.scipy.linalg.expm(x * scale)
        lower = jnp.linalg.cholesky(big @ big.T + jnp.eye(6))
        return jnp.trace(lower @ big) + jnp.trace(jnp.linalg.inv(big))

    value, gradient = jax.value_and_grad(energy)(x)
    _, curved = jax.jvp(jax.grad(energy), (x,), (x,))
    return total + value + 0.0 * jnp.sum(curved), x - 0.001 * gradient


total = jnp.zeros(())
x = jnp.eye(6) * 0.1
for _ in range(5):
    total, x = step(total, x, 1.0)
print(f"{total:.3f}")
