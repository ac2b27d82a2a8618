"""Search a learning rate: a factory gives a compiled step for each."""

import jax
import jax.numpy as jnp


def make_step(loss_of, rate):
    """Return the update of gradient descent."""

    def step(params, x, y):
        grads = jax.grad(loss_of)(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads)

    return jax.jit(step)


def loss_of(params, x, y):
    hidden = jnp.tanh(x @ params["in"])
    return jnp.mean((hidden @ params["out"] - y) ** 2)


def trial(rate, x, y):
    params = {"in": jnp.full((4, 16), 0.1, jnp.float32), "out": jnp.full((16,), 0.1, jnp.float32)}
    step = make_step(loss_of, rate)
    for _ in range(20):
        params = step(params, x, y)
    return loss_of(params, x, y)


def main():
    x = jax.random.normal(jax.random.key(0), (64, 4))
    y = x[:, 0] - x[:, 1]
    rates = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
    losses = [trial(rate, x, y) for rate in rates]
    print("best rate", rates[int(jnp.argmin(jnp.stack(losses)))])


main()
