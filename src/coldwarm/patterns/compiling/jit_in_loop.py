"""Define a jitted function once, outside of the loop that calls it."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "every call is slow"
MECHANISM = """
Compiled programs are kept by the function's identity, and a `def` inside a loop makes a new
function on every turn. So each turn traces and compiles, though the text is the same, and the cost
grows with the turns.
"""
EXCEPTION = """
There is none for a loop. A function may be defined and jitted inside another that runs once, as
where it closes over a configuration.
"""
DOCS = ("https://docs.jax.dev/en/latest/201/jit.html#jit-and-caching",)
ARTICLES = (
    {"article": "002", "place": "JIT function defined inside loops", "figure": "every iteration"},
    {"article": "002", "place": "Detection cheat sheet", "figure": ""},
)
SECONDS = 45.0
GRID = {"turns": (2, 10, 20)}


def do(turns):
    """Call a function that was jitted before the loop."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(x):
        return jnp.tanh(x) * 2

    def train(x):
        for _ in range(turns):
            x = step(x)
        return x

    return train, (jnp.linspace(0.0, 1.0, 1000),)


def dont(turns):
    """Define and jit the function on every turn."""
    import jax
    import jax.numpy as jnp

    def train(x):
        for _ in range(turns):

            @jax.jit
            def step(x):
                return jnp.tanh(x) * 2

            x = step(x)
        return x

    return train, (jnp.linspace(0.0, 1.0, 1000),)
