"""Map a function over a batch with `vmap`, not with a Python loop."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "time grows with the batch, although each example is small"
MECHANISM = """
A Python loop dispatches the operations of every example one by one. `vmap` adds the batch to each
operation, so that products of a matrix and a vector become one product of matrices.
"""
EXCEPTION = """
Where a single example fills the machine, or the whole batch does not fit into memory, a loop costs
little; `jax.lax.map` with `batch_size` stands between the two.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/101/transformations.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Vectorization with vmap: Batch everything",
        "figure": "10–100×",
        "low": 10.0,
        "high": 100.0,
    },
    {
        "article": "002",
        "place": "Hardware-specific considerations",
        "figure": "2–5× on CPU",
        "low": 2.0,
        "high": 5.0,
    },
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "",
    },
)
TOLERANCE = 1e-4
SECONDS = 20.0
GRID = {"examples": (4, 16, 64, 256)}


def do(examples):
    """Predict a batch with `vmap`, compiled."""
    import jax
    import jax.numpy as jnp

    def predict(values, network):
        for weights, bias in network:
            values = jnp.tanh(bias + values @ weights)
        return values

    network = [(jnp.full((64, 64), 0.01 * n), jnp.zeros(64)) for n in range(1, 4)]
    batch = jnp.linspace(0.0, 1.0, examples * 64).reshape(examples, 64)
    return jax.jit(jax.vmap(predict, in_axes=(0, None))), (batch, network)


def dont(examples):
    """Predict a batch example by example, and stack the results."""
    import jax.numpy as jnp

    def predict(values, network):
        for weights, bias in network:
            values = jnp.tanh(bias + values @ weights)
        return values

    def predict_all(batch, network):
        return jnp.stack([predict(one, network) for one in batch])

    network = [(jnp.full((64, 64), 0.01 * n), jnp.zeros(64)) for n in range(1, 4)]
    batch = jnp.linspace(0.0, 1.0, examples * 64).reshape(examples, 64)
    return predict_all, (batch, network)
