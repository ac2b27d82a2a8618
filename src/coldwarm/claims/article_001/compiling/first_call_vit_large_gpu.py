"""The first call of a ViT-Large takes more than eight seconds on a GPU."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "8+ s",
    "low": 8.0,
}
QUANTITY = "The seconds of the first call of the loss and its gradient."
PROTOCOL = """
Three fresh processes with empty caches make a ViT-Large (24 blocks, 1024 wide, 16 heads, patches of
16 × 16 of an image of 224 × 224, batch 8, float32), and time the first call of the jitted loss with
its gradient.
"""
RULE = """
Confirmed where it takes at least 6.4 s in all processes (80 % of what is stated), refuted where it
takes less in all, otherwise inconclusive.
"""
NEEDS = "gpu"
FACTS = ({"functions": ("first_call",), "processes": 3},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
The blocks are written one after the other, as most models are. `lax.scan` over one block compiles
it once, and the first call takes a fraction of this.
"""
BLOCKS, HEADS, WIDTH, TOKENS, BATCH, PATCH = 24, 16, 1024, 197, 8, 768


def first_call():
    """Time the first call of a vision transformer's loss and gradient."""
    import time

    import jax
    import jax.numpy as jnp

    def norm(x, scale):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-6) * scale

    def attention(x, block):
        q, k, v = jnp.split(x @ block["qkv"], 3, axis=-1)
        heads = [a.reshape(*a.shape[:2], HEADS, -1) for a in (q, k, v)]
        scores = jnp.einsum("bqhd,bkhd->bhqk", *heads[:2]) / heads[0].shape[-1] ** 0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), heads[2])
        return mixed.reshape(x.shape) @ block["out"]

    def loss(params, patches, labels):
        x = patches @ params["embed"] + params["places"]
        for block in params["blocks"]:
            x = x + attention(norm(x, block["first"]), block)
            x = x + jax.nn.gelu(norm(x, block["second"]) @ block["up"]) @ block["down"]
        scores = jax.nn.log_softmax(norm(x, params["last"]).mean(1) @ params["head"])
        return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))

    def block():
        return {
            "first": jnp.ones(WIDTH),
            "second": jnp.ones(WIDTH),
            "qkv": jnp.full((WIDTH, 3 * WIDTH), 0.01),
            "out": jnp.full((WIDTH, WIDTH), 0.01),
            "up": jnp.full((WIDTH, 4 * WIDTH), 0.01),
            "down": jnp.full((4 * WIDTH, WIDTH), 0.01),
        }

    params = {
        "embed": jnp.full((PATCH, WIDTH), 0.01),
        "places": jnp.full((TOKENS, WIDTH), 0.01),
        "blocks": [block() for _ in range(BLOCKS)],
        "last": jnp.ones(WIDTH),
        "head": jnp.full((WIDTH, 10), 0.01),
    }
    patches, labels = jnp.ones((BATCH, TOKENS, PATCH)), jnp.zeros(BATCH, int)
    jax.block_until_ready((params, patches, labels))
    step = jax.jit(jax.value_and_grad(loss))
    begin = time.perf_counter()
    jax.block_until_ready(step(params, patches, labels))
    return {"first_s": time.perf_counter() - begin}


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.over_processes("first_call", "first_s"), 6.4)
