"""Gradients of a network's loss for each of 128 examples: mapped in both frameworks, and looped."""

EXAMPLES = 128


def jax_vmap():
    """Map the gradient over the examples."""
    import jax
    import jax.numpy as jnp

    def loss(weights, x, y):
        w1, w2 = weights
        return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)

    mapped = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))

    @jax.jit
    def gradients(w1, w2, x, y):
        return list(mapped((w1, w2), x, y))

    w1 = jnp.linspace(-0.1, 0.1, 32 * 64).reshape(32, 64)
    w2 = jnp.linspace(-0.1, 0.1, 64).reshape(64, 1)
    x = jnp.linspace(-1.0, 1.0, EXAMPLES * 32).reshape(EXAMPLES, 32)
    return gradients, (w1, w2, x, jnp.ones((EXAMPLES, 1)))


def torch_func():
    """Map the gradient over the examples."""
    import torch

    def loss(weights, x, y):
        w1, w2 = weights
        return ((torch.tanh(x @ w1) @ w2 - y) ** 2).mean()

    mapped = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))

    def gradients(w1, w2, x, y):
        return list(mapped((w1, w2), x, y))

    return gradients, _torch_start()


def torch_loop():
    """Go backward for each example by itself."""
    import torch

    def gradients(w1, w2, x, y):
        w1, w2 = w1.clone().requires_grad_(), w2.clone().requires_grad_()
        found = []
        for one, wanted in zip(x, y, strict=True):
            loss = ((torch.tanh(one @ w1) @ w2 - wanted) ** 2).mean()
            found.append(torch.autograd.grad(loss, (w1, w2)))
        return [torch.stack(side) for side in zip(*found, strict=True)]

    return gradients, _torch_start()


def _torch_start():
    import torch

    w1 = torch.linspace(-0.1, 0.1, 32 * 64).reshape(32, 64)
    w2 = torch.linspace(-0.1, 0.1, 64).reshape(64, 1)
    x = torch.linspace(-1.0, 1.0, EXAMPLES * 32).reshape(EXAMPLES, 32)
    return w1, w2, x, torch.ones(EXAMPLES, 1)
