"""`jax_log_compiles` shows why every call is slow: each is compiled again."""

ARTICLE = {
    "article": "002",
    "place": "Detection cheat sheet: Every call slow",
    "figure": "jax_log_compiles=True",
}
QUANTITY = (
    "How many compilations JAX logs for ten calls with a new static value each, and with one."
)
PROTOCOL = """
One process records JAX's log with `jax_log_compiles` on, and calls a jitted function ten times with
a static argument: with ten values, and with one.
"""
RULE = """
Confirmed where the log names a compilation for each of ten values, and one for the one value;
refuted otherwise.
"""
FACTS = ({"functions": ("logged",)},)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
It says that and what is compiled, not why: that is what `jax_explain_cache_misses` is for.
"""


def logged():
    """Count what the log says of both."""
    import logging
    from functools import partial

    import jax
    import jax.numpy as jnp

    told = []

    class Told(logging.Handler):
        def emit(self, record):
            told.append(record.getMessage())

    logging.getLogger("jax").addHandler(Told())

    @partial(jax.jit, static_argnames="rate")
    def scaled(x, rate):
        return x * rate

    @partial(jax.jit, static_argnames="rate")
    def scaled_by_one(x, rate):
        return x * rate

    x = jnp.ones(16).block_until_ready()
    with jax.log_compiles():
        for n in range(10):
            scaled(x, rate=0.5 + n)
            scaled_by_one(x, rate=0.5)

    def count(name):
        return sum(text.startswith(f"Compiling jit({name})") for text in told)

    return {"ten_values": count("scaled"), "one_value": count("scaled_by_one")}


def judge(seen):
    """Decide by the rule."""
    found = [seen.fact("logged", name) for name in ("ten_values", "one_value")]
    return seen.holds(found == [10, 1])
