"""A new shape costs eager PyTorch next to nothing, beside what it costs jitted JAX."""

ARTICLE = {
    "article": "001",
    "place": "Compilation Overhead",
    "figure": "PyTorch doesn't care",
}
QUANTITY = "The seconds that the first call with a shape takes longer than the second one."
PROTOCOL = """
Six fresh processes for each framework call a two-layer network (64 wide, float32) with inputs of
24 lengths from 96 to 832, twice each, after calls with another length. By process, the median
over the lengths of the first call less the second; in eager PyTorch and in jitted JAX.
"""
RULE = """
Confirmed where a new shape costs PyTorch at most 1 ms in all processes, and at most a thousandth of
the least that it costs JAX in any. Refuted where it costs PyTorch more than 1 ms in all, or in all
more than a thousandth of the most that it costs JAX. Otherwise inconclusive.
"""
FACTS = ({"functions": ("of_torch", "of_jax"), "processes": 6},)
LENGTHS, WIDTH = range(96, 864, 32), 64


def of_torch():
    """Call an eager function with several lengths."""
    import torch

    w1, w2 = torch.full((WIDTH, WIDTH), 0.01), torch.full((WIDTH, 1), 0.01)

    def predict(x):
        return torch.tanh(x @ w1) @ w2

    return _extra(predict, lambda length: torch.ones(length, WIDTH))


def of_jax():
    """Call a jitted function with several lengths."""
    import jax
    import jax.numpy as jnp

    w1, w2 = jnp.full((WIDTH, WIDTH), 0.01), jnp.full((WIDTH, 1), 0.01)
    predict = jax.jit(lambda x: jnp.tanh(x @ w1) @ w2)

    return _extra(
        lambda x: predict(x).block_until_ready(),
        lambda length: jnp.ones((length, WIDTH)).block_until_ready(),
    )


def _extra(predict, batch):
    import time
    from statistics import median

    def call_s(x):
        begin = time.perf_counter()
        predict(x)
        return time.perf_counter() - begin

    known = batch(64)
    for _ in range(20):
        predict(known)
    pairs = [(call_s(x), call_s(x)) for x in map(batch, LENGTHS)]
    return {
        "extra_s": median(new - again for new, again in pairs),
        "again_s": median(again for _, again in pairs),
    }


def judge(seen):
    """Decide by the rule."""
    theirs, ours = (seen.over_processes(name, "extra_s") for name in ("of_torch", "of_jax"))
    if theirs.high <= min(1e-3, ours.low / 1000):
        return "confirmed"
    return "refuted" if theirs.low > min(1e-3, ours.high / 1000) else "inconclusive"
