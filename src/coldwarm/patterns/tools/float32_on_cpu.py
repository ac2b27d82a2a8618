"""Stay with float32 on a CPU: 16-bit numbers save memory there, and seldom time."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SECONDS = 45.0
GRID = {"width": (64, 128, 256, 512)}
SYMPTOM = "a model in 16 bits is no faster on a CPU, or slower"
MECHANISM = """
Few CPUs have instructions for 16-bit floating-point numbers, and compilers use them for few
operations. Elsewhere numbers are widened to 32 bits before an operation and narrowed after it,
which is work that float32 does not have.
"""
EXCEPTION = """
Where the weights hardly fit into memory, or are read once for each result, half the bytes may be
worth more than the conversions. Processors with AMX or AVX512-BF16 have instructions for bfloat16:
where this was measured on one, float32 gained nothing.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/type_promotion.html",
    "https://docs.jax.dev/en/latest/201/profiling.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Hardware-specific considerations",
        "figure": "optimal on CPU: float32",
    },
)
TOLERANCE = 0.1  # of a network in 8 bits of precision


def do(width):
    """Run a network of three layers in float32."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forward(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x**2).mean(axis=1)

    keys = jax.random.split(jax.random.key(0), 3)
    weights = [jax.random.normal(key, (width, width)) / width**0.5 for key in keys]
    return forward, (weights, jnp.ones((64, width), dtype="float32"))


def dont(width):
    """Run a network of three layers in bfloat16."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forward(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x.astype("float32") ** 2).mean(axis=1)

    keys = jax.random.split(jax.random.key(0), 3)
    weights = [jax.random.normal(key, (width, width)) / width**0.5 for key in keys]
    weights = [w.astype("bfloat16") for w in weights]
    return forward, (weights, jnp.ones((64, width), dtype="bfloat16"))
