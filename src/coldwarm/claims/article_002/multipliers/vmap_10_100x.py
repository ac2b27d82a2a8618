"""`vmap` is 10 to 100 times as fast as a Python loop over the examples."""

ARTICLE = {
    "article": "002",
    "place": "Vectorization with vmap: Batch everything",
    "figure": "10–100×",
    "low": 10.0,
    "high": 100.0,
}
QUANTITY = "A warm call of a loop over 64 examples over one of `jit(vmap)`."
PROTOCOL = """
A network of three layers (64 wide, float32) on 64 examples: `jit(vmap(predict))`, and a Python loop
over the examples whose results are stacked, without jit as the source has it. The same loop with
the function for one example jitted stands beside them. Fresh processes, warm calls.
"""
RULE = """
Confirmed where the interval of the loop without jit over vmap lies between 8 and 125 (20 % below
10, 25 % above 100), refuted where it lies outside, otherwise inconclusive.
"""
BENCHES = (
    {
        "name": "examples",
        "candidates": ("mapped", "loop", "loop_of_jitted"),
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-4,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",)
NOTE = """
The loop without jit pays for a dispatch of each operation for each example: part of the factor is
jit's rather than vmap's. The hardware table of the same source says 2–5× for CPUs.
"""


def mapped():
    """Map over the examples in one program."""
    import jax

    return jax.jit(jax.vmap(_predict, in_axes=(None, 0))), _start()


def loop():
    """Take the examples one by one, operation by operation."""
    import jax.numpy as jnp

    def predict(weights, examples):
        return jnp.stack([_predict(weights, x) for x in examples])

    return predict, _start()


def loop_of_jitted():
    """Take the examples one by one, each in one program."""
    import jax
    import jax.numpy as jnp

    one = jax.jit(_predict)

    def predict(weights, examples):
        return jnp.stack([one(weights, x) for x in examples])

    return predict, _start()


def _predict(weights, x):
    import jax.numpy as jnp

    for w, b in weights:
        x = jnp.tanh(jnp.dot(x, w) + b)
    return x


def _start():
    import jax.numpy as jnp

    grid = jnp.linspace(-1.0, 1.0, 64 * 64).reshape(64, 64)
    weights = [(jnp.sin(grid * (30 + n)) / 8, jnp.full(64, 0.1)) for n in range(3)]
    return weights, jnp.cos(grid * 7)


def judge(seen):
    """Decide by the rule."""
    seen.ratio("loop_of_jitted", "mapped", "warm_call")
    return seen.within(seen.ratio("loop", "mapped", "warm_call"), 8.0, 125.0)
