"""Put all inputs onto their device before the first call, or none."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "a later call compiles again, with equal shapes and types and without a trace"
MECHANISM = """
An array that was put onto a device by name is committed to it, and one that was merely computed is
not. That is part of what a compiled program is kept under, so the first call with a committed array
compiles the function once more.
"""
EXCEPTION = """
With several devices, committing is how one says where to compute; then it is done for every input,
from the first call on.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/placement.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.Array.committed.html",
)
STATED = (
    "Four calls compile once where all inputs are committed, and twice where the first is not; \
the function is traced once in both."
)


def do():
    """Commit the input before the first call."""
    import jax
    import jax.numpy as jnp

    compiled, traced = [], []
    x = jax.device_put(jnp.ones(8), jax.devices()[0])
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _, **__: compiled.append(event) if "backend_compile" in event else None
    )

    @jax.jit
    def step(x):
        traced.append(1)
        return x * 0.5

    for _ in range(4):
        x = step(x)
    return {"compiled": len(compiled), "traced": len(traced)}


def dont():
    """Commit the input, as loading a checkpoint does, after the first calls."""
    import jax
    import jax.numpy as jnp

    compiled, traced = [], []
    x = jnp.ones(8)
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, _, **__: compiled.append(event) if "backend_compile" in event else None
    )

    @jax.jit
    def step(x):
        traced.append(1)
        return x * 0.5

    for turn in range(4):
        if turn == 2:
            x = jax.device_put(x, jax.devices()[0])
        x = step(x)
    return {"compiled": len(compiled), "traced": len(traced)}


def holds(do, dont):
    """Say whether commitment alone has compiled once more."""
    once = do["compiled"] == do["traced"] == dont["traced"] == 1
    return once and dont["compiled"] == 2
