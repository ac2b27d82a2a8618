"""A regression with Adam; the gradient is compiled."""

import jax
import jax.numpy as jnp
import optax


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] + params["b2"] - y) ** 2)


grad_fn = jax.jit(jax.value_and_grad(loss_fn))


def init(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (4, 32)) * 0.5,
        "b1": jnp.zeros(32),
        "w2": jax.random.normal(k2, (32, 1)) * 0.2,
        "b2": jnp.zeros(1),
    }


def train(steps=200):
    x = jnp.linspace(-1, 1, 64 * 4).reshape(64, 4)
    y = jnp.sum(x**2, axis=1, keepdims=True)
    params = init(jax.random.key(0))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)
    for _ in range(steps):
        loss, grads = grad_fn(params, x, y)
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
    return loss


if __name__ == "__main__":
    print(f"loss {train():.2f}")
