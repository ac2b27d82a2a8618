"""Try XLA's latency hiding scheduler on several GPUs: it communicates while it computes."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
NEEDS = "gpus"
SYMPTOM = "GPUs wait for each other's gradients"
MECHANISM = """
By default operations run in the order that needs least memory, so an exchange between GPUs may
stand alone. The latency hiding scheduler starts each exchange as early as it can, and puts the
computing that does not need it in between.
"""
EXCEPTION = """
On one GPU there is nothing to hide. The buffers of an exchange live longer, so that memory may run
out; and what a release does by itself needs no flag.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/gpu_performance_tips.html",
    "https://docs.jax.dev/en/latest/xla_flags.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "GPU-specific optimizations",
        "figure": "overlaps communication with computing",
    },
)
TOLERANCE = 0.1  # of sums in another order


def do():
    """Take a gradient of 16 layers over all GPUs, with the scheduler set for this program."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    everywhere, spread = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    gradient = jax.jit(
        jax.grad(loss),
        out_shardings=everywhere,
        compiler_options={"xla_gpu_enable_latency_hiding_scheduler": True},
    )
    keys = jax.random.split(jax.random.key(0), 16)
    weights = [jax.random.normal(key, (2048, 2048)) / 45 for key in keys]
    x = jnp.ones((512 * jax.device_count(), 2048))
    return gradient, (jax.device_put(weights, everywhere), jax.device_put(x, spread))


def dont():
    """Take a gradient of 16 layers over all GPUs, with the default flags."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    everywhere, spread = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    gradient = jax.jit(jax.grad(loss), out_shardings=everywhere)
    keys = jax.random.split(jax.random.key(0), 16)
    weights = [jax.random.normal(key, (2048, 2048)) / 45 for key in keys]
    x = jnp.ones((512 * jax.device_count(), 2048))
    return gradient, (jax.device_put(weights, everywhere), jax.device_put(x, spread))
