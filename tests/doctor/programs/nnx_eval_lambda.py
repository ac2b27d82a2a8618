"""Train a small network of nnx; evaluation makes its own compiled function."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.Linear(8, 32, rngs=rngs)
        self.outer = nnx.Linear(32, 1, rngs=rngs)

    def __call__(self, x):
        return self.outer(nnx.relu(self.inner(x)))


def loss_of(model, x, y):
    return jnp.mean((model(x) - y) ** 2)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_of)(model, x, y)
    optimizer.update(model, grads)
    return loss


def evaluate(model, x, y):
    score = nnx.jit(lambda m, a, b: jnp.mean(jnp.abs(m(a) - b)))
    return score(model, x, y)


def main():
    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    x = jax.random.normal(jax.random.key(1), (256, 8))
    y = jnp.sin(x).sum(axis=1, keepdims=True)
    held_x, held_y = x[:64], y[:64]
    scores = []
    for _ in range(6):
        for _ in range(5):
            train_step(model, optimizer, x, y)
        scores.append(evaluate(model, held_x, held_y))
    print(f"error {float(scores[0]):.2f} to {float(scores[-1]):.2f}")


main()
