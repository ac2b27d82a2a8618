"""The first call of a ViT-Large takes more than eight seconds on a GPU."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "8+ s",
    "low": 8.0,
}
QUANTITY = "The seconds of the first call of a training step."
PROTOCOL = """
Three fresh processes with empty caches make a ViT-Large (24 blocks, 1024 wide, 16 heads, patches of
16 × 16 of an image of 224 × 224, batch 8, float32). The first call of a jitted training step is
timed: the loss, its gradient, and an update by Adam.
"""
RULE = """
Confirmed where it takes at least 6.4 s in all processes (80 % of what is stated), refuted where it
takes less in all, otherwise inconclusive.
"""
NEEDS = "gpu"
FACTS = ({"functions": ("whole.first_call",), "file": "_vit_large.py", "processes": 3},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
The blocks are written one after the other, as most models are. `lax.scan` over one block compiles
it once, and the first call takes a fraction of this.
"""


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.over_processes("first_call", "first_s"), 6.4)
