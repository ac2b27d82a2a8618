"""Compile a whole training step as one program, not its parts one by one."""

FRAMEWORK = "jax"
MEASURES = "warm_call_s"
SYMPTOM = "many short programs in each step"
MECHANISM = """
What several jitted functions compute is computed by each for itself, and goes through memory and
Python between them. Inside one program XLA computes it once, and fuses what follows it.
"""
EXCEPTION = """
Parts are compiled separately with reason where the whole takes too long to compile. In a small step
only calls are saved, so little that their scatter may hide it; in a large one what the parts
compute twice, here the forward pass, and what they hand on through memory, here the slopes.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/profiling.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "JIT at the outermost possible scope",
        "figure": "2–10×",
        "low": 2.0,
        "high": 10.0,
    },
    {
        "article": "002",
        "place": "Quick reference: The 10 commandments of JAX performance",
        "figure": "",
    },
)
TOLERANCE = 1e-4
SECONDS = 45.0
GRID = {"width": (8, 32, 128, 512)}


def do(width):
    """Find the error, the slopes and the next layers in one compiled function."""
    import jax
    import jax.numpy as jnp

    def error(layers, batch):
        rebuilt = batch
        for layer in layers:
            rebuilt = jnp.tanh(rebuilt @ layer)
        return jnp.mean((rebuilt - batch) ** 2)

    @jax.jit
    def improve(layers, batch):
        found, slopes = jax.value_and_grad(error)(layers, batch)
        return [layer - 0.01 * slope for layer, slope in zip(layers, slopes, strict=True)], found

    layers = [jnp.full((width, width), n / (4 * width)) for n in range(1, 5)]
    return improve, (layers, jnp.ones((16, width)))


def dont(width):
    """Find the error, the slopes and the next layers by a compiled function each."""
    import jax
    import jax.numpy as jnp

    def error(layers, batch):
        rebuilt = batch
        for layer in layers:
            rebuilt = jnp.tanh(rebuilt @ layer)
        return jnp.mean((rebuilt - batch) ** 2)

    def moved(layers, slopes):
        return [layer - 0.01 * slope for layer, slope in zip(layers, slopes, strict=True)]

    error_alone = jax.jit(error)
    slopes_alone = jax.jit(jax.grad(error))
    moved_alone = jax.jit(moved)

    def improve(layers, batch):
        slopes = slopes_alone(layers, batch)
        return moved_alone(layers, slopes), error_alone(layers, batch)

    layers = [jnp.full((width, width), n / (4 * width)) for n in range(1, 5)]
    return improve, (layers, jnp.ones((16, width)))
