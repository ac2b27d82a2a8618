"""`torch.cuda.amp.autocast` casts operations to 16 bits by itself on a GPU."""

ARTICLE = {
    "article": "001",
    "place": "Mixed Precision Training",
    "figure": "automatically casts ops to FP16 where safe",
}
QUANTITY = "The types of results under autocast, and what the named API says of itself."
PROTOCOL = """
One process runs a matrix product and a softmax of float32 under `torch.amp.autocast` with float16
on the GPU, and makes `torch.cuda.amp.autocast` with all warnings recorded.
"""
RULE = """
Refuted where the product under `torch.amp.autocast` is not in 16 bits, or the softmax of it is.
Otherwise outdated where the API that is named warns that it is deprecated, confirmed where not.
"""
NEEDS = "gpu"
FACTS = ({"functions": ("on_gpu.cast",), "file": "_autocast.py"},)
NOTE = """
`torch.amp.autocast("cuda")` and `torch.amp.GradScaler("cuda")` do what the deprecated names did.
"""


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("cast")
    if (shown["product"], shown["softmax"]) != ("torch.float16", "torch.float32"):
        return "refuted"
    return "outdated" if shown["named_api_deprecated"] else "confirmed"
