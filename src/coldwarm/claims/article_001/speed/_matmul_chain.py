"""A permutation matrix squared 100 times: in JAX with and without jit, and in PyTorch."""

TURNS = 100


class Chain:
    """The chain at one width in float32, on PyTorch's device of a name and on JAX's default one."""

    def __init__(self, width, device):
        """Remember the width and the device."""
        self.width, self.device = width, device

    def jax_jit(self):
        """Multiply a permutation with itself, compiled."""
        import jax

        chain, arguments = self.jax_eager()
        return jax.jit(chain), arguments

    def jax_eager(self):
        """Multiply a permutation with itself, each product dispatched for itself."""
        import jax.numpy as jnp

        return _chain, (jnp.roll(jnp.eye(self.width), 1, axis=0),)

    def torch_eager(self):
        """Multiply a permutation with itself, operation by operation."""
        import torch

        return _chain, (torch.roll(torch.eye(self.width, device=self.device), 1, dims=0),)


def _chain(x):
    for _ in range(TURNS):
        x = x @ x
    return x


on_cpu = Chain(256, "cpu")
on_gpu = Chain(512, "cuda")
