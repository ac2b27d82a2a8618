"""Train a classifier with a trainer class whose meters read each loss."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Meter:
    """A running mean."""

    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value):
        self.total += value.item()
        self.count += 1

    @property
    def mean(self):
        return self.total / max(self.count, 1)


class Trainer:
    def __init__(self, optimizer, width):
        self.optimizer = optimizer
        self.step = jax.jit(self._step)
        self.params = {
            "w": jnp.zeros((width, 10)),
            "b": jnp.zeros(10),
        }
        self.state = optimizer.init(self.params)

    def _loss(self, params, images, labels):
        logits = images @ params["w"] + params["b"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    def _step(self, params, state, images, labels):
        loss, grads = jax.value_and_grad(self._loss)(params, images, labels)
        updates, state = self.optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    def fit(self, batches):
        meter = Meter()
        for images, labels in batches:
            self.params, self.state, loss = self.step(self.params, self.state, images, labels)
            meter.update(loss)
        return meter.mean


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    data = [
        (jnp.asarray(rng.normal(size=(128, 784)), "float32"), jnp.asarray(rng.integers(0, 10, 128)))
        for _ in range(40)
    ]
    trainer = Trainer(optax.adam(1e-3), 784)
    for epoch in range(options.epochs):
        print(f"epoch {epoch}: {trainer.fit(data):.3f}")


if __name__ == "__main__":
    main()
