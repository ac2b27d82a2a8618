"""Reserve an array and write into it, or stack at the end: do not let it grow by `concatenate`."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
SYMPTOM = "every turn of a loop is slow, as if it compiled"
MECHANISM = """
An array that grows has a new shape in every turn, so each turn compiles anew, also without `jit`,
and copies all that is there: the cost grows with every turn. Stacked at the end, or by `scan`, the
results need one shape alone.
"""
EXCEPTION = """
Two or three pieces that are joined once are what `concatenate` is for.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
TOLERANCE = 1e-5
SECONDS = 22.0
GRID = {"states": (3, 10, 30)}


def do(states):
    """Record states as the outputs of a `scan`."""
    import jax
    import jax.numpy as jnp

    def step(state, _):
        state = state + 0.1 * jnp.sin(state)
        return state, state

    @jax.jit
    def trajectory(state):
        return jax.lax.scan(step, state, None, length=states)[1]

    return trajectory, (jnp.linspace(0.0, 1.0, 10),)


def dont(states):
    """Append each state to an array."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(state):
        return state + 0.1 * jnp.sin(state)

    def trajectory(state):
        known = jnp.zeros((0, 10))
        for _ in range(states):
            state = step(state)
            known = jnp.concatenate([known, state[None]])
        return known

    return trajectory, (jnp.linspace(0.0, 1.0, 10),)
