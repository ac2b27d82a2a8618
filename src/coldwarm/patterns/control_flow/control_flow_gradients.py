"""Take a gradient through `cond`, `switch`, `scan` or a loop of known length, not `while_loop`."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "an error that reverse-mode differentiation does not work for this loop"
MECHANISM = """
The backward pass needs what every turn computed, and has to reserve memory for it before the loop
runs. With a known number of turns that can be done; a `while_loop`, and a `fori_loop` whose bound
is traced, end when their values say so.
"""
EXCEPTION = """
Forward mode, `jax.jvp` and `jax.jacfwd`, goes through all of them, since it keeps nothing.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html",
    "https://docs.jax.dev/en/latest/_autosummary/jax.lax.switch.html",
)
ARTICLES = (
    {
        "article": "002",
        "place": "Use JAX control flow primitives, not Python",
        "figure": "the table of constructs",
    },
)
STATED = "`cond`, `switch`, `scan` and `fori_loop` with a static bound have both derivatives; \
`while_loop` and `fori_loop` with a traced bound have the forward one alone."


def do():
    """Differentiate, forward and in reverse, the constructs whose length is known."""
    import jax
    import jax.numpy as jnp

    forms = {
        "cond": lambda x: jax.lax.cond(x > 0, jnp.sin, jnp.cos, x),
        "switch": lambda x: jax.lax.switch(1, [jnp.cos, jnp.sin], x),
        "fori_loop_static": lambda x: jax.lax.fori_loop(0, 3, lambda _, v: jnp.sin(v), x),
        "scan": lambda x: jax.lax.scan(lambda v, _: (jnp.sin(v), None), x, None, length=3)[0],
    }
    seen = {}
    for name, form in forms.items():
        for mode, derivative in (("forward", jax.jacfwd), ("reverse", jax.grad)):
            try:
                value = float(jax.jit(derivative(form))(0.5))
            except ValueError:
                value = None
            seen[f"{name}_{mode}"] = value
    return seen


def dont():
    """Differentiate, forward and in reverse, the constructs whose length is not known."""
    import jax
    import jax.numpy as jnp

    def traced_bound(x):
        n = jnp.where(x > 0, 3, 4)
        return jax.lax.fori_loop(0, n, lambda _, v: jnp.sin(v), x)

    forms = {
        "while_loop": lambda x: jax.lax.while_loop(
            lambda carried: carried[0] < 3, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x)
        )[1],
        "fori_loop_traced": traced_bound,
    }
    seen = {}
    for name, form in forms.items():
        for mode, derivative in (("forward", jax.jacfwd), ("reverse", jax.grad)):
            try:
                value = float(jax.jit(derivative(form))(0.5))
            except ValueError:
                value = None
            seen[f"{name}_{mode}"] = value
    return seen


def holds(do, dont):
    """Say whether every construct has the derivatives that are stated."""
    known = ("cond", "switch", "fori_loop_static", "scan")
    both = all(
        do[f"{name}_{mode}"] is not None for name in known for mode in ("forward", "reverse")
    )
    unknown = ("while_loop", "fori_loop_traced")
    forward = all(dont[f"{name}_forward"] is not None for name in unknown)
    return both and forward and all(dont[f"{name}_reverse"] is None for name in unknown)
