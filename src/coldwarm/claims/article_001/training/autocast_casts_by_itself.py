"""`torch.cuda.amp.autocast` casts operations to 16 bits by itself, where that is safe."""

ARTICLE = {
    "article": "001",
    "place": "Mixed Precision Training",
    "figure": "automatically casts ops to FP16 where safe",
}
QUANTITY = "The types of results under autocast, and what the named API says of itself."
PROTOCOL = """
One process runs operations on float32 under `torch.amp.autocast` with bfloat16 on the CPU: three
kinds of matrix product, which PyTorch's documentation lists as safe; and the product of all
elements, a squared error and distances between rows, which it lists as float32, from arguments of
16 bits. Then it makes `torch.cuda.amp.autocast` with all warnings recorded.
"""
RULE = """
Refuted where a matrix product is not in 16 bits, or one of the others is not in float32. Otherwise
outdated where the API that is named warns that it is deprecated, confirmed where not.
"""
MADE_FOR = "gpu"
FACTS = ({"functions": ("on_cpu.cast",), "file": "_autocast.py"},)
DOCS = ("https://docs.pytorch.org/docs/stable/amp.html",)
NOTE = """
Each kind of device has lists of its own: softmax is float32 on a GPU, and keeps the type of its
argument on a CPU, as bfloat16 has the range of float32. `torch.amp.autocast` with the name of the
device has replaced the deprecated one.
"""


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("cast")
    if not (shown["safe_in_16_bits"] and shown["unsafe_in_32_bits"]):
        return "refuted"
    return "outdated" if shown["named_api_deprecated"] else "confirmed"
