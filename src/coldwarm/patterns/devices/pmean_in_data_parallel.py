"""Average over all devices in data parallel training: without it each trains a model of its own."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "the copies of the parameters differ from device to device, and the loss stays high"
MECHANISM = """
Each device sees its own part of the batch, so its gradient is that of its part alone. `pmean`
exchanges them and gives every device the mean, which is the gradient of the whole batch.
"""
EXCEPTION = """
An ensemble trains one model on each device on purpose, and must not average. In `shard_map` the
gradient by a parameter that every device shares is summed by JAX itself, so there only the loss is
averaged.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/notebooks/shard_map.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Data parallelism with pmap",
        "figure": "each device diverges",
    },
)
STATED = """Averaged, every device has the parameters that one device gets from the whole batch;
otherwise they differ after the first step."""
VARIABLES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}


def do():
    """Take five steps on four devices, with the mean of their losses."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)

    def step(w, x, y):
        return w - 0.1 * jax.grad(lambda w: jax.lax.pmean(loss(w, x, y), "data"))(w)

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((4,), ("data",), auto, devices=devices[:4])
    parallel = jax.jit(
        jax.shard_map(step, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P())
    )
    x = jax.random.normal(jax.random.key(0), (64, 8))
    y = x.sum(axis=1)
    w = alone = jnp.zeros(8)
    for _ in range(5):
        w = parallel(w, x, y)
        alone = alone - 0.1 * jax.grad(loss)(alone, x, y)
    copies = [shard.data for shard in w.addressable_shards]
    return {
        "devices": len(copies),
        "furthest_apart": max(float(abs(one - copies[0]).max()) for one in jax.device_get(copies)),
        "from_whole_batch": float(abs(jax.device_get(w) - jax.device_get(alone)).max()),
    }


def dont():
    """Take five steps on four devices, each with the gradient of its own part."""
    import jax
    import jax.numpy as jnp

    def loss(w, x, y):
        return jnp.mean((x @ w - y) ** 2)

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    step = jax.pmap(lambda w, x, y: w - 0.1 * jax.grad(loss)(w, x, y), devices=devices[:4])
    x = jax.random.normal(jax.random.key(0), (64, 8))
    y = x.sum(axis=1)
    w, alone = jnp.zeros((4, 8)), jnp.zeros(8)
    for _ in range(5):
        w = step(w, x.reshape(4, 16, 8), y.reshape(4, 16))
        alone = alone - 0.1 * jax.grad(loss)(alone, x, y)
    copies = jax.device_get(w)
    return {
        "devices": len(copies),
        "furthest_apart": max(float(abs(one - copies[0]).max()) for one in copies),
        "from_whole_batch": float(abs(copies - jax.device_get(alone)).max()),
    }


def holds(do, dont):
    """Say whether only averaged copies agree with each other and with the whole batch."""
    averaged = do["furthest_apart"] == 0 and do["from_whole_batch"] < 1e-3
    apart = dont["furthest_apart"] > 0.01 and dont["from_whole_batch"] > 0.01
    return do["devices"] == dont["devices"] == 4 and averaged and apart
