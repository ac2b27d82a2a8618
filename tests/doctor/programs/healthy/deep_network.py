"""A network of twelve blocks, written as a loop: few turns of much."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        y = nn.SelfAttention(num_heads=2)(y)
        x = x + y
        y = nn.Dense(4 * self.width)(nn.LayerNorm()(x))
        return x + nn.Dense(self.width)(nn.gelu(y))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(8):
            x = Block(16)(x)
        return x.mean()


model = Net()
x = jnp.ones((2, 8, 16))
params = jax.jit(model.init)(jax.random.key(0), x)
loss = jax.jit(model.apply)
print(loss(params, x).shape, loss(params, x + 1).dtype)
