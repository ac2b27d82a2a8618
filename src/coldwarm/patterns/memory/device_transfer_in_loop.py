"""Transfer data once before the loop and results once after it, not in every turn."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SECONDS = 20.0
GRID = {"rows": (64, 512, 4096)}
SYMPTOM = "the device waits between steps"
MECHANISM = """
Every transfer costs, and one to the host also waits for all that was dispatched before it, so
nothing is left to overlap. Data that stays on the device is read at the speed of its memory.
"""
EXCEPTION = """
Data that does not fit on the device has to come in parts; then the next part is transferred while
the step on the last one runs. On a CPU the device's memory is the host's, and there is less to
gain: a transfer is a copy there, or not even that. What is lost there is mostly the calls that
transfer, which weigh most where arrays are small and steps are short.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.device_get.html",
    "https://docs.jax.dev/en/latest/async_dispatch.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Minimize host-device transfers",
        "figure": "10–25 GB/s against 2–3 TB/s",
    },
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "rule 2",
    },
)
TOLERANCE = 1e-3


def do(rows):
    """Train five epochs on data that was transferred once; fetch the losses at the end."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def step(w, x):
        loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
        return w - 0.01 * grad, loss

    def train(w, host):
        batches = jax.device_put(host)
        losses = []
        for _ in range(5):
            for x in batches:
                w, loss = step(w, x)
                losses.append(loss)
        return jax.device_get((w, losses))

    rng = np.random.default_rng(0)
    host = [rng.standard_normal((rows, 256)).astype("float32") for _ in range(2)]
    return train, (jnp.zeros(256), host)


def dont(rows):
    """Train five epochs, transferring each batch and fetching each loss."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def step(w, x):
        loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - 1.0) ** 2))(w)
        return w - 0.01 * grad, loss

    def train(w, host):
        losses = []
        for _ in range(5):
            for x in host:
                w, loss = step(w, jax.device_put(x))
                losses.append(jax.device_get(loss))
        return jax.device_get(w), losses

    rng = np.random.default_rng(0)
    host = [rng.standard_normal((rows, 256)).astype("float32") for _ in range(2)]
    return train, (jnp.zeros(256), host)
