"""On a CPU, donating buffers gains little time."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: Buffer donation",
    "figure": "limited benefit",
}
QUANTITY = "The median time of an update without donation over one with it."
PROTOCOL = """
Six fresh processes on the CPU update parameters of 16 MiB fifty times by gradient descent, each
result being the next step's argument, with a donated argument and without, in turns; the ratio of
the medians, by process.
"""
RULE = """
Limited is taken as less than a fifth. Confirmed where the ratio is at most 1.25 in all processes,
refuted where it is more in all, otherwise inconclusive.
"""
FACTS = ({"functions": ("updates",), "processes": 6, "variables": {"JAX_PLATFORMS": "cpu"}},)
DOCS = ("https://docs.jax.dev/en/latest/buffer_donation.html",)
NOTE = """
Without donation the result of each step is a new buffer, and a buffer of this size may be new pages
of the system, which it has to clear. Small arrays come from memory that the process has already.
"""


def updates():
    """Time updates with and without donation."""
    import statistics
    import time

    import jax
    import jax.numpy as jnp

    def descent(params, grads):
        return params - 0.1 * grads

    kept, donated = jax.jit(descent), jax.jit(descent, donate_argnums=0)
    grads = jnp.full(2**22, 0.01)
    params = {"kept": jnp.ones(2**22), "donated": jnp.ones(2**22)}
    kept_s: list[float] = []
    donated_s: list[float] = []
    for _ in range(55):
        for name, update, spent in (("kept", kept, kept_s), ("donated", donated, donated_s)):
            begin = time.perf_counter()
            params[name] = update(params[name], grads).block_until_ready()
            spent.append(time.perf_counter() - begin)
    without, with_it = statistics.median(kept_s[5:]), statistics.median(donated_s[5:])
    return {"kept_s": without, "donated_s": with_it, "ratio": without / with_it}


def judge(seen):
    """Decide by the rule."""
    return seen.at_most(seen.over_processes("updates", "ratio"), 1.25)
