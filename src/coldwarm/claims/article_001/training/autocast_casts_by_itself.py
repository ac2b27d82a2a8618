"""`torch.cuda.amp.autocast` casts operations to 16 bits by itself, where that is safe."""

ARTICLE = {
    "article": "001",
    "place": "Mixed Precision Training",
    "figure": "automatically casts ops to FP16 where safe",
}
QUANTITY = "The types of results under autocast, and what the named API says of itself."
PROTOCOL = """
One process runs a matrix product and a softmax of float32 under `torch.amp.autocast` with bfloat16
on the CPU, and makes `torch.cuda.amp.autocast` with all warnings recorded.
"""
RULE = """
Refuted where the product under `torch.amp.autocast` is not in 16 bits, or the softmax of it is.
Otherwise outdated where the API that is named warns that it is deprecated, confirmed where not.
"""
FACTS = ({"functions": ("on_cpu.cast",), "file": "_autocast.py"},)
NOTE = """
The rule was written with the GPU's list of operations in mind, where a softmax is computed in
float32. On the CPU it stays in the type of its input, as bfloat16 has float32's range; so this
rule refutes here what is right for products. The GPU is tested as a claim of its own.
"""


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("cast")
    if (shown["product"], shown["softmax"]) != ("torch.bfloat16", "torch.float32"):
        return "refuted"
    return "outdated" if shown["named_api_deprecated"] else "confirmed"
