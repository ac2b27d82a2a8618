"""Data parallelism takes `pmap`, and `device_put_replicated` for the state."""

ARTICLE = {
    "article": "001",
    "place": "Multi-GPU Training",
    "figure": "jax.pmap, jax.device_put_replicated",
}
QUANTITY = "Which of the functions of the recipe there are, and what they say of themselves."
PROTOCOL = """
One process looks `pmap`, `device_put_replicated` and `shard_map` up in JAX, and reads what the
documentation of `pmap` recommends.
"""
RULE = """
Outdated where a function of the recipe is gone, or the documentation of `pmap` recommends
`shard_map` in its place. Confirmed where neither is so.
"""
FACTS = ({"functions": ("looked_up",)},)
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html",
    "https://docs.jax.dev/en/latest/notebooks/shard_map.html",
)


def looked_up():
    """Look the functions up."""
    import jax

    return {
        "has_pmap": hasattr(jax, "pmap"),
        "has_device_put_replicated": hasattr(jax, "device_put_replicated"),
        "has_shard_map": hasattr(jax, "shard_map"),
        "recommends_shard_map": "shard_map" in (getattr(jax.pmap, "__doc__", None) or ""),
    }


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("looked_up")
    there = shown["has_pmap"] and shown["has_device_put_replicated"]
    return "confirmed" if there and not shown["recommends_shard_map"] else "outdated"
