"""A learning rate that decays, as a static argument."""

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames="rate")
def step(weights, x, y, rate):
    def loss(weights):
        hidden = jnp.tanh(x @ weights["in"])
        return jnp.mean((hidden @ weights["out"] - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - rate * g, weights, gradient), value


weights = {"in": jnp.ones((16, 32)) * 0.01, "out": jnp.ones((32, 1)) * 0.01}
x, y = jnp.ones((64, 16)), jnp.ones((64, 1))
for turn in range(12):
    weights, value = step(weights, x, y, rate=0.1 / (1 + turn))
print(f"{value:.4f}")
