"""Leave results on the device while a loop runs, and read them at its end."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the device idles between steps"
MECHANISM = """
JAX returns from a call before its result is computed, so Python can prepare and dispatch the next
steps meanwhile. `float(loss)` in each step waits for the result, and the device then waits for
Python.
"""
EXCEPTION = """
A loop that decides by each value has to read it; every hundredth step is often enough for a log.
What is lost is the time that Python takes between steps: on a CPU, which has to run Python too,
that is hardly more than the noise of a measurement, and so it is not timed here.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/async_dispatch.html",
    "https://docs.jax.dev/en/latest/201/profiling.html",
)
ARTICLES = ({"article": "002", "place": "Minimize host-device transfers", "figure": ""},)
STATED = "Of ten steps, Python is ahead of the device after at least five where losses are read at \
the end, and after none where each is read at once; the losses are equal."


def do():
    """Collect the losses as arrays, and read all at the end."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w):
        for _ in range(10):
            w = jnp.tanh(w @ w) * 0.5
        return w, jnp.sum(w)

    w = jnp.full((400, 400), 0.01)
    jax.block_until_ready(step(w))
    losses, ahead = [], 0
    for _ in range(10):
        w, loss = step(w)
        losses.append(loss)
        ahead += not loss.is_ready()
    losses = jax.device_get(losses)
    return {"steps_ahead": ahead, "sum": float(sum(losses))}


def dont():
    """Read each loss as soon as its step was called."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w):
        for _ in range(10):
            w = jnp.tanh(w @ w) * 0.5
        return w, jnp.sum(w)

    w = jnp.full((400, 400), 0.01)
    jax.block_until_ready(step(w))
    losses, ahead = [], 0
    for _ in range(10):
        w, loss = step(w)
        losses.append(float(loss))
        ahead += not loss.is_ready()
    return {"steps_ahead": ahead, "sum": float(sum(losses))}


def holds(do, dont):
    """Say whether Python went ahead on one side alone, to the same losses."""
    same = abs(do["sum"] - dont["sum"]) <= 1e-5 * abs(do["sum"])
    return same and do["steps_ahead"] >= 5 and dont["steps_ahead"] == 0
