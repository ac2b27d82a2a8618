"""Donating buffers cuts the peak memory of an update by up to 50 %."""

ARTICLE = {
    "article": "002",
    "place": "Buffer donation for in-place-style updates",
    "figure": "up to 50 %",
    "high": 0.5,
}
QUANTITY = "The memory of a compiled update with donation, as a saving over one without."
PROTOCOL = """
Four updates with 4 MiB of parameters are compiled with and without donated parameters and state: a
scaling, which reads nothing but what it replaces and so must save half by its sizes alone; gradient
descent; Adam, with the gradients given; and a whole training step with Adam (four layers, 512 wide,
batch 128). The memory is what the compiler says of arguments, results and temporary arrays
together, less what it lets them share; nothing is run.
"""
RULE = """
An update holds where donation saves between 40 % (80 % of what is stated) and 51 %. Confirmed where
more than half of the four hold; depends where some do and others do not; refuted where none does.
"""
UPDATES = ("scaled", "descent", "adam", "training_step")
FACTS = ({"functions": ("savings",)},)
DOCS = ("https://docs.jax.dev/en/latest/buffer_donation.html",)
NOTE = """
Half is saved only where everything that goes in comes out changed. Gradients go in and do not come
out, and what a training step computes between is not donated either.
"""


def savings():
    """Compare the memory of compiled updates."""
    import jax
    import jax.numpy as jnp

    def scaled(params):
        return [0.99 * p for p in params]

    def descent(params, grads):
        return [p - 0.1 * g for p, g in zip(params, grads, strict=True)]

    def adam(params, first, second, grads):
        first = [0.9 * m + 0.1 * g for m, g in zip(first, grads, strict=True)]
        second = [0.999 * v + 0.001 * g**2 for v, g in zip(second, grads, strict=True)]
        moved = zip(params, first, second, strict=True)
        return [p - 0.01 * m / (jnp.sqrt(v) + 1e-8) for p, m, v in moved], first, second

    def loss(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    def training_step(params, first, second, x):
        return adam(params, first, second, jax.grad(loss)(params, x))

    params = [jnp.full((512, 512), 0.01)] * 4
    return {
        "scaled": _saved(scaled, (0,), (params,)),
        "descent": _saved(descent, (0,), (params, params)),
        "adam": _saved(adam, (0, 1, 2), (params,) * 4),
        "training_step": _saved(training_step, (0, 1, 2), (*(params,) * 3, jnp.ones((128, 512)))),
    }


def _saved(update, donated, arguments):
    """Return what donation saves of the memory of a compiled update, as a share."""
    import jax

    def bytes_of(donated):
        compiled = jax.jit(update, donate_argnums=donated).lower(*arguments).compile()
        memory = compiled.memory_analysis()
        used = memory.argument_size_in_bytes + memory.output_size_in_bytes
        return used + memory.temp_size_in_bytes - memory.alias_size_in_bytes

    return 1 - bytes_of(donated) / bytes_of(())


def judge(seen):
    """Decide by the rule."""
    for name in UPDATES:
        seen.fact("savings", name)
    return seen.mostly(seen.asked, 0.40, 0.51)
