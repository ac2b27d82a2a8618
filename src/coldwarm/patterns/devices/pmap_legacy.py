"""Write code for each device with `shard_map` under `jit`, not with `pmap`."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "a `ValueError` unless the leading axis is as long as there are devices"
MECHANISM = """
`pmap` maps over a leading axis that may not be longer than there are devices, so batches are folded
before it and unfolded after it. `shard_map` gives each device its part of an array as it is, and is
one operation among others in a compiled function.
"""
EXCEPTION = """
Code that uses `pmap` may stay: it still works, is today a layer on `jit` and `shard_map`, and its
calls were no slower where this was measured.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/notebooks/shard_map.html",
    "https://docs.jax.dev/en/latest/migrate_pmap.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Modern approach: shard_map with explicit sharding",
        "figure": "more flexible",
    },
)
STATED = """`shard_map` takes a batch of 64 on four devices, and the mean around it in the same
program; `pmap` raises."""
VARIABLES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}


def do():
    """Map a batch of 64 over four devices, inside of a compiled function."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec as P

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((4,), ("data",), auto, devices=devices[:4])

    def of_device(part):
        return part - jax.lax.pmean(part.mean(axis=0), "data")

    @jax.jit
    def spread(batch):
        centred = jax.shard_map(of_device, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
        return (centred(batch) ** 2).mean()

    return {"variance": float(spread(jnp.arange(64.0 * 3).reshape(64, 3)))}


def dont():
    """Map a batch of 64 over the leading axis, with four devices."""
    import jax
    import jax.numpy as jnp

    def of_device(part):
        return part - jax.lax.pmean(part.mean(axis=0), "data")

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    centred = jax.pmap(of_device, axis_name="data", devices=devices[:4])
    return {"variance": float((centred(jnp.arange(64.0 * 3).reshape(64, 3)) ** 2).mean())}


def holds(do, dont):
    """Say whether `shard_map` gave the variance of the whole batch, and `pmap` raised."""
    whole = 9 * (64**2 - 1) / 12
    return abs(do["variance"] / whole - 1) < 1e-4 and dont["raised"] == "ValueError"
