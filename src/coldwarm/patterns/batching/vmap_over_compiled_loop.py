"""Map over a batch with `vmap`, even where the function in the loop is compiled."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "many short programs in each step"
MECHANISM = """
A loop over a compiled function still takes one row out, dispatches one program and keeps one result
for every example. With `vmap` there is one program and one result for all, and what it saves grows
with the batch until the computing itself takes most of the time.
"""
EXCEPTION = """
Where examples differ in shape, or arrive one by one, there is no batch to map over.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/101/transformations.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Always vmap instead of Python loops",
        "figure": "10–100×",
        "low": 10.0,
        "high": 100.0,
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
    """Predict a batch by a compiled function for each example."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def predict(values, network):
        for weights, bias in network:
            values = jnp.tanh(bias + values @ weights)
        return values

    def predict_all(batch, network):
        return jnp.stack([predict(one, network) for one in batch])

    network = [(jnp.full((64, 64), 0.01 * n), jnp.zeros(64)) for n in range(1, 4)]
    batch = jnp.linspace(0.0, 1.0, examples * 64).reshape(examples, 64)
    return predict_all, (batch, network)
