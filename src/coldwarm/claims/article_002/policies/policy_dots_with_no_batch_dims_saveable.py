"""The policy `dots_with_no_batch_dims_saveable` keeps products, and computes activations again."""

ARTICLE = {
    "article": "002",
    "place": "Checkpoint policy options",
    "figure": "saves matmuls",
}
QUANTITY = "What a checkpointed function keeps for the way back, besides its arguments."
PROTOCOL = """
One process asks `jax.ad_checkpoint` what is kept of a function of two products, one of them with a
batch dimension, and two elementwise operations, under this policy and without checkpointing; and
compares the gradients.
"""
RULE = """
Confirmed where it keeps one product of the two, the one without a batch dimension, and nothing
else, and gradients agree. Refuted otherwise.
"""
FACTS = ({"functions": ("kept",)},)
DOCS = (
    "https://docs.jax.dev/en/latest/gradient-checkpointing.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint_policies.dots_with_no_batch_dims_saveable.html",
)
NOTE = """
Products with a batch dimension, such as attention scores, are computed again as well: the table
says products, the name says which.
"""


def kept():
    """Count what is kept, and compare gradients."""
    import contextlib
    import io

    import jax
    import jax.numpy as jnp
    from jax.ad_checkpoint import print_saved_residuals

    def block(w, x, y):
        hidden = jnp.tanh(x @ w)
        scores = jnp.einsum("bij,bkj->bik", hidden, y)
        return jnp.sum(jnp.sin(scores))

    policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
    under = jax.checkpoint(block, policy=policy)
    arguments = jnp.full((4, 5), 0.1), jnp.ones((2, 3, 4)), jnp.full((2, 3, 5), 0.2)

    def lines(function):
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            print_saved_residuals(function, *arguments)
        found = told.getvalue().splitlines()
        return [line for line in found if "from the argument" not in line and line.strip()]

    of_policy, of_all = lines(under), lines(block)
    gradients = [jax.jit(jax.grad(function))(*arguments) for function in (under, block)]
    return {
        "kept": len(of_policy),
        "kept_products": sum("dot_general" in line or "einsum" in line for line in of_policy),
        "kept_without": len(of_all),
        "difference": float(abs(gradients[0] - gradients[1]).max()),
        "told": "; ".join(line.partition(" from ")[0] for line in of_policy),
    }


def judge(seen):
    """Decide by the rule."""
    names = ("kept", "kept_products", "kept_without", "difference")
    kept, products, without, difference = (seen.fact("kept", name) for name in names)
    return seen.holds(kept == products == 1 and without > 1 and difference < 1e-5)
