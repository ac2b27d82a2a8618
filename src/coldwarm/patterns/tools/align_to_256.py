"""Make dimensions multiples of 256 on a TPU: its matrix unit computes whole tiles, full or not."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
NEEDS = "tpu"
SYMPTOM = "a slightly smaller model is no faster on a TPU, or slower"
MECHANISM = """
The matrix unit of a TPU multiplies tiles of a fixed size, 256 by 256 since the sixth generation and
128 by 128 before. What does not fill the last tile is padded by the compiler at every operation;
dimensions that are multiples leave nothing to pad.
"""
EXCEPTION = """
Elsewhere the number is another: GPUs like multiples of 8 or 64, and CPUs hardly mind. Padding a
dimension of 10 to 256 wastes more than it saves.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/pallas/tpu/index.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.experimental.pallas.tpu.TpuInfo.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "TPU-specific optimizations",
        "figure": "256 on v4, v5 and v6",
    },
)
TOLERANCE = 0.1  # of products in 8 bits of precision


def do():
    """Multiply matrices of 1100 columns that are padded to 1280 once."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forward(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x[:1024, :1100].astype("float32") ** 2).mean(axis=1)

    def padded(x):
        return jnp.pad(x, [(0, -length % 256) for length in x.shape]).astype("bfloat16")

    keys = jax.random.split(jax.random.key(0), 16)
    weights = [padded(jax.random.normal(key, (1100, 1100)) / 33) for key in keys]
    return forward, (weights, padded(jnp.ones((1024, 1100))))


def dont():
    """Multiply matrices of 1100 columns."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forward(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x.astype("float32") ** 2).mean(axis=1)

    keys = jax.random.split(jax.random.key(0), 16)
    weights = [(jax.random.normal(key, (1100, 1100)) / 33).astype("bfloat16") for key in keys]
    return forward, (weights, jnp.ones((1024, 1100), dtype="bfloat16"))
