"""One jit around the whole training step is 2 to 10 times as fast as a jit for each part."""

ARTICLE = {
    "article": "002",
    "place": "JIT at the outermost possible scope",
    "figure": "2–10×",
    "low": 2.0,
    "high": 10.0,
}
QUANTITY = "A warm call of a step whose parts are jitted over one of the step jitted as a whole."
PROTOCOL = """
A step of Adam for an MLP of six layers (128 wide, batch 128, float32), jitted once; and with the
loss, its gradient and the update jitted each for itself, as the source has it. Same answer, fresh
processes, warm calls.
"""
RULE = """
Confirmed where the interval of the ratio lies between 1.6 and 12.5 (20 % below 2, 25 % above 10),
refuted where it lies outside, otherwise inconclusive.
"""
BENCHES = (
    {
        "name": "step",
        "candidates": ("whole", "parts"),
        "regime": "warm",
        "seconds": 40.0,
        "tolerance": 1e-3,
    },
)
DOCS = ("https://docs.jax.dev/en/latest/jit-compilation.html",)
NOTE = """
Three programs cost three dispatches, arrays between them, and the forward pass twice. How much that
is depends on how long the work itself takes: the larger the arrays, the less.
"""


def whole():
    """Take the step in one program."""
    import jax

    def step(params, state, x, y):
        value, grads = jax.value_and_grad(_loss)(params, x, y)
        return (*_update(params, state, grads), value)

    return jax.jit(step), _start()


def parts():
    """Take the step in three programs."""
    import jax

    loss, gradient, update = jax.jit(_loss), jax.jit(jax.grad(_loss)), jax.jit(_update)

    def step(params, state, x, y):
        value = loss(params, x, y)
        grads = gradient(params, x, y)
        return (*update(params, state, grads), value)

    return step, _start()


def _loss(params, x, y):
    import jax.numpy as jnp

    for w in params[:-1]:
        x = jnp.tanh(x @ w)
    return jnp.mean((x @ params[-1] - y) ** 2)


def _update(params, state, grads):
    import jax
    import jax.numpy as jnp

    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state[0], grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state[1], grads)

    def moved(p, m, v):
        return p - 0.001 * m / (jnp.sqrt(v) + 1e-3)

    return jax.tree.map(moved, params, first, second), (first, second)


def _start():
    import jax.numpy as jnp

    grid = jnp.linspace(-1.0, 1.0, 128 * 128).reshape(128, 128)
    params = [jnp.sin(grid * (40 + n)) / 11 for n in range(6)]
    zeros = [jnp.zeros_like(w) for w in params]
    return params, (zeros, zeros), grid, jnp.cos(grid)


def judge(seen):
    """Decide by the rule."""
    return seen.within(seen.ratio("parts", "whole", "warm_call"), 1.6, 12.5)
