"""With checkpointed blocks, the memory of a gradient depends on the number of layers alone."""

ARTICLE = {
    "article": "002",
    "place": "Gradient checkpointing for deep networks",
    "figure": "O(layers)",
}
QUANTITY = """
The temporary memory of a gradient with checkpointed blocks at a larger batch, more tokens and a
larger width, over that at the smaller.
"""
PROTOCOL = """
The gradient of 32 blocks in a scan, each a product up to four times the width, a tanh and a product
down, added to what went in, is compiled with each block under `jax.checkpoint`. The compiler says
what temporary memory it needs with a batch of 4, 64 tokens and a width of 32, and with each of the
three four times as large; nothing is run. A gradient without checkpointing stands beside it.
"""
RULE = """
One of the three holds where four times as much of it makes the memory less than 1.25 times as
large. Confirmed where more than half of the three hold, depends where some do and others do not,
refuted where none does.
"""
VARIED = ("batch", "tokens", "width")
FACTS = ({"functions": ("growth",)},)
DOCS = ("https://docs.jax.dev/en/latest/gradient-checkpointing.html",)
NOTE = """
A block that is computed again needs its input, and that is kept: an array of batch, tokens and
width for each layer. What checkpointing takes away is what lies inside the blocks.
"""


def growth():
    """Compare the temporary memory of gradients of several sizes."""
    small = {"batch": 4, "tokens": 64, "width": 32}
    seen = {}
    for kind in ("checkpointed", "plain"):
        seen[f"{kind}_bytes"] = _temporary_bytes(kind, **small)
        for name in VARIED:
            grown = _temporary_bytes(kind, **(small | {name: 4 * small[name]}))
            seen[f"{kind}_by_{name}"] = grown / seen[f"{kind}_bytes"]
    return seen


def _temporary_bytes(kind, batch, tokens, width):
    import jax
    import jax.numpy as jnp

    weights = jnp.full((32, width, 4 * width), 0.01), jnp.full((32, 4 * width, width), 0.01)

    def block(x, weights):
        return x + jnp.tanh(x @ weights[0]) @ weights[1], None

    used = jax.checkpoint(block) if kind == "checkpointed" else block

    def loss(weights, x):
        return jnp.mean(jax.lax.scan(used, x, weights)[0] ** 2)

    compiled = jax.jit(jax.grad(loss)).lower(weights, jnp.ones((batch, tokens, width))).compile()
    return compiled.memory_analysis().temp_size_in_bytes


def judge(seen):
    """Decide by the rule."""
    for name in VARIED:
        seen.fact("growth", f"checkpointed_by_{name}")
    return seen.mostly(seen.asked, high=1.25)
