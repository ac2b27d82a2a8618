"""Under a gradient, `fori_loop` keeps its whole state once for each turn, and `scan` does not."""

ARTICLE = {
    "article": "002",
    "place": "Prefer scan over fori_loop for gradient efficiency",
    "figure": "the whole state at each turn",
}
QUANTITY = """
The temporary memory of a gradient through `fori_loop`, over the size of its state times its turns.
"""
PROTOCOL = """
A recurrent network (32 wide, float32) as the source has it: `scan` stacks what its turns hand out,
and `fori_loop` writes it into an array of its state, one row in each turn. The gradients of the
mean square are compiled for 250, 1,000 and 4,000 turns, and the compiler says what temporary memory
they need; nothing is run.
"""
RULE = """
A number of turns holds where the gradient through `fori_loop` needs at least half of its turns
times the whole state, and that through `scan` less than half of it. Confirmed where more than half
of the three hold, depends where some do, refuted where none does.
"""
TURNS = (250, 1000, 4000)
FACTS = ({"functions": ("memory",)},)
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",
)
NOTE = """
Writing a row into an array is linear, so the backward pass does not need what the array held: JAX
keeps it for no turn. It is kept where the computation of each turn reads it as well
(`fori-state-under-grad`). What the array does cost under a gradient is time (`grad-through-fori`).
"""


def memory():
    """Compare the temporary memory of gradients through both loops."""
    import jax
    import jax.numpy as jnp

    def cell(weights, units, x):
        return jnp.tanh(units @ weights["back"] + x @ weights["own"])

    def by_scan(weights, inputs):
        def step(units, x):
            units = cell(weights, units, x)
            return units, units

        start = jnp.zeros(32)
        return jnp.mean(jax.lax.scan(step, start, inputs)[1] ** 2)

    def by_fori(weights, inputs):
        def turn(n, state):
            units = cell(weights, state[0], inputs[n])
            return units, state[1].at[n].set(units)

        start, turns = (jnp.zeros(32), jnp.zeros(inputs.shape)), inputs.shape[0]
        return jnp.mean(jax.lax.fori_loop(0, turns, turn, start)[1] ** 2)

    def temporary_bytes(function, turns):
        weights = {name: jnp.full((32, 32), 0.01) for name in ("own", "back")}
        compiled = jax.jit(jax.grad(function)).lower(weights, jnp.ones((turns, 32))).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    seen = {}
    for turns in TURNS:
        all_states = turns * (turns + 1) * 32 * 4
        fori, scan = temporary_bytes(by_fori, turns), temporary_bytes(by_scan, turns)
        seen[f"fori_loop_{turns}_bytes"], seen[f"scan_{turns}_bytes"] = fori, scan
        seen[f"fori_loop_{turns}_share"] = fori / all_states
        seen[f"holds_{turns}"] = fori >= all_states / 2 > scan
    return seen


def judge(seen):
    """Decide by the rule."""
    for turns in TURNS:
        seen.fact("memory", f"fori_loop_{turns}_share")
        seen.fact("memory", f"holds_{turns}")
    return seen.mostly(seen.asked[1::2], 1, 1)
