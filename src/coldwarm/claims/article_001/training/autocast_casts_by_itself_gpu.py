"""`torch.cuda.amp.autocast` casts operations to 16 bits by itself on a GPU."""

ARTICLE = {
    "article": "001",
    "place": "Mixed Precision Training",
    "figure": "automatically casts ops to FP16 where safe",
}
QUANTITY = "The types of results under autocast, and what the named API says of itself."
PROTOCOL = """
One process runs operations on float32 under `torch.amp.autocast` with float16 on the GPU: three
kinds of matrix product, which PyTorch's documentation lists as safe; and the product of all
elements, a squared error and distances between rows, which it lists as float32, from arguments of
16 bits. Then it makes `torch.cuda.amp.autocast` with all warnings recorded.
"""
RULE = """
Refuted where a matrix product is not in 16 bits, or one of the others is not in float32. Otherwise
outdated where the API that is named warns that it is deprecated, confirmed where not.
"""
NEEDS = "gpu"
FACTS = ({"functions": ("on_gpu.cast",), "file": "_autocast.py"},)
NOTE = """
`torch.amp.autocast("cuda")` and `torch.amp.GradScaler("cuda")` do what the deprecated names did.
"""


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("cast")
    if not (shown["safe_in_16_bits"] and shown["unsafe_in_32_bits"]):
        return "refuted"
    return "outdated" if shown["named_api_deprecated"] else "confirmed"
