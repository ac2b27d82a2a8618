"""A breakpoint inside a jitted function stops once, while it is traced, and never again."""

ARTICLE = {
    "article": "001",
    "place": "When PyTorch Wins",
    "figure": "stop once during tracing",
}
QUANTITY = "How often a breakpoint is reached in three calls, and what the values are there."
PROTOCOL = """
`breakpoint()` stands in a function that is called three times, jitted by JAX and eager in PyTorch.
A hook counts, and looks whether the argument is an array or a tracer.
"""
RULE = """
Confirmed where the jitted function reaches it once, with a tracer, and the eager function three
times. Refuted otherwise.
"""
FACTS = ({"functions": ("jitted", "eager")},)
DOCS = ("https://docs.jax.dev/en/latest/debugging/print_breakpoint.html",)
NOTE = """
`jax.debug.breakpoint()` stops in each call, with values; `jax.disable_jit()` makes the ordinary one
stop each time.
"""


def jitted():
    """Call a jitted function with a breakpoint three times."""
    import sys

    import jax
    import jax.numpy as jnp

    seen = []

    @jax.jit
    def double(x):
        def stop():
            seen.append(isinstance(x, jax.core.Tracer))

        sys.breakpointhook = stop
        breakpoint()  # noqa: T100 - what is tested
        return x * 2

    for value in (1.0, 2.0, 3.0):
        double(jnp.full(3, value)).block_until_ready()
    return {"stops": len(seen), "tracers": sum(seen)}


def eager():
    """Call an eager function with a breakpoint three times."""
    import sys

    import torch

    seen = []

    def double(x):
        def stop():
            seen.append(x.tolist())

        sys.breakpointhook = stop
        breakpoint()  # noqa: T100 - what is tested
        return x * 2

    for value in (1.0, 2.0, 3.0):
        double(torch.full((3,), value))
    return {"stops": len(seen)}


def judge(seen):
    """Decide by the rule."""
    stops, tracers = (seen.fact("jitted", name) for name in ("stops", "tracers"))
    return seen.holds(stops == tracers == 1 and seen.fact("eager", "stops") == 3)
