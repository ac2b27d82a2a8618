"""Two models of one factory: each is compiled once."""

import jax
import jax.numpy as jnp


def make_model(activation, width):
    def init(key):
        return jax.random.normal(key, (width, width)) / width**0.5

    @jax.jit
    def apply(w, x):
        return activation(x @ w)

    return init, apply


def main():
    models = {"tanh": make_model(jnp.tanh, 16), "relu": make_model(jax.nn.relu, 16)}
    keys = jax.random.split(jax.random.key(0), len(models))
    for key, (name, (init, apply)) in zip(keys, models.items(), strict=True):
        w = init(key)
        x = jnp.ones((4, 16))
        for _ in range(50):
            x = apply(w, x)
        print(name, x.shape)


if __name__ == "__main__":
    main()
