"""Write a recurrence that is differentiated with `scan`, whose outputs are no part of its state."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "a gradient through a loop takes four times as long for twice the turns"
MECHANISM = """
`scan` stacks the outputs of its turns outside of its state. A `fori_loop` that writes them into an
array of its state makes that array part of each turn: compiled for a CPU, the backward loop copies
the gradient of the whole array in every turn, to read one row of it and set that row to zero, so
that its time grows with the square of the turns.
"""
EXCEPTION = """
In a loop of few turns the array is small, and so is the difference. Without a gradient the rows are
written in place, and far less is lost. A loop that hands on its last state alone has no such array.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Prefer scan over fori_loop for gradient efficiency",
        "figure": "the whole state at each turn",
    },
)
TOLERANCE = 1e-3
SECONDS = 25.0
GRID = {"turns": (100, 500, 2000)}


def do(turns):
    """Differentiate a leaky network of 32 units whose activity `scan` collects."""
    import jax
    import jax.numpy as jnp

    def cost(weights, drive):
        def advance(units, push):
            units = 0.5 * units + jnp.tanh(units @ weights + push)
            return units, units

        _, activity = jax.lax.scan(advance, jnp.zeros(32), drive)
        return jnp.mean(activity**2)

    gradient = jax.jit(jax.grad(cost))
    return gradient, (jnp.full((32, 32), 0.01), jnp.ones((turns, 32)))


def dont(turns):
    """Differentiate a leaky network of 32 units whose loop fills an array of its state."""
    import jax
    import jax.numpy as jnp

    def cost(weights, drive):
        def advance(turn, state):
            units, activity = state
            units = 0.5 * units + jnp.tanh(units @ weights + drive[turn])
            return units, activity.at[turn].set(units)

        empty = jnp.zeros((turns, 32))
        _, activity = jax.lax.fori_loop(0, turns, advance, (jnp.zeros(32), empty))
        return jnp.mean(activity**2)

    gradient = jax.jit(jax.grad(cost))
    return gradient, (jnp.full((32, 32), 0.01), jnp.ones((turns, 32)))
