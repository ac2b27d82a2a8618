"""Checkpointing the blocks of a deep network costs about 20 to 30 % more compute."""

ARTICLE = {
    "article": "002",
    "place": "Gradient checkpointing for deep networks",
    "figure": "20–30 %",
    "low": 1.2,
    "high": 1.3,
}
QUANTITY = (
    "The floating-point operations of a compiled gradient with checkpointed blocks, over without."
)
PROTOCOL = """
The gradient of four transformer blocks (64 wide, 4 heads, 128 tokens, batch 4, float32), written
one after the other so that the compiler's count has them all, with each block under
`jax.checkpoint` and without. Warm calls of both, in fresh processes, stand beside the counts.
"""
RULE = """
By the operations that the compiler counts: confirmed where there are between 16 % and 37.5 % more
with checkpointing (20 % below 20, 25 % above 30), refuted where outside.
"""
FACTS = ({"functions": ("operations",)},)
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
The way of counting was a bad choice for the CPU: with the blocks one after the other, the compiler
finds that most of what is to be computed again is there already, and keeps it. So few operations
are added, and no memory is saved. Before the compiler, the program has a quarter more. In a scan,
where it cannot do so, the cost is tested as a claim of its own.
"""


def operations():
    """Count the operations of both gradients."""
    import jax

    arguments = _start(4, 4, 128)

    def flops(checkpointed):
        compiled = jax.jit(jax.grad(_loss(checkpointed=checkpointed))).lower(*arguments).compile()
        return compiled.cost_analysis()["flops"]

    without, with_it = flops(checkpointed=False), flops(checkpointed=True)
    return {"without": without, "with": with_it, "ratio": with_it / without}


def plain():
    """Take the gradient with everything kept."""
    import jax

    return jax.jit(jax.grad(_loss(checkpointed=False))), _start(4, 4, 128)


def checkpointed():
    """Take the gradient with each block computed again."""
    import jax

    return jax.jit(jax.grad(_loss(checkpointed=True))), _start(4, 4, 128)


def _loss(*, checkpointed):
    """Return a loss of a stack of transformer blocks, one after the other."""
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
        for n in range(4):
            x = used(x, jax.tree.map(lambda w, n=n: w[n], weights))
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
    seen.ratio("checkpointed", "plain", "warm_call")
    return seen.holds(1.16 <= seen.fact("operations", "ratio") <= 1.375)
