"""A small network trained with Optax: run it, or let ``coldwarm bench`` take one step of it.

``python train.py`` trains and prints the loss. ``train.py:step_of_adam`` and
``train.py:step_of_sgd`` are factories: each returns a training step with its arguments, as
the script uses it.
"""

import jax
import jax.numpy as jnp
import optax

FEATURES, HIDDEN, ROWS = 32, 64, 256


def start() -> tuple[dict, jax.Array, jax.Array]:
    """Return the first parameters, and a batch of features and targets."""
    first, second, third = jax.random.split(jax.random.key(0), 3)
    parameters = {
        "in": jax.random.normal(first, (FEATURES, HIDDEN)) / FEATURES**0.5,
        "out": jax.random.normal(second, (HIDDEN, 1)) / HIDDEN**0.5,
    }
    x = jax.random.normal(third, (ROWS, FEATURES))
    return parameters, x, jnp.sin(x.sum(axis=1, keepdims=True))


def loss(parameters: dict, x: jax.Array, y: jax.Array) -> jax.Array:
    """Return the mean squared error of the network."""
    return jnp.mean((jnp.tanh(x @ parameters["in"]) @ parameters["out"] - y) ** 2)


def make_step(optimiser: optax.GradientTransformation):  # noqa: ANN201 - a compiled function
    """Return a compiled training step."""

    @jax.jit
    def step(parameters: dict, state: optax.OptState, x: jax.Array, y: jax.Array) -> tuple:
        value, gradient = jax.value_and_grad(loss)(parameters, x, y)
        updates, state = optimiser.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    return step


def _with(optimiser: optax.GradientTransformation) -> tuple:
    parameters, x, y = start()
    return make_step(optimiser), (parameters, optimiser.init(parameters), x, y)


def step_of_adam() -> tuple:
    """Return a step of Adam and its arguments."""
    return _with(optax.adam(1e-2))


def step_of_sgd() -> tuple:
    """Return a step of plain gradient descent and its arguments."""
    return _with(optax.sgd(1e-2))


if __name__ == "__main__":
    step, (parameters, state, x, y) = step_of_adam()
    for _ in range(200):
        parameters, state, value = step(parameters, state, x, y)
    print(f"loss after 200 steps: {value:.4f}")
