"""Choose by a policy what a checkpoint keeps: nothing, products of matrices, or everything."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "memory runs out in the backward pass, or checkpointing has made it slow"
MECHANISM = """
A policy decides for each value inside a checkpoint whether it is kept or computed again. Keeping
the results of matrix products leaves only cheap elementwise work to be repeated; keeping everything
is as if there were no checkpoint.
"""
EXCEPTION = """
`everything_saveable` is for comparisons: it shows what a gradient costs without checkpoints.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint_policies.nothing_saveable.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint_policies.everything_saveable.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Gradient checkpointing for deep networks",
        "figure": "nothing, matrix products, everything",
    },
)
STATED = """`nothing_saveable` keeps the least and multiplies matrices again,
`dots_with_no_batch_dims_saveable` keeps more and does not, and `everything_saveable` keeps as much
as without a checkpoint."""


def do():
    """Count what is kept and what is multiplied under the two policies that save memory."""
    import jax
    import jax.numpy as jnp

    def block(w, x):
        return jnp.sin(jnp.sin(x @ w)) @ w

    def seen(policy):
        kept = jax.checkpoint(block, policy=policy)

        def loss(w, x):
            return kept(w, kept(w, x)).sum()

        w, x = jnp.full((128, 128), 0.01), jnp.ones((512, 128))
        _, backward = jax.vjp(loss, w, x)
        text = str(jax.make_jaxpr(jax.grad(loss))(w, x))
        return sum(one.nbytes for one in jax.tree.leaves(backward)), text.count("dot_general[")

    policies = jax.checkpoint_policies
    nothing, dots = seen(policies.nothing_saveable), seen(policies.dots_with_no_batch_dims_saveable)
    return {
        "nothing_kept_bytes": nothing[0],
        "nothing_products": nothing[1],
        "dots_kept_bytes": dots[0],
        "dots_products": dots[1],
    }


def dont():
    """Count what is kept and what is multiplied when a checkpoint keeps everything."""
    import jax
    import jax.numpy as jnp

    def block(w, x):
        return jnp.sin(jnp.sin(x @ w)) @ w

    def seen(block):
        def loss(w, x):
            return block(w, block(w, x)).sum()

        w, x = jnp.full((128, 128), 0.01), jnp.ones((512, 128))
        _, backward = jax.vjp(loss, w, x)
        text = str(jax.make_jaxpr(jax.grad(loss))(w, x))
        return sum(one.nbytes for one in jax.tree.leaves(backward)), text.count("dot_general[")

    policy = jax.checkpoint_policies.everything_saveable
    everything, without = seen(jax.checkpoint(block, policy=policy)), seen(block)
    return {
        "everything_kept_bytes": everything[0],
        "everything_products": everything[1],
        "without_kept_bytes": without[0],
        "without_products": without[1],
    }


def holds(do, dont):
    """Say whether the policies keep more from one to the next, and repeat less."""
    everything = dont["everything_kept_bytes"]
    grows = do["nothing_kept_bytes"] < do["dots_kept_bytes"] < everything
    repeats = do["nothing_products"] > do["dots_products"] == dont["everything_products"]
    return grows and repeats and everything == dont["without_kept_bytes"]
