"""Use `vmap` inside the function of each device: no device vectorises its part by itself."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SECONDS = 20.0
GRID = {"examples": (16, 64, 256)}
SYMPTOM = "several devices are hardly faster than one"
MECHANISM = """
Mapping over devices gives each its part of the batch, and says nothing of how that part is
computed. `vmap` makes one operation over all its examples, where a loop computes one at a time.
"""
EXCEPTION = """
Where the examples of a part do not fit into memory together, `lax.map` with a `batch_size` takes
them in groups. A function that is written for batches needs no `vmap`.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",
    "https://docs.jax.dev/en/latest/notebooks/shard_map.html",
)
ARTICLES = ({"article": "002", "place": "Combine vmap inside pmap for maximum utilization"},)
VARIABLES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
TOLERANCE = 1e-3


def do(examples):
    """Compute the losses of a part of the batch on each of four devices, all at once."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    def loss(x, w):
        return (jnp.tanh(w @ x) ** 2).sum()

    def of_device(w, part):
        return jax.lax.pmean(jnp.mean(jax.vmap(loss, in_axes=(0, None))(part, w)), "data")

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((4,), ("data",), auto, devices=devices[:4])
    mean = jax.jit(jax.shard_map(of_device, mesh=mesh, in_specs=(P(), P("data")), out_specs=P()))
    keys = jax.random.split(jax.random.key(0))
    w = jax.random.normal(keys[0], (128, 128)) / 12
    x = jax.random.normal(keys[1], (4 * examples, 128))
    return mean, (
        jax.device_put(w, NamedSharding(mesh, P())),
        jax.device_put(x, NamedSharding(mesh, P("data"))),
    )


def dont(examples):
    """Compute the losses of a part of the batch on each of four devices, one after the other."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    def loss(x, w):
        return (jnp.tanh(w @ x) ** 2).sum()

    def of_device(w, part):
        return jax.lax.pmean(jnp.mean(jax.lax.map(lambda x: loss(x, w), part)), "data")

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((4,), ("data",), auto, devices=devices[:4])
    mean = jax.jit(jax.shard_map(of_device, mesh=mesh, in_specs=(P(), P("data")), out_specs=P()))
    keys = jax.random.split(jax.random.key(0))
    w = jax.random.normal(keys[0], (128, 128)) / 12
    x = jax.random.normal(keys[1], (4 * examples, 128))
    return mean, (
        jax.device_put(w, NamedSharding(mesh, P())),
        jax.device_put(x, NamedSharding(mesh, P("data"))),
    )
