"""Multiply matrices in bfloat16 on a GPU: its tensor units are made for 16 bits."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
NEEDS = "gpu"
SYMPTOM = "a GPU reaches a small part of the speed that its maker gives"
MECHANISM = """
Tensor units multiply 16-bit numbers several times as fast as 32-bit ones, and half as many bytes
are read. bfloat16 has the range of float32, so that gradients need no scaling.
"""
EXCEPTION = """
Sums over many terms, small differences, and optimizer state lose too much in 8 bits of precision:
they stay in float32.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/gpu_performance_tips.html",
    "https://docs.jax.dev/en/latest/type_promotion.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Hardware-specific considerations",
        "figure": "optimal on GPU: float32 or float16, on TPU bfloat16",
    },
)
TOLERANCE = 0.1  # of a network in 8 bits of precision


def do():
    """Run a network of three wide layers in bfloat16."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forward(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x.astype("float32") ** 2).mean(axis=1)

    keys = jax.random.split(jax.random.key(0), 3)
    weights = [jax.random.normal(key, (4096, 4096), dtype="float32") / 64 for key in keys]
    weights = [w.astype("bfloat16") for w in weights]
    return forward, (weights, jnp.ones((4096, 4096), dtype="bfloat16"))


def dont():
    """Run a network of three wide layers in float32."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forward(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x**2).mean(axis=1)

    keys = jax.random.split(jax.random.key(0), 3)
    weights = [jax.random.normal(key, (4096, 4096), dtype="float32") / 64 for key in keys]
    return forward, (weights, jnp.ones((4096, 4096), dtype="float32"))
