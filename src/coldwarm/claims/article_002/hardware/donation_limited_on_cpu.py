"""On a CPU, donating buffers gains little time."""

ARTICLE = {
    "article": "002",
    "place": "Hardware-specific considerations: Buffer donation",
    "figure": "limited benefit",
}
QUANTITY = "The median time of an update without donation over one with it."
PROTOCOL = """
On the CPU, six fresh processes for each of five updates run it many times, each result being the
next step's argument, with donated arguments and without, in turns; the ratio of the medians, by
process. Four are gradient descent on one array of 65,536, 524,288, 4,194,304 and 33,554,432 numbers
(256 KiB to 128 MiB). The fifth is a training step as the source has it: Adam for an MLP
(784-1024-512-10, batch 128), parameters and optimizer state donated.
"""
RULE = """
Limited is read as less than a fifth of the time: an update holds where the ratio is at most 1.25 in
all processes. Confirmed where more than half of the five hold; depends where some hold and others
lie above in all processes; refuted where none holds and more than half lie above in all; otherwise
inconclusive.
"""
FUNCTIONS = ("numbers_64k", "numbers_512k", "numbers_4m", "numbers_32m", "training_step")
FACTS = ({"functions": FUNCTIONS, "processes": 6, "variables": {"JAX_PLATFORMS": "cpu"}},)
DOCS = ("https://docs.jax.dev/en/latest/buffer_donation.html",)
NOTE = """
Without donation the result of each step is a new buffer, and a large buffer may be new pages of the
system, which it has to clear. Small arrays come from memory that the process has already. In a
training step the products of matrices take most of the time, and donation does not change them.
"""


def numbers_64k():
    """Time updates of 65,536 numbers."""
    return _descent(2**16)


def numbers_512k():
    """Time updates of 524,288 numbers."""
    return _descent(2**19)


def numbers_4m():
    """Time updates of 4,194,304 numbers."""
    return _descent(2**22)


def numbers_32m():
    """Time updates of 33,554,432 numbers."""
    return _descent(2**25, turns=15)


def training_step():
    """Time steps of Adam."""
    import jax
    import jax.numpy as jnp

    def loss(params, x, y):
        for w in params[:-1]:
            x = jnp.tanh(x @ w)
        return jnp.mean((x @ params[-1] - y) ** 2)

    def step(params, state, x, y):
        grads = jax.grad(loss)(params, x, y)
        first = [0.9 * m + 0.1 * g for m, g in zip(state[0], grads, strict=True)]
        second = [0.999 * v + 0.001 * g**2 for v, g in zip(state[1], grads, strict=True)]
        moved = zip(params, first, second, strict=True)
        params = [p - 0.001 * m / (jnp.sqrt(v) + 1e-3) for p, m, v in moved]
        return params, (first, second)

    def start():
        params = [jnp.full(shape, 0.01) for shape in ((784, 1024), (1024, 512), (512, 10))]
        return params, ([0 * w for w in params], [0 * w for w in params])

    return _compared(step, start, (jnp.ones((128, 784)), jnp.ones((128, 10))), 30)


def _descent(size, turns=40):
    import jax.numpy as jnp

    def descent(params, grads):
        return (params - 0.1 * grads,)

    return _compared(descent, lambda: (jnp.ones(size),), (jnp.full(size, 0.01),), turns)


def _compared(update, start, given, turns):
    """Time an update with and without donation of what it replaces, in turns."""
    import statistics
    import time

    import jax

    donated = tuple(range(len(start())))
    updates = {"kept": jax.jit(update), "donated": jax.jit(update, donate_argnums=donated)}
    state = {name: start() for name in updates}
    spent: dict[str, list[float]] = {name: [] for name in updates}
    for _ in range(turns + 5):
        for name, function in updates.items():
            begin = time.perf_counter()
            state[name] = jax.block_until_ready(function(*state[name], *given))
            spent[name].append(time.perf_counter() - begin)
    without, with_it = (statistics.median(spent[name][5:]) for name in ("kept", "donated"))
    return {"kept_s": without, "donated_s": with_it, "ratio": without / with_it}


def judge(seen):
    """Decide by the rule."""
    ratios = [seen.over_processes(name, "ratio") for name in FUNCTIONS]
    return seen.mostly(ratios, high=1.25)
