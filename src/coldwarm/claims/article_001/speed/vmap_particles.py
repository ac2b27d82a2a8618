"""A step of particles by `vmap` and `jit` is as fast as the same step batched by hand."""

ARTICLE = {
    "article": "001",
    "place": "VMAP: The Killer Feature",
    "figure": "as fast as hand-written batched",
}
QUANTITY = "A warm call of `jit(vmap(...))` over the faster of two that are batched by hand."
PROTOCOL = """
The source's update (a position of two numbers plus a hundredth of its force) of 1,000, 10,000 and
100,000 particles, 100 times one after the other in a call, so that what a call itself costs does
not decide: mapped over the particles and compiled by JAX, as loops that Numba compiles, and in
NumPy with arrays of all particles. float32, same answer, fresh processes, warm calls.
"""
RULE = """
At each size the ratio to the faster of the two by hand counts, which is the larger one. Confirmed
where its interval lies below 1.1 at more than half of the sizes; refuted where it does so at none,
and lies above at more than half; depends where it lies below at some and above at others; otherwise
inconclusive.
"""
MADE_FOR = "gpu"
SIZES, STEPS = (1_000, 10_000, 100_000), 100
BENCHES = (
    {
        "name": "particles",
        "candidates": ("mapped", "numba_loops", "numpy_batched"),
        "grid": {"size": SIZES},
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 24.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",)
NOTE = """
The source compares with CUDA that is written by hand. A CPU has none; Numba and NumPy are what
people write by hand there.
"""


def mapped(size):
    """Update one particle, mapped over all and compiled."""
    import jax
    import jax.numpy as jnp

    def moved(place, force):
        return jnp.stack([place[0], place[1]]) + 0.01 * force

    @jax.jit
    def simulate(places, forces):
        def step(_, places):
            return jax.vmap(moved)(places, forces)

        return jax.lax.fori_loop(0, STEPS, step, places)

    return simulate, tuple(jnp.asarray(array) for array in _particles(size))


def numba_loops(size):
    """Update all particles in loops."""
    import numba
    import numpy as np

    @numba.njit(parallel=False)
    def simulate(places, forces):
        moved, hundredth = places.copy(), np.float32(0.01)
        for _ in range(STEPS):
            for particle in range(moved.shape[0]):
                for axis in range(2):
                    moved[particle, axis] += hundredth * forces[particle, axis]
        return moved

    return simulate, _particles(size)


def numpy_batched(size):
    """Update all particles as arrays."""

    def simulate(places, forces):
        for _ in range(STEPS):
            places = places + 0.01 * forces
        return places

    return simulate, _particles(size)


def _particles(size):
    import numpy as np

    places = np.linspace(-1.0, 1.0, 2 * size, dtype="float32").reshape(size, 2)
    return places, np.ascontiguousarray(places[::-1])


def judge(seen):
    """Decide by the rule."""
    ratios = []
    for size in SIZES:
        bench = f"particles_size_{size}"
        loops = seen.ratio("mapped", "numba_loops", "warm_call", bench=bench)
        batched = seen.ratio("mapped", "numpy_batched", "warm_call", bench=bench)
        ratios.append(max(loops, batched, key=lambda one: one.value))
    return seen.mostly(ratios, high=1.1)
