"""Donating buffers cuts the peak memory of an update by up to 50 %."""

ARTICLE = {
    "article": "002",
    "place": "Buffer donation for in-place-style updates",
    "figure": "up to 50 %",
    "high": 0.5,
}
QUANTITY = "The memory of a compiled update with donation, as a saving over one without."
PROTOCOL = """
Three updates of a tree of 4 MiB are compiled with and without donated parameters and state: a
scaling of the parameters, gradient descent, and Adam. The memory is that of arguments, results and
temporary arrays together, less what the compiler lets them share.
"""
RULE = """
Confirmed where the largest of the three savings is between 40 % (80 % of what is stated) and 51 %,
refuted where it is outside.
"""
FACTS = ({"functions": ("savings",)},)
DOCS = ("https://docs.jax.dev/en/latest/buffer_donation.html",)
NOTE = """
Half is saved only where everything that goes in comes out changed. Gradients go in and do not come
out, so gradient descent saves a third, and Adam three parts of seven.
"""


def savings():
    """Compare the memory of compiled updates."""
    import jax
    import jax.numpy as jnp

    def scaled(params):
        return params * 0.99

    def descent(params, grads):
        return params - 0.1 * grads

    def adam(params, first, second, grads):
        first, second = 0.9 * first + 0.1 * grads, 0.999 * second + 0.001 * grads**2
        return params - 0.01 * first / (jnp.sqrt(second) + 1e-8), first, second

    def bytes_of(function, donated, arrays):
        compiled = jax.jit(function, donate_argnums=donated).lower(*arrays).compile()
        memory = compiled.memory_analysis()
        used = memory.argument_size_in_bytes + memory.output_size_in_bytes
        return used + memory.temp_size_in_bytes - memory.alias_size_in_bytes

    found = {}
    for function, donated, count in ((scaled, (0,), 1), (descent, (0,), 2), (adam, (0, 1, 2), 4)):
        arrays = [jnp.ones(2**20)] * count
        without, with_it = bytes_of(function, (), arrays), bytes_of(function, donated, arrays)
        found[function.__name__] = 1 - with_it / without
    return found


def judge(seen):
    """Decide by the rule."""
    largest = max(seen.fact("savings", name) for name in ("scaled", "descent", "adam"))
    return seen.holds(0.40 <= largest <= 0.51)
