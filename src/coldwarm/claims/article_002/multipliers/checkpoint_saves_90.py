"""Checkpointing the blocks of a deep network saves more than 90 % of the memory."""

ARTICLE = {
    "article": "002",
    "place": "Gradient checkpointing for deep networks",
    "figure": "90 %+",
    "low": 0.9,
}
QUANTITY = "The temporary memory of a compiled gradient, with and without checkpointed blocks."
PROTOCOL = """
The gradient of 32 transformer blocks in a scan (64 wide, 4 heads, 128 tokens, batch 4, float32) is
compiled with each block under `jax.checkpoint` and without; the sizes of the programs' temporary
arrays are compared.
"""
RULE = "Confirmed where checkpointing saves at least 90 %; refuted where it saves less."
FACTS = ({"functions": ("savings",)},)
DOCS = ("https://docs.jax.dev/en/latest/gradient-checkpointing.html",)
NOTE = """
What is left is the input of each block, and all of one block. The more a block keeps beside its
input, the more is saved: long sequences save more than short ones.
"""


def savings():
    """Compare the temporary memory of both gradients."""
    import jax

    arguments = _start(32, 4, 128)

    def temporary_bytes(checkpointed):
        gradient = jax.jit(jax.grad(_loss(checkpointed=checkpointed)))
        return gradient.lower(*arguments).compile().memory_analysis().temp_size_in_bytes

    without, with_it = temporary_bytes(checkpointed=False), temporary_bytes(checkpointed=True)
    return {"without_bytes": without, "with_bytes": with_it, "saved": 1 - with_it / without}


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
    return seen.holds(seen.fact("savings", "saved") >= 0.9)
