"""Once a jitted function has compiled, its very next call is instant."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "subsequent calls are instant",
}
QUANTITY = "The second call of a jitted function over a steady one, in one process."
PROTOCOL = """
Six fresh processes with empty caches make jitted functions, each a smoothed error of its own size
with its gradient: five of about 1,000, five of about 30,000 and five of about 1,000,000 numbers.
Each is called 40 times with the same arrays. By function, the second call over the median of the
last 30; by process and size, the median of the five.
"""
RULE = """
Instant is read as no more than twice a steady call. Confirmed where that is so in all processes at
more than half of the three sizes; refuted where it is at none, and the second call takes longer in
all processes at more than half; depends where the first is so at some and the second at others;
otherwise inconclusive.
"""
FACTS = ({"functions": ("second_and_steady",), "processes": 6},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
SIZES = (1_000, 30_000, 1_000_000)


def second_and_steady():
    """Time the first, the second and the steady call of several functions of each size."""
    from statistics import median

    told = {}
    for size in SIZES:
        timed = [_timed(size + more) for more in range(5)]
        told[f"first_s_{size}"] = median(first for first, _, _ in timed)
        told[f"second_s_{size}"] = median(second for _, second, _ in timed)
        told[f"ratio_{size}"] = median(second / steady for _, second, steady in timed)
    return told


def _timed(size):
    import time
    from statistics import median

    import jax
    import jax.numpy as jnp

    def error(height, seen):
        bends = jnp.diff(height, n=2)
        return jnp.sum(jnp.tanh(height - seen) ** 2) + 0.1 * jnp.sum(bends**2)

    slope = jax.jit(jax.grad(error))
    height, seen = jnp.linspace(0.0, 1.0, size), jnp.ones(size)
    jax.block_until_ready((height, seen))
    spent = []
    for _ in range(40):
        begin = time.perf_counter()
        slope(height, seen).block_until_ready()
        spent.append(time.perf_counter() - begin)
    return spent[0], spent[1], median(spent[10:])


def judge(seen):
    """Decide by the rule."""
    for size in SIZES:
        seen.over_processes("second_and_steady", f"first_s_{size}")
        seen.over_processes("second_and_steady", f"second_s_{size}")
    ratios = [seen.over_processes("second_and_steady", f"ratio_{size}") for size in SIZES]
    return seen.mostly(ratios, high=2.0)
