"""On a CPU, float32 is the fastest precision."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: Optimal precision",
    "figure": "float32",
}
QUANTITY = "A warm call of matrix products in bfloat16 and in float16 over one in float32."
PROTOCOL = """
Five products of 384 × 384 with a tanh between, jitted, on arrays of each type. Fresh processes,
warm calls; answers differ by their precision and are not compared.
"""
RULE = """
Confirmed where the intervals of both ratios lie above 1, refuted where one lies below, otherwise
inconclusive.
"""
BENCHES = (
    {
        "name": "products",
        "candidates": ("float32", "bfloat16", "float16"),
        "regime": "warm",
        "seconds": 40.0,
        "checks": False,
    },
)
NOTE = """
It depends on the processor: those with matrix instructions for bfloat16 (AMX, AVX-512 BF16) may be
faster with it.
"""


def float32():
    """Multiply in float32."""
    return _chain("float32")


def bfloat16():
    """Multiply in bfloat16."""
    return _chain("bfloat16")


def float16():
    """Multiply in float16."""
    return _chain("float16")


def _chain(dtype):
    import jax
    import jax.numpy as jnp

    @jax.jit
    def chain(x, w):
        for _ in range(5):
            x = jnp.tanh(x @ w)
        return x

    grid = jnp.linspace(-1.0, 1.0, 384 * 384).reshape(384, 384)
    return chain, (grid.astype(dtype), (jnp.sin(grid * 99) / 20).astype(dtype))


def judge(seen):
    """Decide by the rule."""
    ratios = [seen.ratio(name, "float32", "warm_call") for name in ("bfloat16", "float16")]
    verdicts = [seen.at_least(one, 1.0) for one in ratios]
    if "refuted" in verdicts:
        return "refuted"
    return "inconclusive" if "inconclusive" in verdicts else "confirmed"
