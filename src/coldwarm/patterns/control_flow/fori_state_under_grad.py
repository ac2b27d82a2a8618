"""Keep arrays that a loop computes with out of its state: a gradient keeps one for each turn."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "out of memory when gradients are computed"
MECHANISM = """
The backward pass of a loop needs the values that each turn computed with, so a large array that is
changed in every turn, and enters its computation there, is kept once for each turn. What a `scan`
takes turn by turn as its inputs, and stacks as its outputs, exists once.
"""
EXCEPTION = """
A state that each turn changes as a whole has to be kept, or computed again: `jax.checkpoint` around
the body trades the one for the other. An array that is only written to is not kept, since writing
is linear: what it costs is time.
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
STATED = "With four times the turns, the gradient's temporary memory grows about fourfold with \
`scan`, and at least twelvefold where the state holds a history that each turn reads; both \
gradients are equal."


def do():
    """Differentiate a recurrence whose weighted history is a running sum."""
    import jax
    import jax.numpy as jnp

    def loss(weight, inputs):
        def step(carried, x):
            state, summed = carried
            state = jnp.tanh(weight * state + x + 0.1 * summed)
            return (state, summed + state**2), state

        begin = (jnp.zeros(8), jnp.zeros(8))
        return jnp.sum(jax.lax.scan(step, begin, inputs)[1])

    seen = {}
    for turns in (100, 400):
        inputs = jnp.full((turns, 8), 0.01)
        compiled = jax.jit(jax.grad(loss)).lower(jnp.float32(0.5), inputs).compile()
        seen[f"temporary_{turns}_bytes"] = compiled.memory_analysis().temp_size_in_bytes
        seen[f"gradient_{turns}"] = float(compiled(jnp.float32(0.5), inputs))
    return seen


def dont():
    """Differentiate a recurrence that carries its history, and squares all of it in each turn."""
    import jax
    import jax.numpy as jnp

    def loss(weight, inputs):
        def turn(i, carried):
            state, history = carried
            state = jnp.tanh(weight * state + inputs[i] + 0.1 * jnp.sum(history**2, axis=0))
            return state, history.at[i].set(state)

        empty = jnp.zeros_like(inputs)
        _, history = jax.lax.fori_loop(0, len(empty), turn, (jnp.zeros(8), empty))
        return jnp.sum(history)

    seen = {}
    for turns in (100, 400):
        inputs = jnp.full((turns, 8), 0.01)
        compiled = jax.jit(jax.grad(loss)).lower(jnp.float32(0.5), inputs).compile()
        seen[f"temporary_{turns}_bytes"] = compiled.memory_analysis().temp_size_in_bytes
        seen[f"gradient_{turns}"] = float(compiled(jnp.float32(0.5), inputs))
    return seen


def holds(do, dont):
    """Say whether memory grows with the turns on one side, and with their square on the other."""
    ours, theirs = do["gradient_100"], dont["gradient_100"]
    same = abs(ours - theirs) <= 1e-2 * abs(ours)
    by_turns = do["temporary_400_bytes"] / do["temporary_100_bytes"]
    by_square = dont["temporary_400_bytes"] / dont["temporary_100_bytes"]
    return same and by_turns < 6 and by_square > 12
