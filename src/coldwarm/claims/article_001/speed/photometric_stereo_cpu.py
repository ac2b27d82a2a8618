"""Moving a photometric stereo optimiser from NumPy to JAX makes it 15 times as fast on the CPU."""

ARTICLE = {
    "article": "001",
    "place": "When JAX Actually Wins",
    "figure": "15×, from 3 minutes to 12 seconds",
    "low": 15.0,
}
QUANTITY = "A warm call of ten steps in NumPy over one in jitted JAX."
PROTOCOL = """
Normals of a scene of 64 × 64, 128 × 128 and 256 × 256 pixels are fitted to its images under 12
lights by ten steps of gradient descent on the squared error of clipped shading plus smoothness; in
NumPy with the gradient written by hand, in JAX by `grad` inside a jitted `fori_loop`. float32, same
answer, fresh processes.
"""
RULE = """
The limit is 12 (80 % of the stated factor). Confirmed where the interval of the ratio lies above it
at more than half of the sizes; refuted where it does so at none, and lies below at more than half;
depends where it lies above at some and below at others; otherwise inconclusive.
"""
MADE_FOR = "gpu"
BENCHES = (
    {
        "name": "scene",
        "candidates": ("jax_jit", "numpy_by_hand"),
        "grid": {"side": (64, 128, 256)},
        "file": "_photometric_stereo.py",
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 20.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",)
NOTE = """
The source's factor is that of a GPU (an A100) over a CPU, as well as that of JAX over NumPy; here
both run on the same cores.
"""


def judge(seen):
    """Decide by the rule."""
    ratios = seen.over_grid("numpy_by_hand", "jax_jit", "warm_call", bench="scene")
    return seen.mostly(ratios, low=12.0)
