"""An inner compiled loop inside of a compiled step, and a gradient of it."""

import jax
import jax.numpy as jnp


@jax.jit
def relax(x, w):
    for _ in range(150):
        x = x + 0.1 * (jnp.tanh(w @ x) - x)
    return x


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.sum(relax(x, w) ** 2))(w)


w, x = jnp.eye(4) * 0.5, jnp.ones(4)
for _ in range(3):
    w = step(w, x)
print(w.shape)
