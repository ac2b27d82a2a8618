"""Leave results on the device while a loop runs, and read them at its end."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
LINT = "host-sync-in-loop"
SYMPTOM = "the device idles between steps"
MECHANISM = """
JAX returns from a call before its result is computed, so Python prepares the next step meanwhile.
`float(loss)` in each step waits for the result, and the device then waits for Python.
"""
EXCEPTION = """
A loop that decides by each value has to read it; every hundredth step is often enough for a log.
Where a step takes much longer than its dispatch, waiting costs little.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/async_dispatch.html",
    "https://docs.jax.dev/en/latest/201/profiling.html",
)
ARTICLES = ({"article": "002", "place": "Minimize host-device transfers", "figure": ""},)
TOLERANCE = 1e-4
SECONDS = 40.0


def do():
    """Collect the losses as arrays, and read all at the end."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w):
        loss, grad = jax.value_and_grad(lambda w: jnp.sum(jnp.tanh(w) ** 2))(w)
        return w - 0.01 * grad, loss

    def train(w):
        losses = []
        for _ in range(100):
            w, loss = step(w)
            losses.append(loss)
        return [float(loss) for loss in losses]

    return train, (jnp.linspace(0.0, 1.0, 1000),)


def dont():
    """Read each loss as soon as its step was called."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(w):
        loss, grad = jax.value_and_grad(lambda w: jnp.sum(jnp.tanh(w) ** 2))(w)
        return w - 0.01 * grad, loss

    def train(w):
        losses = []
        for _ in range(100):
            w, loss = step(w)
            losses.append(float(loss))
        return losses

    return train, (jnp.linspace(0.0, 1.0, 1000),)
