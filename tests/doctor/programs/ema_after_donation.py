"""Keep a moving average of parameters beside a step that takes them over."""

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=(0,))
def step(params, x):
    grads = jax.grad(lambda p: jnp.sum((x @ p) ** 2))(params)
    return params - 1e-3 * grads


def average(mean, params, decay=0.9):
    return jax.tree.map(lambda m, p: decay * m + (1 - decay) * p, mean, params)


class Averaged:
    def __init__(self, params):
        self.params = params
        self.mean = params

    def advance(self, x):
        new = step(self.params, x)
        self.mean = average(self.mean, self.params)
        self.params = new


def main():
    x = jnp.ones((8, 32))
    run = Averaged(jnp.ones((32, 32)))
    for _ in range(5):
        run.advance(x)
    print(run.mean.shape)


main()
