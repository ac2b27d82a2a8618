"""On a GPU, jit gains a factor of 10 to 100."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: JIT benefit",
    "figure": "high (10–100×)",
    "low": 10.0,
    "high": 100.0,
}
QUANTITY = "A warm call of a training step without jit over one with it, on a GPU."
PROTOCOL = """
The loss and gradients of an MLP (64-128-1, batch 256, float32), outside jit and inside. Fresh
processes, warm calls.
"""
RULE = """
Confirmed where the interval lies between 8 and 125 (20 % below 10, 25 % above 100), refuted where
it lies outside, otherwise inconclusive.
"""
NEEDS = "gpu"
BENCHES = (
    {
        "name": "step",
        "candidates": ("jitted", "eager"),
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def jitted():
    """Take the loss and its gradients in one program."""
    import jax

    return jax.jit(jax.value_and_grad(_loss)), _start()


def eager():
    """Take the loss and its gradients operation by operation."""
    import jax

    return jax.value_and_grad(_loss), _start()


def _loss(weights, x, y):
    import jax.numpy as jnp

    return jnp.mean((jnp.tanh(x @ weights[0]) @ weights[1] - y) ** 2)


def _start():
    import jax.numpy as jnp

    w = jnp.linspace(-0.1, 0.1, 64 * 128).reshape(64, 128)
    x = jnp.linspace(-1.0, 1.0, 256 * 64).reshape(256, 64)
    return (w, w[0].reshape(128, 1)), x, x[:, :1]


def judge(seen):
    """Decide by the rule."""
    return seen.within(seen.ratio("eager", "jitted", "warm_call"), 8.0, 125.0)
