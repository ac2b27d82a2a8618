"""A step that forgets to hand on the optimizer state resets the optimizer, and no error says so."""

ARTICLE = {
    "article": "001",
    "place": "Optimizer State Management",
    "figure": "your optimizer resets",
}
QUANTITY = "The parameters after ten steps of Adam whose state is handed on, and is forgotten."
PROTOCOL = """
One process trains with Adam as a pure function: once handing on the state, once giving each step
the initial state, once with Adam made anew before every step. Warnings are recorded.
"""
RULE = """
Confirmed where forgetting gives the same parameters as making Adam anew, others than handing on,
and neither an error nor a warning. Refuted otherwise.
"""
FACTS = ({"functions": ("trained",)},)
DOCS = ("https://docs.jax.dev/en/latest/pytrees.html",)


def trained():
    """Train with the state handed on, forgotten, and made anew."""
    import warnings

    import jax
    import jax.numpy as jnp

    x, y = jnp.linspace(-1, 1, 512).reshape(32, 16), jnp.ones((32, 1))
    start = {"w1": jnp.sin(jnp.arange(256.0)).reshape(16, 16), "w2": jnp.full((16, 1), 0.1)}
    init, step = _adam(jax.grad(lambda p: jnp.mean((jnp.tanh(x @ p["w1"]) @ p["w2"] - y) ** 2)))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        handed_on, state = start, init(start)
        for _ in range(10):
            handed_on, state = step(handed_on, state)
        forgotten, state = start, init(start)
        for _ in range(10):
            forgotten, _ = step(forgotten, state)
        anew = start
        for _ in range(10):
            anew, _ = step(anew, init(anew))

    def difference(a, b):
        return max(jax.tree.leaves(jax.tree.map(lambda p, q: float(abs(p - q).max()), a, b)))

    return {
        "from_anew": difference(forgotten, anew),
        "from_handed_on": difference(forgotten, handed_on),
        "warnings": len(caught),
    }


def _adam(gradient):
    """Return an initial state and a step of Adam that is a pure function of params and state."""
    import jax
    import jax.numpy as jnp

    def init(params):
        zeros = jax.tree.map(jnp.zeros_like, params)
        return {"count": jnp.zeros((), int), "first": zeros, "second": zeros}

    @jax.jit
    def step(params, state):
        grads = gradient(params)
        count = state["count"] + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], grads)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["second"], grads)

        def moved(p, m, v):
            m, v = m / (1 - 0.9**count), v / (1 - 0.999**count)
            return p - 0.01 * m / (jnp.sqrt(v) + 1e-8)

        params = jax.tree.map(moved, params, first, second)
        return params, {"count": count, "first": first, "second": second}

    return init, step


def judge(seen):
    """Decide by the rule."""
    names = ("from_anew", "from_handed_on", "warnings")
    anew, handed_on, warnings = (seen.fact("trained", name) for name in names)
    return seen.holds(anew == 0 < handed_on and warnings == 0)
