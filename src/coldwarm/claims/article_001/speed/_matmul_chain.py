"""A permutation matrix that is squared again and again: in JAX with and without jit, in PyTorch."""


class Chain:
    """A chain of so many products in float32, on PyTorch's device of a name and on JAX's own."""

    def __init__(self, turns, device):
        """Remember the number of products and the device."""
        self.turns, self.device = turns, device

    def jax_jit(self, width):
        """Multiply a permutation with itself, compiled."""
        import jax

        chain, arguments = self.jax_eager(width)
        return jax.jit(chain), arguments

    def jax_eager(self, width):
        """Multiply a permutation with itself, each product dispatched for itself."""
        import jax.numpy as jnp

        return self._chain, (jnp.roll(jnp.eye(width), 1, axis=0),)

    def torch_eager(self, width):
        """Multiply a permutation with itself, operation by operation."""
        import torch

        return self._chain, (torch.roll(torch.eye(width, device=self.device), 1, dims=0),)

    def _chain(self, x):
        for _ in range(self.turns):
            x = x @ x
        return x


on_cpu = Chain(20, "cpu")
on_gpu = Chain(100, "cuda")
