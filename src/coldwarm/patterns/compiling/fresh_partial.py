"""Bind arguments by making them static: `jit(partial(f, …))` in a call compiles on every call."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "every call is slow"
MECHANISM = """
One page of JAX's documentation recommends `jit(partial(f, …))` instead of a lambda, and says that
`partial` is unwrapped; another says that a fresh one is compiled each time. Here each is traced and
compiled anew, because a new `partial` is equal to no other, not even with the same contents.
"""
EXCEPTION = """
A `partial` that is made and jitted once, and then kept, is as good as any other function.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/jit.html#jit-and-caching",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
ARTICLES = ({"article": "002", "place": "JIT function defined inside loops", "figure": ""},)
SECONDS = 45.0
GRID = {"calls": (2, 10, 20)}


def do(calls):
    """Jit the function itself, with a static argument."""
    import jax
    import jax.numpy as jnp

    @jax.jit(static_argnames="power")
    def raised(x, power):
        return jnp.tanh(x**power)

    def apply(x):
        for _ in range(calls):
            x = raised(x, power=2)
        return x

    return apply, (jnp.linspace(0.0, 1.0, 1000),)


def dont(calls):
    """Jit a `partial` of the function for each call."""
    from functools import partial

    import jax
    import jax.numpy as jnp

    def raised(x, power):
        return jnp.tanh(x**power)

    def apply(x):
        for _ in range(calls):
            x = jax.jit(partial(raised, power=2))(x)
        return x

    return apply, (jnp.linspace(0.0, 1.0, 1000),)
