"""Where a backward pass needs too much memory, `jax.checkpoint` is the cure."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: OOM on backward pass",
    "figure": "jax.checkpoint layers",
}
QUANTITY = "The temporary memory of a loss, of its gradient, and of that with checkpointed layers."
PROTOCOL = """
A network of 24 layers in a scan (128 wide, batch 256, three elementwise operations a layer,
float32) is compiled as a loss, as its gradient, and as its gradient with checkpointed layers.
"""
RULE = """
Confirmed where the gradient needs at least twice the memory of the loss, and checkpointing saves at
least half of it. Refuted otherwise.
"""
FACTS = ({"functions": ("memory",)},)
DOCS = ("https://docs.jax.dev/en/latest/gradient-checkpointing.html",)


def memory():
    """Compare the temporary memory of three programs."""
    import jax
    import jax.numpy as jnp

    def layer(x, w):
        return jnp.sin(jnp.tanh(jnp.exp(-(x**2)) @ w)), None

    def loss_of(layer):
        def loss(weights, x):
            return jnp.mean(jax.lax.scan(layer, x, weights)[0] ** 2)

        return loss

    arguments = jnp.full((24, 128, 128), 0.01), jnp.ones((256, 128))

    def temporary_bytes(function):
        compiled = jax.jit(function).lower(*arguments).compile()
        return compiled.memory_analysis().temp_size_in_bytes

    plain, checkpointed = loss_of(layer), loss_of(jax.checkpoint(layer))
    return {
        "loss_bytes": temporary_bytes(plain),
        "gradient_bytes": temporary_bytes(jax.grad(plain)),
        "checkpointed_bytes": temporary_bytes(jax.grad(checkpointed)),
    }


def judge(seen):
    """Decide by the rule."""
    names = ("loss_bytes", "gradient_bytes", "checkpointed_bytes")
    loss, gradient, checkpointed = (seen.fact("memory", name) for name in names)
    return seen.holds(gradient >= 2 * loss and checkpointed <= gradient / 2)
