"""Try XLA's flag for products in Triton on a GPU: `xla_gpu_triton_gemm_any`."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
NEEDS = "gpu"
SYMPTOM = "products of matrices with something cheap before or after them are slow on a GPU"
MECHANISM = """
XLA takes each product of matrices from a library or generates it with Triton, where conversions and
elementwise work can be fused into it. The flag lets it generate every product that Triton can do,
and the autotuner still chooses the fastest kernel.
"""
EXCEPTION = """
Flags belong to a version: what one release gains by it the next may do by itself, or have renamed.
It is measured for each program, and left out where it gains nothing.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/gpu_performance_tips.html",
    "https://docs.jax.dev/en/latest/xla_flags.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "GPU-specific optimizations",
        "figure": "when beneficial",
    },
)
TOLERANCE = 0.1  # of products in 8 bits of precision


def do():
    """Multiply 8-bit weights, widened on the way, with the flag set for this program."""
    import jax
    import jax.numpy as jnp

    @jax.jit(compiler_options={"xla_gpu_triton_gemm_any": True})
    def forward(w, scale, x):
        return jax.nn.gelu(x @ (w.astype("bfloat16") * scale)).mean(axis=1).astype("float32")

    w = jax.random.randint(jax.random.key(0), (4096, 4096), -100, 100).astype("int8")
    x = jax.random.normal(jax.random.key(1), (2048, 4096)).astype("bfloat16")
    return forward, (w, jnp.bfloat16(1 / 4096), x)


def dont():
    """Multiply 8-bit weights, widened on the way, with the default flags."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def forward(w, scale, x):
        return jax.nn.gelu(x @ (w.astype("bfloat16") * scale)).mean(axis=1).astype("float32")

    w = jax.random.randint(jax.random.key(0), (4096, 4096), -100, 100).astype("int8")
    x = jax.random.normal(jax.random.key(1), (2048, 4096)).astype("bfloat16")
    return forward, (w, jnp.bfloat16(1 / 4096), x)
