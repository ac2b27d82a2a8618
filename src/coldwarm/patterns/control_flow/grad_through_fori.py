"""Write a recurrence that is differentiated with `scan`, whose outputs are no part of its state."""

FRAMEWORK = "jax"
MEASURES = "facts"
LINT = "grad-through-fori"
SYMPTOM = "out of memory when gradients are computed"
MECHANISM = """
`scan` stacks the outputs of its turns, and keeps for the backward pass what each turn needs. A
`fori_loop` that writes its outputs into an array of its state drags that array through every turn,
forward and backward.
"""
EXCEPTION = """
Without a gradient a `fori_loop` is as good. With one, the difference is small for an array that is
only written to: writing is linear, so the array is not kept for each turn, as the source has it.
An array that enters the computation is.
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
STATED = "The gradient through `fori_loop` needs at least a tenth more temporary memory than that \
through `scan`, and both gradients are equal."


def do():
    """Differentiate a recurrent network written with `scan`."""
    import jax
    import jax.numpy as jnp

    def hidden(params, inputs):
        def step(state, x):
            state = jnp.tanh(state @ params["h"] + x @ params["x"])
            return state, state

        return jax.lax.scan(step, jnp.zeros(64), inputs)[1]

    def loss(params, inputs):
        return jnp.sum(hidden(params, inputs) ** 2)

    params = {"h": jnp.full((64, 64), 0.01), "x": jnp.full((64, 64), 0.01)}
    seen = {}
    for turns in (250, 1000):
        inputs = jnp.ones((turns, 64))
        compiled = jax.jit(jax.grad(loss)).lower(params, inputs).compile()
        seen[f"temporary_{turns}_bytes"] = compiled.memory_analysis().temp_size_in_bytes
        seen[f"gradient_{turns}"] = float(jnp.sum(compiled(params, inputs)["h"]))
    return seen


def dont():
    """Differentiate a recurrent network whose loop fills an array of its state."""
    import jax
    import jax.numpy as jnp

    def hidden(params, inputs):
        def body(i, carried):
            state, outputs = carried
            state = jnp.tanh(state @ params["h"] + inputs[i] @ params["x"])
            return state, outputs.at[i].set(state)

        begin = (jnp.zeros(64), jnp.zeros((len(inputs), 64)))
        return jax.lax.fori_loop(0, len(inputs), body, begin)[1]

    def loss(params, inputs):
        return jnp.sum(hidden(params, inputs) ** 2)

    params = {"h": jnp.full((64, 64), 0.01), "x": jnp.full((64, 64), 0.01)}
    seen = {}
    for turns in (250, 1000):
        inputs = jnp.ones((turns, 64))
        compiled = jax.jit(jax.grad(loss)).lower(params, inputs).compile()
        seen[f"temporary_{turns}_bytes"] = compiled.memory_analysis().temp_size_in_bytes
        seen[f"gradient_{turns}"] = float(jnp.sum(compiled(params, inputs)["h"]))
    return seen


def holds(do, dont):
    """Say whether the loop that carries its outputs needs more, for the same gradient."""
    ours, theirs = do["gradient_1000"], dont["gradient_1000"]
    same = abs(ours - theirs) <= 1e-3 * abs(ours)
    return same and dont["temporary_1000_bytes"] >= 1.1 * do["temporary_1000_bytes"]
