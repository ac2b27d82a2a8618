"""Map over a batch with `vmap`, even where the function in the loop is compiled."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
LINT = None
SYMPTOM = "many short programs in each step"
MECHANISM = """
A loop over a compiled function still takes one row out, dispatches one program and keeps one result
for every example. With `vmap` there is one program and one result for all.
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
SECONDS = 40.0


def do():
    """Predict a batch with `vmap`, compiled."""
    import jax
    import jax.numpy as jnp

    def predict(params, x):
        for w, b in params:
            x = jnp.tanh(x @ w + b)
        return x

    params = [(jnp.full((64, 64), 0.01 * n), jnp.zeros(64)) for n in range(1, 4)]
    batch = jnp.linspace(0.0, 1.0, 32 * 64).reshape(32, 64)
    return jax.jit(jax.vmap(predict, in_axes=(None, 0))), (params, batch)


def dont():
    """Predict a batch by a compiled function for each example."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def predict(params, x):
        for w, b in params:
            x = jnp.tanh(x @ w + b)
        return x

    def predict_batch(params, batch):
        return jnp.stack([predict(params, x) for x in batch])

    params = [(jnp.full((64, 64), 0.01 * n), jnp.zeros(64)) for n in range(1, 4)]
    batch = jnp.linspace(0.0, 1.0, 32 * 64).reshape(32, 64)
    return predict_batch, (params, batch)
