"""Pass values that change as ordinary arguments, not as static ones."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
LINT = "varying-static-arg"
SYMPTOM = "every call is slow"
MECHANISM = """
A static argument is part of the key under which a compiled program is kept, so each new value
traces and compiles again. An ordinary number is an input of one program, whatever its value.
"""
EXCEPTION = """
A value that decides on shapes or on the structure of the program (a number of layers, an axis)
has to be static; with a handful of values each is compiled once and kept.
"""
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html#marking-arguments-as-static",)
ARTICLES = (
    {
        "article": "002",
        "place": "Avoiding recompilation with static arguments",
        "figure": "",
    },
)


def do():
    """Decay a learning rate, given as a number."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def update(params, grads, learning_rate):
        return jax.tree.map(lambda p, g: p - learning_rate * g, params, grads)

    def train(params, grads):
        for step in range(20):
            params = update(params, grads, 0.1 * 0.99**step)
        return params

    return train, ({"w": jnp.ones((64, 64))}, {"w": jnp.full((64, 64), 0.01)})


def dont():
    """Decay a learning rate that is static: one compilation for each value."""
    from functools import partial

    import jax
    import jax.numpy as jnp

    @partial(jax.jit, static_argnames="learning_rate")
    def update(params, grads, learning_rate):
        return jax.tree.map(lambda p, g: p - learning_rate * g, params, grads)

    def train(params, grads):
        for step in range(20):
            params = update(params, grads, learning_rate=0.1 * 0.99**step)
        return params

    return train, ({"w": jnp.ones((64, 64))}, {"w": jnp.full((64, 64), 0.01)})
