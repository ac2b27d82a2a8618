"""A small network's answers and its training step: by XLA, in PyTorch, compiled by PyTorch."""

WIDTHS, BATCH, RATE = (64, 256, 256, 1), 256, 0.01


class Answers:
    """What the network says of a batch, in float32."""

    def jax_jit(self):
        """Run the network compiled by XLA."""
        import jax
        import jax.numpy as jnp

        return jax.jit(lambda x, *weights: _answers(jnp.tanh, x, weights)), _numbers(jnp.asarray)

    def torch_eager(self):
        """Run the network operation by operation."""
        import torch

        return (lambda x, *weights: _answers(torch.tanh, x, weights)), _numbers(torch.from_numpy)

    def torch_compiled(self):
        """Run the network compiled by PyTorch, at its first call."""
        import torch

        answers, arguments = self.torch_eager()
        return torch.compile(answers), arguments


class Training:
    """A step of gradient descent on the network, in float32."""

    def jax_jit(self):
        """Take the step compiled by XLA as a whole."""
        import jax
        import jax.numpy as jnp

        def loss(weights, x):
            return jnp.mean((_answers(jnp.tanh, x, weights) - 1) ** 2)

        @jax.jit
        def step(x, *weights):
            slopes = jax.grad(loss)(weights, x)
            return tuple(w - RATE * slope for w, slope in zip(weights, slopes, strict=True))

        return step, _numbers(jnp.asarray)

    def torch_eager(self):
        """Take the step operation by operation."""
        import torch

        def loss(x, weights):
            return ((_answers(torch.tanh, x, weights) - 1) ** 2).mean()

        return self._torch_step(loss), _numbers(torch.from_numpy)

    def torch_compiled(self):
        """Take the step with loss and gradient compiled by PyTorch, at the first call."""
        import torch

        def loss(x, weights):
            return ((_answers(torch.tanh, x, weights) - 1) ** 2).mean()

        return self._torch_step(torch.compile(loss)), _numbers(torch.from_numpy)

    @staticmethod
    def _torch_step(loss):
        import torch

        def step(x, *weights):
            leaves = [w.detach().requires_grad_() for w in weights]
            slopes = torch.autograd.grad(loss(x, leaves), leaves)
            with torch.no_grad():
                return tuple(w - RATE * slope for w, slope in zip(leaves, slopes, strict=True))

        return step


def _answers(tanh, x, weights):
    for w in weights[:-1]:
        x = tanh(x @ w)
    return x @ weights[-1]


def _numbers(as_array):
    """Return a batch and the weights as arrays of JAX or PyTorch."""
    from itertools import pairwise

    import numpy as np

    rng = np.random.default_rng(0)
    batch = rng.standard_normal((BATCH, WIDTHS[0]))
    weights = [rng.standard_normal(shape) / shape[0] ** 0.5 for shape in pairwise(WIDTHS)]
    return tuple(as_array(array.astype("float32")) for array in (batch, *weights))


answers, training = Answers(), Training()
