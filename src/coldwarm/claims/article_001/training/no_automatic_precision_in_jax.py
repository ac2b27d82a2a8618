"""JAX has no automatic mixed precision: who wants 16 bits casts by hand."""

ARTICLE = {
    "article": "001",
    "place": "Mixed Precision Training",
    "figure": "JAX doesn't have built-in AMP",
}
QUANTITY = "The types of results of a matrix product, with and without casting."
PROTOCOL = """
One process looks for `autocast` and `amp` in JAX, multiplies matrices of float32, with
`jax_default_matmul_precision` at bfloat16 too, and casts them to bfloat16 by hand.
"""
RULE = """
Confirmed where JAX has neither name, results stay in float32 unless operands are cast, and are
bfloat16 where they are. Refuted otherwise.
"""
FACTS = ({"functions": ("types",)},)
NOTE = """
`jax_default_matmul_precision` is a setting for what a matrix unit does inside; the arrays keep
their type.
"""


def types():
    """Multiply with and without casting."""
    import jax
    import jax.numpy as jnp

    x = jnp.ones((4, 4))
    with jax.default_matmul_precision("bfloat16"):
        lowered = (x @ x).dtype
    return {
        "has_autocast": hasattr(jax, "autocast") or hasattr(jax, "amp"),
        "plain": str((x @ x).dtype),
        "with_setting": str(lowered),
        "cast": str((x.astype(jnp.bfloat16) @ x.astype(jnp.bfloat16)).dtype),
    }


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("types")
    kept = shown["plain"] == shown["with_setting"] == "float32"
    return seen.holds(kept and shown["cast"] == "bfloat16" and not shown["has_autocast"])
