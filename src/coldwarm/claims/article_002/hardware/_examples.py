"""A network on 16 examples: mapped over them, and one by one in the same program."""


def mapped():
    """Map over the examples."""
    import jax

    return jax.jit(jax.vmap(_predict, in_axes=(None, 0))), _start()


def loop():
    """Take the examples one by one, in the same program."""
    import jax
    import jax.numpy as jnp

    def predict(weights, examples):
        return jnp.stack([_predict(weights, x) for x in examples])

    return jax.jit(predict), _start()


def _predict(weights, x):
    import jax.numpy as jnp

    for w, b in weights:
        x = jnp.tanh(jnp.dot(x, w) + b)
    return x


def _start():
    import jax.numpy as jnp

    grid = jnp.linspace(-1.0, 1.0, 64 * 64).reshape(64, 64)
    weights = [(jnp.sin(grid * (30 + n)) / 8, jnp.full(64, 0.1)) for n in range(3)]
    return weights, jnp.cos(grid[:16] * 7)
