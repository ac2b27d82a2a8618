"""Data parallelism takes `pmap`, and `device_put_replicated` for the state."""

ARTICLE = {
    "article": "001",
    "place": "Multi-GPU Training",
    "figure": "jax.pmap, jax.device_put_replicated",
}
QUANTITY = "Whether the recipe runs, what it gives, and what its functions say of themselves."
PROTOCOL = """
One process, whose host is made to have four devices, replicates the weights of a linear model by
`device_put_replicated` and takes five steps by `pmap`, each with a quarter of 64 examples and the
mean of all gradients (`pmean`), in float32. They are compared with five steps on one device with
all examples. All warnings are recorded. Where `device_put_replicated` is gone, the weights are
stacked, so that `pmap` is run all the same.
"""
RULE = """
Outdated where `pmap` is gone. Otherwise refuted where the weights after it are not those of one
device, to 1e-5 of the largest; outdated where `device_put_replicated` is gone, or one of both warns
that it is deprecated; confirmed where nothing of this is so.
"""
FACTS = (
    {
        "functions": ("recipe",),
        "variables": {
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        },
    },
)
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html",
    "https://docs.jax.dev/en/latest/notebooks/shard_map.html",
)
NOTE = """
The source's own step takes no mean of the gradients, so each device would train a model of its own.
The documentation of JAX recommends `jax.shard_map`, or `jax.jit` with sharded arrays, in the place
of `pmap`.
"""
DEVICES, EXAMPLES, WIDTH, STEPS, RATE = 4, 64, 4, 5, 0.1


def recipe():
    """Follow the recipe, with all warnings recorded."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        there, apart = _trained()
    old = [one for one in caught if issubclass(one.category, DeprecationWarning | FutureWarning)]
    return {**there, "warns_deprecated": bool(old), "from_one_device": apart}


def _trained():
    """Return which functions there are, and how far the weights are from those of one device."""
    import jax
    import jax.numpy as jnp

    there = {"devices": len(jax.devices()), "pmap": hasattr(jax, "pmap")}
    there["device_put_replicated"] = hasattr(jax, "device_put_replicated")
    if not there["pmap"]:
        return there, None

    def slope(w, x, y):
        return jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)

    def step(w, x, y):
        return w - RATE * jax.lax.pmean(slope(w, x, y), "devices")

    x = jnp.sin(jnp.arange(float(EXAMPLES * WIDTH))).reshape(EXAMPLES, WIDTH)
    y = x.sum(1) + 1
    parts = x.reshape(DEVICES, -1, WIDTH), y.reshape(DEVICES, -1)
    one = jnp.zeros(WIDTH)
    if there["device_put_replicated"]:
        every = jax.device_put_replicated(one, jax.devices())
    else:
        every = jnp.stack([one] * DEVICES)
    parallel = jax.pmap(step, axis_name="devices")
    for _ in range(STEPS):
        every, one = parallel(every, *parts), one - RATE * slope(one, x, y)
    return there, float(abs(every - one).max() / abs(one).max())


def judge(seen):
    """Decide by the rule."""
    shown = seen.facts("recipe")
    if not shown["pmap"]:
        return "outdated"
    if seen.fact("recipe", "from_one_device") > 1e-5:
        return "refuted"
    is_current = shown["device_put_replicated"] and not shown["warns_deprecated"]
    return "confirmed" if is_current else "outdated"
