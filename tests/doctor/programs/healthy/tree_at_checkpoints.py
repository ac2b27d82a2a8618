"""Saves all of its layers every fifty steps, and logs a dictionary of metrics every ten."""

import jax
import jax.numpy as jnp


@jax.jit
def step(layers, x):
    def loss(layers):
        h = x
        for one in layers:
            h = jnp.tanh(h @ one["w"] + one["b"])
        return jnp.mean((h - x) ** 2)

    value, grads = jax.value_and_grad(loss)(layers)
    norms = {f"norm/{at}": jnp.linalg.norm(one["w"]) for at, one in enumerate(grads)}
    layers = jax.tree.map(lambda old, g: old - 0.1 * g, layers, grads)
    return layers, {"loss": value, **norms}


def main():
    x = jnp.sin(jnp.arange(64.0 * 16).reshape(64, 16))
    layers = [{"w": jnp.eye(16) * (0.5 + 0.1 * at), "b": jnp.zeros(16)} for at in range(6)]
    saved, logged = [], []
    for turn in range(1, 201):
        layers, metrics = step(layers, x)
        if turn % 10 == 0:
            logged.append({name: float(one) for name, one in metrics.items()})
        if turn % 50 == 0:
            saved.append(jax.device_get(layers))
    print(len(saved), logged[-1]["loss"] < logged[0]["loss"])


if __name__ == "__main__":
    main()
