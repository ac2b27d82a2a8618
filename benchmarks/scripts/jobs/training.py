"""One training step of a network of two layers, each n wide, on 128 rows.

Tanh hidden layer, mean squared error, plain gradient descent; the step returns
the loss and the four updated arrays. NumPy and Numba have the gradient by hand;
torch uses autograd; torch.compile compiles the function of loss and gradients;
JAX jits the whole step with value_and_grad.
"""

import math

import numpy as np
from timing import run

ROWS = 128
RATE = 0.01


def inputs(n):
    rng = np.random.default_rng(0)

    def normal(*shape):
        return rng.standard_normal(shape, dtype=np.float32)

    scale = np.float32(1 / math.sqrt(n))
    w1, w2 = scale * normal(n, n), scale * normal(n, n)
    b1, b2 = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.float32)
    return [normal(ROWS, n), normal(ROWS, n), w1, b1, w2, b2]


def build_numpy():
    def step(x, y, w1, b1, w2, b2):
        hidden = np.tanh(x @ w1 + b1)
        error = hidden @ w2 + b2 - y
        loss = np.mean(error * error)
        g2 = (2 / error.size) * error
        g1 = (g2 @ w2.T) * (1 - hidden * hidden)
        return (
            loss,
            w1 - RATE * (x.T @ g1),
            b1 - RATE * g1.sum(axis=0),
            w2 - RATE * (hidden.T @ g2),
            b2 - RATE * g2.sum(axis=0),
        )

    return step


def build_numba():
    from numba import njit

    rate, one = np.float32(RATE), np.float32(1)

    @njit
    def step(x, y, w1, b1, w2, b2):
        hidden = np.tanh(np.dot(x, w1) + b1)
        error = np.dot(hidden, w2) + b2 - y
        loss = np.mean(error * error)
        g2 = np.float32(2 / error.size) * error
        g1 = np.dot(g2, w2.T) * (one - hidden * hidden)
        return (
            loss,
            w1 - rate * np.dot(x.T, g1),
            b1 - rate * g1.sum(axis=0),
            w2 - rate * np.dot(hidden.T, g2),
            b2 - rate * g2.sum(axis=0),
        )

    return step


def torch_loss():
    import torch
    from torch.nn.functional import mse_loss

    def loss(params, x, y):
        w1, b1, w2, b2 = params
        return mse_loss(torch.tanh(x @ w1 + b1) @ w2 + b2, y)

    return loss


def build_torch():
    import torch

    loss_of = torch_loss()

    def step(x, y, *params):
        for p in params:
            p.requires_grad_()
        loss = loss_of(params, x, y)
        grads = torch.autograd.grad(loss, params)
        with torch.no_grad():
            return (loss.detach(), *[p - RATE * g for p, g in zip(params, grads)])

    return step


def build_torch_compiled():
    import torch

    loss_of = torch_loss()

    @torch.compile(fullgraph=True)  # an error, not a silent return to eager
    def grads_and_loss(params, x, y):
        return torch.func.grad_and_value(loss_of)(params, x, y)

    def step(x, y, *params):
        grads, loss = grads_and_loss(params, x, y)
        return (loss, *[p - RATE * g for p, g in zip(params, grads)])

    return step


def build_jax_eager():
    import jax
    import jax.numpy as jnp

    def mean_squared_error(params, x, y):
        w1, b1, w2, b2 = params
        predicted = jnp.tanh(x @ w1 + b1) @ w2 + b2
        return jnp.mean((predicted - y) ** 2)

    def step(x, y, *params):
        loss, grads = jax.value_and_grad(mean_squared_error)(params, x, y)
        return (loss, *[p - RATE * g for p, g in zip(params, grads)])

    return step


def build_jax():
    import jax

    return jax.jit(build_jax_eager())


if __name__ == "__main__":
    run(inputs, globals(), torch_grad=True)
