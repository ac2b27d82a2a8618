"""Look at an array's sharding: its shape and its values do not tell where its parts lie."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "each device needs as much memory as one alone would"
MECHANISM = """
An array that is copied to every device and one that is spread over them have the same shape and
the same values, so a forgotten axis in a specification changes no result. Only the sharding says
which device holds what; `visualize_array_sharding` draws it.
"""
EXCEPTION = """
With a mesh of explicit axes, the sharding is part of the type: `jax.typeof` shows it even inside a
compiled function, and a specification that does not fit raises.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/jax.debug.html",
    "https://docs.jax.dev/en/latest/201/sharding.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Modern approach: shard_map with explicit sharding",
        "figure": "visualize to verify",
    },
)
STATED = """Drawings of a spread and of a copied array differ; shapes and printed values do not."""
VARIABLES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}


def do():
    """Compare a spread and a copied array by drawings of their shardings."""
    import contextlib
    import io

    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((4,), ("data",), auto, devices=devices[:4])
    batch = jnp.arange(32.0).reshape(16, 2)
    spread = jax.device_put(batch, NamedSharding(mesh, P("data")))
    copied = jax.device_put(batch, NamedSharding(mesh, P()))
    drawings = []
    for array in (spread, copied):
        with contextlib.redirect_stdout(io.StringIO()) as drawn:
            jax.debug.visualize_array_sharding(array)
        drawings.append(drawn.getvalue())
    return {
        "told_apart": drawings[0] != drawings[1],
        "rows_on_a_device_spread": spread.sharding.shard_shape(spread.shape)[0],
        "rows_on_a_device_copied": copied.sharding.shard_shape(copied.shape)[0],
    }


def dont():
    """Compare a spread and a copied array by shape and printed values."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    devices = jax.devices() if jax.device_count() >= 4 else jax.devices("cpu")
    auto = (jax.sharding.AxisType.Auto,)
    mesh = jax.make_mesh((4,), ("data",), auto, devices=devices[:4])
    batch = jnp.arange(32.0).reshape(16, 2)
    spread = jax.device_put(batch, NamedSharding(mesh, P("data")))
    copied = jax.device_put(batch, NamedSharding(mesh, P()))
    return {"told_apart": spread.shape != copied.shape or repr(spread) != repr(copied)}


def holds(do, dont):
    """Say whether the sharding tells apart what shape and values do not."""
    rows = do["rows_on_a_device_spread"], do["rows_on_a_device_copied"]
    return do["told_apart"] and not dont["told_apart"] and rows == (4, 16)
