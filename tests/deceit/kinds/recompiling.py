"""Programs compiled anew in warm calls, where nobody counts them."""

from __future__ import annotations

from tests.deceit.base import UNCOUNTED, Deceit

_JAX = "Finished XLA compilation"
_NUMBA = """
    import numba.core.compiler
    real = numba.core.compiler.compile_extra
    def compile_extra(*given, **named):
        print("one compiled", file=sys.stderr)
        return real(*given, **named)
    numba.core.compiler.compile_extra = compile_extra
"""


def _jax(name: str, hides: str, source: str, **more: object) -> Deceit:
    return Deceit(
        name=name,
        hides=hides,
        figure="compiles",
        needs=("jax",),
        said=UNCOUNTED,
        counted=_JAX,
        calls=4,
        source="    import jax\n    import jax.numpy as jnp\n    import itertools\n\n"
        "    COUNT = itertools.count(1)\n" + source,
        here=True,
        **more,  # type: ignore[arg-type]
    )


DECEITS = (
    _jax(
        "jitted_anew",
        "a program compiled in each call, since the function is made anew",
        """
    def f():
        return jax.jit(lambda x: x * 2.0 + 1.0)(3.0)
""",
    ),
    _jax(
        "caches_cleared",
        "a program compiled in each call, since the call clears JAX's caches",
        """
    @jax.jit
    def model(x):
        return x * 2.0 + 1.0

    def f():
        jax.clear_caches()
        return model(3.0)
""",
    ),
    _jax(
        "another_constant",
        "a program compiled in each call, for a static argument that counts",
        """
    model = jax.jit(lambda x, n: x * n, static_argnums=1)

    def f():
        return model(3.0, next(COUNT)) * 0.0
""",
    ),
    _jax(
        "another_shape",
        "a program compiled in each call, for a shape that grows",
        """
    model = jax.jit(lambda x: (x * 0.0).sum())

    def f():
        return model(jnp.zeros(next(COUNT)))
""",
    ),
    _jax(
        "compiled_in_a_thread",
        "a program compiled in each call, by another thread",
        """
    from concurrent.futures import ThreadPoolExecutor
    POOL = ThreadPoolExecutor(1)

    def f():
        return POOL.submit(lambda: jax.jit(lambda x: x * 2.0 + 1.0)(3.0)).result()
""",
    ),
    _jax(
        "compiled_ahead",
        "a program compiled in each call by lower and compile, not by a call",
        """
    def f():
        return jax.jit(lambda x: x * 2.0 + 1.0).lower(3.0).compile()(3.0)
""",
    ),
    Deceit(
        name="numba_in_every_call",
        hides="machine code made in each call, by a Numba that the module has not imported",
        figure="compiles",
        needs=("numba",),
        said=UNCOUNTED,
        counted="one compiled",
        before=_NUMBA,
        calls=3,
        here=True,
        source="""
            def f():
                import numba
                return numba.njit(lambda x: x * 2.0 + 1.0)(3.0)
        """,
    ),
    Deceit(
        name="torch_reset_in_every_call",
        hides="torch.compile and torch._dynamo.reset, which clears the list of programs",
        figure="compiles",
        needs=("torch",),
        said=UNCOUNTED,
        counted="one compiled",
        calls=3,
        source="""
            import sys
            import torch

            def backend(graph, inputs):
                print("one compiled", file=sys.stderr)
                return graph.forward

            def f():
                torch._dynamo.reset()
                return torch.compile(lambda x: x * 2.0 + 1.0, backend=backend)(torch.ones(3))
        """,
    ),
)
