"""L-BFGS in jitted JAX is ten times as fast as in NumPy and in eager PyTorch."""

from typing import Any

ARTICLE = {
    "article": "001",
    "place": "When JAX Actually Wins",
    "figure": "benefit massively from JIT",
}
QUANTITY = "A warm call of L-BFGS in the faster of NumPy and eager PyTorch over one in jitted JAX."
PROTOCOL = """
Ten iterations of L-BFGS (memory of four, steps of half the direction) on a smooth function of 50,
1,000 and 100,000 numbers in float32: in JAX with its gradient, compiled as a whole; in NumPy with
the gradient written by hand; in PyTorch, operation by operation, with its gradient. Same answer,
fresh processes, warm calls. JAX without jit is measured beside, at 1,000 numbers, and decides
nothing: nobody would use it.
"""
RULE = """
The source gives no figure; "massively" is read as ten times. At each size the ratio of the faster
of NumPy and PyTorch counts, which is the smaller one. Confirmed where its interval lies above 10 at
more than half of the sizes; refuted where it does so at none, and lies below at more than half;
depends where it lies above at some and below at others; otherwise inconclusive.
"""
SIZES = (50, 1_000, 100_000)
BENCHES = (
    {
        "name": "lbfgs",
        "candidates": ("jax_jit", "numpy_by_hand", "torch_eager"),
        "grid": {"n": SIZES},
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 30.0,
        "tolerance": 1e-2,
    },
    {
        "name": "without_jit",
        "candidates": ("jax_jit", "jax_eager"),
        "grid": {"n": (1_000,)},
        "variables": {"JAX_PLATFORMS": "cpu"},
        "regime": "warm",
        "seconds": 25.0,
        "tolerance": 1e-2,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
ITERATIONS, MEMORY = 10, 4


def jax_jit(n):
    """Minimise in one program."""
    import jax

    minimise, arguments = jax_eager(n)
    return jax.jit(minimise), arguments


def jax_eager(n):
    """Minimise with JAX's gradient, operation by operation."""
    import jax
    import jax.numpy as jnp

    def error(x, goal):
        return jnp.sum(jnp.log1p((x - goal) ** 2)) + 0.1 * jnp.sum(x) ** 2 / n

    def minimise(x, goal):
        return _lbfgs(x, lambda x: jax.grad(error)(x, goal))

    return minimise, tuple(jnp.asarray(array) for array in _start(n))


def numpy_by_hand(n):
    """Minimise with the gradient written by hand."""

    def minimise(x, goal):
        def gradient(x):
            away = x - goal
            return 2 * away / (1 + away * away) + 0.2 / n * x.sum()

        return _lbfgs(x, gradient)

    return minimise, _start(n)


def torch_eager(n):
    """Minimise with PyTorch's gradient."""
    import torch

    def error(x, goal):
        return torch.log1p((x - goal) ** 2).sum() + 0.1 * x.sum() ** 2 / n

    def minimise(x, goal):
        def gradient(x):
            x = x.detach().requires_grad_()
            return torch.autograd.grad(error(x, goal), x)[0]

        return _lbfgs(x, gradient)

    return minimise, tuple(torch.from_numpy(array) for array in _start(n))


def _start(n):
    import numpy as np

    return np.full(n, 0.3, "float32"), np.linspace(0.0, 1.0, n, dtype="float32")


def _lbfgs(x, gradient):
    """Minimise from a point; the same lines serve arrays of all three."""
    slope = gradient(x)
    pairs: list[Any] = []
    for _ in range(ITERATIONS):
        direction, weights = slope, []
        for moved, bent, inverse in reversed(pairs):
            weights.append(inverse * (moved @ direction))
            direction = direction - weights[-1] * bent
        if pairs:
            moved, bent, _ = pairs[-1]
            direction = direction * ((moved @ bent) / (bent @ bent))
        for (moved, bent, inverse), weight in zip(pairs, reversed(weights), strict=True):
            direction = direction + moved * (weight - inverse * (bent @ direction))
        following = x - 0.5 * direction
        new_slope = gradient(following)
        moved, bent = following - x, new_slope - slope
        pairs = [*pairs, (moved, bent, 1 / (moved @ bent))][-MEMORY:]
        x, slope = following, new_slope
    return x


def judge(seen):
    """Decide by the rule."""
    from contextlib import suppress

    from coldwarm.catalogue.verdict import NotSeenError

    with suppress(NotSeenError):  # it stands beside, and decides nothing
        seen.over_grid("jax_eager", "jax_jit", "warm_call", bench="without_jit")
    least = []
    for n in SIZES:
        ratios = [
            seen.ratio(other, "jax_jit", "warm_call", bench=f"lbfgs_n_{n}")
            for other in ("numpy_by_hand", "torch_eager")
        ]
        least.append(min(ratios, key=lambda one: one.value))
    return seen.mostly(least, low=10.0)
