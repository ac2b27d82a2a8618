"""A step of data parallel training may be wrapped in `pmap` twice: the source's example does so."""

ARTICLE = {
    "article": "002",
    "place": "Data parallelism with pmap",
    "figure": "a decorator `pmap`, and `pmap` with a named axis around the result",
}
QUANTITY = "Whether the step runs with `pmap` twice, and with the named one alone."
PROTOCOL = """
One process, whose host is made to have four devices, takes a step of a linear model on 16 examples,
with the mean of the gradients of all devices: wrapped twice, as the source has it, and once, with
the name of the axis. The weights are compared with those of one device and all examples.
"""
RULE = """
Confirmed where the step that is wrapped twice runs, and gives the weights of one device to 1e-5 of
the largest. Refuted where it raises an error or gives others, and the one that is wrapped once
gives them. Otherwise inconclusive.
"""
FACTS = (
    {
        "functions": ("twice", "once"),
        "variables": {
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        },
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html",)
NOTE = """
Inside of the second `pmap` each device maps again, over the first dimension of what it has, and the
inner map knows no axis of that name.
"""


def twice():
    """Take the step under two maps."""
    import jax

    return _compared(jax.pmap(jax.pmap(_step), axis_name="i"))


def once():
    """Take the step under one map."""
    import jax

    return _compared(jax.pmap(_step, axis_name="i"))


def _slope(weights, x):
    import jax

    return jax.grad(lambda w: ((x @ w - 1) ** 2).mean())(weights)


def _step(weights, x):
    import jax

    return weights - 0.1 * jax.lax.pmean(_slope(weights, x), "i")


def _compared(parallel):
    """Return whether a step runs, and how far its weights are from those of one device."""
    import jax.numpy as jnp

    x, start = jnp.sin(jnp.arange(64.0)).reshape(16, 4), jnp.zeros(4)
    alone = start - 0.1 * _slope(start, x)
    try:
        found = parallel(jnp.stack([start] * 4), x.reshape(4, 4, 4))
    except Exception as error:  # noqa: BLE001 - of whatever kind it is
        return {"runs": False, "error": type(error).__name__}
    apart = float(abs(found - alone).max() / abs(alone).max())
    return {"runs": True, "same": apart <= 1e-5, "from_one_device": apart}


def judge(seen):
    """Decide by the rule."""
    shown = {name: seen.facts(name) for name in ("twice", "once")}
    right = {name: bool(one["runs"] and one["same"]) for name, one in shown.items()}
    if right["twice"]:
        return "confirmed"
    return "refuted" if right["once"] else "inconclusive"
