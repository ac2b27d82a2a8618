"""An autoencoder whose layers all have another size: made, looked at, and trained by one step."""

import jax
import jax.numpy as jnp

SIZES = (96, 84, 72, 64, 56, 48, 40, 32, 26, 20, 14, 10, 6, 3)


def make(key):
    layers = []
    for n_in, n_out in zip(SIZES, SIZES[1:], strict=False):
        key, now = jax.random.split(key)
        weight = jax.random.normal(now, (n_in, n_out)) * jnp.sqrt(1.0 / n_in)
        layers.append({"weight": weight, "bias": jnp.zeros(n_out)})
    return layers


@jax.jit
def loss(layers, x):
    for layer in layers:
        x = jnp.tanh(x @ layer["weight"] + layer["bias"])
    return (x**2).mean()


@jax.jit
def step(layers, x):
    value, slopes = jax.value_and_grad(loss)(layers, x)
    return jax.tree.map(lambda old, slope: old - 0.1 * slope, layers, slopes), value


def main():
    layers = make(jax.random.key(0))
    x = jnp.ones((32, SIZES[0]))
    for _ in range(20):
        layers, value = step(layers, x)
    norms = [float(jnp.linalg.norm(layer["weight"])) for layer in layers]
    decayed = jax.tree.map(lambda part: part * 0.99, layers)
    print(f"{float(value):.3f}", len(norms), len(decayed))


if __name__ == "__main__":
    main()
