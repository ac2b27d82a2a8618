"""flax nnx: a model whose loss is collected as a number at each step."""

import jax
import jax.numpy as jnp
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 16, rngs=rngs)
        self.second = nnx.Linear(16, 1, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.relu(self.first(x)))


@nnx.jit
def train_step(model, x, y, rate):
    def loss_fn(model):
        return jnp.mean((model(x)[:, 0] - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    params = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree.map(lambda p, g: p - rate * g, params, grads))
    return loss


def main():
    x = jnp.sin(jnp.arange(256.0).reshape(64, 4))
    y = x[:, 0] - x[:, 3]
    model = Net(nnx.Rngs(0))
    curve = []
    for _ in range(200):
        loss = train_step(model, x, y, 0.05)
        curve.append(loss.tolist())
    print(len(curve), curve[-1] < curve[0])


if __name__ == "__main__":
    main()
