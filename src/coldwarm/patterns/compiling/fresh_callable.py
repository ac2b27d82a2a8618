"""Give `jit` the same callable each time: a lambda or a bound method made anew is another one."""

FRAMEWORK = "jax"
MEASURES = "facts"
SYMPTOM = "every call is slow"
MECHANISM = """
JAX keeps what it has traced by the identity of the callable it is given. A lambda, a bound method,
a `partial` or the function that `grad` returns is a new object each time the expression is
evaluated, so nothing that was kept is found.
"""
EXCEPTION = """
An expression that is evaluated once, at import or in a constructor, makes one callable, and that
one is found again.
"""
DOCS = (
    "https://docs.jax.dev/en/latest/201/jit.html#jit-and-caching",
    "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
)
ARTICLES = ({"article": "002", "place": "JIT function defined inside loops", "figure": ""},)
STATED = "Of five calls each, all are traced where the callable is made for the call, and one \
where it is kept."


def do():
    """Jit each kind of callable once, and call it five times."""
    from functools import partial

    import jax
    import jax.numpy as jnp

    traced = dict.fromkeys(("lambda", "bound_method", "partial", "grad"), 0)

    def scaled(kind, x):
        traced[kind] += 1
        return jnp.sum(x * 2.0)

    class Model:
        def forward(self, x):
            return scaled("bound_method", x)

    jitted = [
        jax.jit(lambda x: scaled("lambda", x)),
        jax.jit(Model().forward),
        jax.jit(partial(scaled, "partial")),
        jax.jit(jax.grad(partial(scaled, "grad"))),
    ]
    for _ in range(5):
        for call in jitted:
            call(jnp.ones(3))
    return traced


def dont():
    """Jit each kind of callable anew for each of five calls."""
    from functools import partial

    import jax
    import jax.numpy as jnp

    traced = dict.fromkeys(("lambda", "bound_method", "partial", "grad"), 0)

    def scaled(kind, x):
        traced[kind] += 1
        return jnp.sum(x * 2.0)

    def scaled_for_grad(x):
        return scaled("grad", x)

    class Model:
        def forward(self, x):
            return scaled("bound_method", x)

    model = Model()
    for _ in range(5):
        jax.jit(lambda x: scaled("lambda", x))(jnp.ones(3))
        jax.jit(model.forward)(jnp.ones(3))
        jax.jit(partial(scaled, "partial"))(jnp.ones(3))
        jax.jit(jax.grad(scaled_for_grad))(jnp.ones(3))
    return traced


def holds(do, dont):
    """Say whether kept callables are traced once, and fresh ones on each call."""
    kinds = ("lambda", "bound_method", "partial", "grad")
    return all(do[kind] == 1 and dont[kind] == 5 for kind in kinds)
