"""A slow first call with fast ones after it is ordinary compiling."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: First call slow, rest fast",
    "figure": "normal JIT compilation",
}
QUANTITY = (
    "How many compilations JAX logs in the first call of a jitted function, and in nine more."
)
PROTOCOL = """
One process records JAX's log with `jax_log_compiles` on, and calls a jitted network ten times with
arguments of one shape.
"""
RULE = """
Confirmed where the log has compilations in the first call and none in the others, and the first
call takes longer than each of the others. Refuted otherwise.
"""
FACTS = ({"functions": ("calls",)},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)


def calls():
    """Count what is compiled in each call."""
    import logging
    import time

    import jax
    import jax.numpy as jnp

    told = []

    class Told(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())

    logging.getLogger("jax").addHandler(Told())

    @jax.jit
    def predict(x):
        return jnp.tanh(x @ x)

    x = jnp.ones((64, 64)).block_until_ready()
    compiled, spent = [], []
    with jax.log_compiles():
        for _ in range(10):
            begin, before = time.perf_counter(), len(told)
            predict(x).block_until_ready()
            spent.append(time.perf_counter() - begin)
            compiled.append(sum(text.startswith("Compiling") for text in told[before:]))
    return {
        "compiled_first": compiled[0],
        "compiled_later": sum(compiled[1:]),
        "first_s": spent[0],
        "slowest_later_s": max(spent[1:]),
    }


def judge(seen):
    """Decide by the rule."""
    names = ("compiled_first", "compiled_later", "first_s", "slowest_later_s")
    first, later, first_s, later_s = (seen.fact("calls", name) for name in names)
    return seen.holds(first > 0 == later and first_s > later_s)
