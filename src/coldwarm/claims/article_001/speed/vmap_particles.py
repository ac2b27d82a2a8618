"""`vmap` over 10,000 particles is as fast as code batched by hand."""

ARTICLE = {
    "article": "001",
    "place": "VMAP: The Killer Feature",
    "figure": "as fast as hand-written batched",
}
QUANTITY = "A warm call of a step over 10,000 particles by vmap over the same batched by hand."
PROTOCOL = """
A step of one particle (position, velocity, a force with a cosine in it) under `jit(vmap(...))`, and
the same step written for arrays with a leading axis under `jit`. Fresh processes, warm calls.
"""
RULE = """
Confirmed where the interval of the ratio lies below 1.1, refuted where it lies above, otherwise
inconclusive.
"""
BENCHES = (
    {
        "name": "particles",
        "candidates": ("batched", "mapped"),
        "regime": "warm",
        "seconds": 30.0,
        "tolerance": 1e-5,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",)
NOTE = "Batched by hand in JAX, as a CPU has no CUDA to write; both become the same program."
PARTICLES = 10_000


def batched():
    """Advance all particles, with the leading axis written out."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def advance(places, speeds):
        distance = jnp.sqrt(jnp.sum(places**2, axis=1, keepdims=True))
        speeds = speeds - 0.01 * places * jnp.cos(distance)
        return places + 0.01 * speeds, speeds

    places = jnp.linspace(-1.0, 1.0, 2 * PARTICLES).reshape(PARTICLES, 2)
    return advance, (places, places[::-1] * 0.1)


def mapped():
    """Advance one particle, mapped over all."""
    import jax
    import jax.numpy as jnp

    def advance(place, speed):
        distance = jnp.sqrt(jnp.sum(place**2))
        speed = speed - 0.01 * place * jnp.cos(distance)
        return place + 0.01 * speed, speed

    places = jnp.linspace(-1.0, 1.0, 2 * PARTICLES).reshape(PARTICLES, 2)
    return jax.jit(jax.vmap(advance)), (places, places[::-1] * 0.1)


def judge(seen):
    """Decide by the rule."""
    return seen.at_most(seen.ratio("mapped", "batched", "warm_call"), 1.1)
