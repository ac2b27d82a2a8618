"""A network's parameters and its data from random numbers."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, x, *, train):
        x = nn.Dense(16)(x)
        return nn.Dropout(0.5, deterministic=not train)(x)


def main():
    rng = jax.random.PRNGKey(0)
    x = jax.random.normal(rng, (8, 4))
    model = Encoder()
    params_rng, dropout_rng = jax.random.split(jax.random.PRNGKey(1))
    params = model.init(params_rng, x, train=False)
    out = model.apply(params, x, train=True, rngs={"dropout": dropout_rng})
    noise = jax.random.normal(rng, out.shape)
    print(out.shape, f"{jnp.abs(noise).mean():.1f}")


if __name__ == "__main__":
    main()
