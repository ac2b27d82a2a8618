"""Checkpointing the body of a scan costs about 20 to 30 % more compute."""

ARTICLE = {
    "article": "002",
    "place": "Gradient checkpointing for deep networks",
    "figure": "20–30 %",
    "low": 1.2,
    "high": 1.3,
}
QUANTITY = "A warm call of a gradient with checkpointed blocks in a scan over one without."
PROTOCOL = """
The gradient of eight transformer blocks in a scan (64 wide, 4 heads, 128 tokens, batch 4, float32),
with the block under `jax.checkpoint` and without. Same answer, fresh processes, warm calls. What
the programs need in temporary memory is compared beside it.
"""
RULE = """
Inconclusive where checkpointing saves less than half of the temporary memory, as nothing is then
traded. Otherwise confirmed where the interval of the ratio lies between 1.16 and 1.375 (20 % below
20, 25 % above 30), refuted where it lies outside, inconclusive between.
"""
FACTS = ({"functions": ("savings",)},)
BENCHES = (
    {
        "name": "gradient",
        "candidates": ("plain", "checkpointed"),
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/gradient-checkpointing.html",)
NOTE = """
More operations need not mean more time: what is computed again need not be written to memory and
read from there.
"""


def savings():
    """Compare the temporary memory of both gradients."""
    import jax

    arguments = _start(8, 4, 128)

    def temporary_bytes(checkpointed):
        gradient = jax.jit(jax.grad(_loss(checkpointed=checkpointed)))
        return gradient.lower(*arguments).compile().memory_analysis().temp_size_in_bytes

    without, with_it = temporary_bytes(checkpointed=False), temporary_bytes(checkpointed=True)
    return {"without_bytes": without, "with_bytes": with_it, "saved": 1 - with_it / without}


def plain():
    """Take the gradient with everything kept."""
    import jax

    return jax.jit(jax.grad(_loss(checkpointed=False))), _start(8, 4, 128)


def checkpointed():
    """Take the gradient with each block computed again."""
    import jax

    return jax.jit(jax.grad(_loss(checkpointed=True))), _start(8, 4, 128)


def _loss(*, checkpointed):
    """Return a loss of a stack of transformer blocks, as a scan."""
    import jax
    import jax.numpy as jnp

    def block(x, weights):
        q, k, v = jnp.split(x @ weights["qkv"], 3, axis=-1)
        heads = [a.reshape(*a.shape[:2], 4, -1) for a in (q, k, v)]
        scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", *heads[:2]) / 4)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, heads[2]).reshape(x.shape) @ weights["out"]
        return x + jax.nn.gelu(x @ weights["up"]) @ weights["down"]

    used = jax.checkpoint(block) if checkpointed else block

    def loss(weights, x):
        x, _ = jax.lax.scan(lambda x, one: (used(x, one), None), x, weights)
        return jnp.mean(x**2)

    return loss


def _start(layers, batch, tokens):
    import jax.numpy as jnp

    shapes = {"qkv": (64, 192), "out": (64, 64), "up": (64, 256), "down": (256, 64)}
    weights = {
        name: jnp.sin(jnp.arange(float(layers * s[0] * s[1]))).reshape(layers, *s) / 20
        for name, s in shapes.items()
    }
    return weights, jnp.cos(jnp.arange(float(batch * tokens * 64))).reshape(batch, tokens, 64)


def judge(seen):
    """Decide by the rule."""
    ratio = seen.ratio("checkpointed", "plain", "warm_call")
    if seen.fact("savings", "saved") < 0.5:
        return "inconclusive"
    return seen.within(ratio, 1.16, 1.375)
