"""Reserve an array and write into it, or stack at the end: do not let it grow by `concatenate`."""

FRAMEWORK = "jax"
MEASURES = "first_call_s"
LINT = "growing-array-concat"
SYMPTOM = "every turn of a loop is slow, as if it compiled"
MECHANISM = """
An array that grows has a new shape in every turn, so each turn compiles anew, also without `jit`,
and copies all that is there. Stacked at the end, or by `scan`, the results need one shape alone.
"""
EXCEPTION = """
Two or three pieces that are joined once are what `concatenate` is for.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
TOLERANCE = 1e-5
SECONDS = 40.0


def do():
    """Record 30 states as the outputs of a `scan`."""
    import jax
    import jax.numpy as jnp

    def step(state, _):
        state = state + 0.1 * jnp.sin(state)
        return state, state

    @jax.jit
    def trajectory(state):
        return jax.lax.scan(step, state, None, length=30)[1]

    return trajectory, (jnp.linspace(0.0, 1.0, 10),)


def dont():
    """Append each of 30 states to an array."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def step(state):
        return state + 0.1 * jnp.sin(state)

    def trajectory(state):
        states = jnp.zeros((0, 10))
        for _ in range(30):
            state = step(state)
            states = jnp.concatenate([states, state[None]])
        return states

    return trajectory, (jnp.linspace(0.0, 1.0, 10),)
