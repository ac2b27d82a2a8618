"""Twenty turns of a tanh, a product and a sum: compiled by XLA, in PyTorch, compiled by PyTorch."""

TURNS = 20


class Chain:
    """The chain at one size in float32, on PyTorch's device of a name and on JAX's default one."""

    def __init__(self, size, device):
        """Remember the size and the device."""
        self.size, self.device = size, device

    def jax_jit(self):
        """Run the chain compiled by XLA."""
        import jax
        import jax.numpy as jnp

        @jax.jit
        def chain(x):
            for _ in range(TURNS):
                x = jnp.tanh(x) * 1.01 + 0.01
            return x

        return chain, (jnp.linspace(-1.0, 1.0, self.size),)

    def torch_eager(self):
        """Run the chain operation by operation."""
        import torch

        def chain(x):
            for _ in range(TURNS):
                x = torch.tanh(x) * 1.01 + 0.01
            return x

        return chain, (torch.linspace(-1.0, 1.0, self.size, device=self.device),)

    def torch_compiled(self):
        """Run the chain compiled by PyTorch, at its first call."""
        import torch

        chain, arguments = self.torch_eager()
        return torch.compile(chain), arguments


on_cpu = Chain(200000, "cpu")
on_gpu = Chain(10000000, "cuda")
