"""Write code for each device with `shard_map` under `jit`, not with `pmap`."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
LINT = "pmap-legacy"
SYMPTOM = "small steps are slow on several devices"
MECHANISM = """
`pmap` maps over a leading axis that has to be as long as there are devices, and is today a layer
on top of `jit` and `shard_map` that takes its arguments apart and its results together at every
call. `shard_map` works on arrays that already lie on the devices, and `jit` dispatches it at once.
"""
EXCEPTION = """
Code that uses `pmap` and is fast enough may stay: it still works, and with long steps the
difference is lost in them.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/notebooks/shard_map.html",
    "https://docs.jax.dev/en/latest/migrate_pmap.html",
)
ARTICLES = ({"article": "002", "place": "Modern approach: shard_map with explicit sharding"},)
VARIABLES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
TOLERANCE = 1e-4


def do():
    """Take 20 steps on four devices, mapped over shards."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    mesh = jax.make_mesh((4,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))

    def relax(x):
        return 0.5 * x + 0.5 * jax.lax.pmean(x, "data")

    step = jax.jit(
        jax.shard_map(relax, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
    )

    def run(x):
        for _ in range(20):
            x = step(x)
        return x

    x = jnp.linspace(0.0, 1.0, 4 * 256).reshape(4, 256)
    return run, (jax.device_put(x, NamedSharding(mesh, P("data"))),)


def dont():
    """Take 20 steps on four devices, mapped over a leading axis."""
    import jax
    import jax.numpy as jnp

    step = jax.pmap(
        lambda x: 0.5 * x + 0.5 * jax.lax.pmean(x, "data"), axis_name="data"
    )

    def run(x):
        for _ in range(20):
            x = step(x)
        return x

    x = jnp.linspace(0.0, 1.0, 4 * 256).reshape(4, 256)
    return run, (jax.pmap(lambda part: part)(x),)
