"""Moving a photometric stereo optimiser from NumPy to JAX on a GPU makes it 15 times as fast."""

ARTICLE = {
    "article": "001",
    "place": "When JAX Actually Wins",
    "figure": "15×, from 3 minutes to 12 seconds",
    "low": 15.0,
}
QUANTITY = "A warm call of ten steps in NumPy over one in jitted JAX."
PROTOCOL = """
Normals of a scene of 512 × 512 pixels are fitted to its images under 12 lights by ten steps of
gradient descent on the squared error of clipped shading plus smoothness; in NumPy with the
gradient written by hand, in JAX by `grad` inside a jitted `fori_loop`. float32, same answer, fresh
processes.
"""
RULE = """
Confirmed where the interval of the ratio lies above 12 (80 % of the stated factor), refuted where
it lies below, otherwise inconclusive.
"""
NEEDS = "gpu"
BENCHES = (
    {
        "name": "scene",
        "candidates": ("jax_jit", "numpy_by_hand"),
        "grid": {"side": (512,)},
        "file": "_photometric_stereo.py",
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",)
NOTE = """
NumPy runs on the host's CPU, as it did in the source, so the factor is that of another machine as
well as that of another framework.
"""


def judge(seen):
    """Decide by the rule."""
    return seen.at_least(seen.ratio("numpy_by_hand", "jax_jit", "warm_call"), 12.0)
