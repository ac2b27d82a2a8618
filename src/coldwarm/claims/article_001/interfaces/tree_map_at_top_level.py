"""Trees of parameters are updated by `jax.tree_map`."""

ARTICLE = {
    "article": "001",
    "place": "Functional Purity as a Compiler Hint",
    "figure": "jax.tree_map",
}
QUANTITY = "Whether there is `jax.tree_map`, and whether `jax.tree.map` does what it did."
PROTOCOL = "One process looks both up, and updates a tree of two arrays by what is there."
RULE = """
Confirmed where `jax.tree_map` is there. Outdated where it is gone and `jax.tree.map` does it.
Refuted where neither is there.
"""
FACTS = ({"functions": ("looked_up",)},)
DOCS = ("https://docs.jax.dev/en/latest/pytrees.html",)


def looked_up():
    """Look both up, and update a tree."""
    import jax

    updated = jax.tree.map(lambda old, by: old + by / 2, {"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 4.0})
    return {
        "has_tree_map": hasattr(jax, "tree_map"),
        "tree_dot_map_works": updated == {"a": 2.0, "b": 4.0},
    }


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("looked_up")
    if shown["has_tree_map"]:
        return "confirmed"
    return "outdated" if shown.get("tree_dot_map_works") else "refuted"
