"""A training loop that keeps every loss."""

import jax
import jax.numpy as jnp


@jax.jit
def train_step(params, x, y):
    def loss_fn(params):
        w, b = params
        return jnp.mean((jnp.tanh(x @ w) @ b - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss


def main():
    grid = jnp.arange(512.0 * 64).reshape(512, 64)
    x, y = jnp.sin(grid), jnp.cos(grid[:, 0])
    params = (jnp.cos(grid[:64, :64]) * 0.1, jnp.zeros(64))
    losses = []
    for _ in range(500):
        params, loss = train_step(params, x, y)
        losses.append(float(loss))
    print(f"{losses[-1] < losses[0]} after {len(losses)}")


if __name__ == "__main__":
    main()
