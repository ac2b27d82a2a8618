"""Run steps under a transfer guard: it raises where data comes from the host unasked."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the device waits for data, and nothing says why"
MECHANISM = """
A NumPy array that is given to a compiled function is transferred at every call, without a word.
Under the guard `disallow` such a transfer raises, while `device_put` and `device_get` are allowed.
"""
EXCEPTION = """
Not for every line: the guard also stops harmless scalars, such as the 1 in `x + 1` outside of
`jit`. On a CPU it does not see transfers to the host, which are none there.
"""
DOCS = ("https://docs.jax.dev/en/latest/transfer_guard.html",)
ARTICLES = (
    {
        "article": "002",
        "place": "Minimize host-device transfers",
        "figure": "catches implicit transfers",
    },
    {"article": "002", "place": "Essential configuration flags"},
)
STATED = """With the guard a NumPy argument raises and one that was put on the device does not;
without it neither does."""


def do():
    """Call a step under the guard, with data from the device and from the host."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    step = jax.jit(lambda x: 2 * x)
    host = np.ones(1000, dtype="float32")
    step(jnp.ones(1000))
    with jax.transfer_guard("disallow"):
        step(jax.device_put(host))
        try:
            step(host)
        except jax.errors.JaxRuntimeError:
            return {"told": True}
    return {"told": False}


def dont():
    """Call a step with data from the host."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    step = jax.jit(lambda x: 2 * x)
    step(jnp.ones(1000))
    step(np.ones(1000, dtype="float32"))
    return {"told": False}


def holds(do, dont):
    """Say whether only the guard told of the transfer."""
    return do["told"] and not dont["told"] and dont["raised"] is None
