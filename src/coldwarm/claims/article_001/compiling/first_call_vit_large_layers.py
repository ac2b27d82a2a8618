"""The first call of a network with the layers of a ViT-Large takes more than eight seconds."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "8+ s",
    "low": 8.0,
}
QUANTITY = "The seconds of the first call of a training step."
PROTOCOL = """
Three fresh processes with empty caches make the 24 blocks of a ViT-Large, with 16 heads but 64
rather than 1024 wide and 17 rather than 197 tokens, batch 2, so that it fits here: compiling
depends on the operations, not on their sizes. The first call of a jitted training step is timed:
the loss, its gradient, and an update by Adam, in float32.
"""
RULE = """
Confirmed where it takes at least 6.4 s in all processes (80 % of what is stated), refuted where it
takes less in all, otherwise inconclusive.
"""
MADE_FOR = "gpu"
FACTS = (
    {
        "functions": ("narrow.first_call",),
        "file": "_vit_large.py",
        "processes": 3,
        "variables": {"JAX_PLATFORMS": "cpu"},
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
The blocks are written one after the other, as most models are. `lax.scan` over one block compiles
it once, and the first call takes a fraction of this.
"""


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.over_processes("first_call", "first_s"), 6.4)
