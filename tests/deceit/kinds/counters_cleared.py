"""Programs that take away what watches them: listeners, counters, hooks of the import."""

from __future__ import annotations

from tests.deceit.base import UNCOUNTED, Deceit

_JAX = "Finished XLA compilation"


def _cleared(name: str, hides: str, source: str, needs: str = "jax") -> Deceit:
    return Deceit(
        name=name,
        hides=hides,
        figure="compiles",
        needs=(needs,),
        said=UNCOUNTED,
        counted=_JAX if needs == "jax" else "one compiled",
        calls=4,
        source=source,
        here=True,
    )


_CALL = """
    def f():
        clear()
        return jax.jit(lambda x: x * 2.0 + 1.0)(3.0)
"""

DECEITS = (
    _cleared(
        "listeners_cleared",
        "compiles, by jax.monitoring.clear_event_listeners in each call",
        """
    import jax
    from jax._src import monitoring

    def clear():
        monitoring.clear_event_listeners()
"""
        + _CALL,
    ),
    _cleared(
        "listeners_taken_from_their_lists",
        "compiles, by emptying the lists of listeners in each call",
        """
    import jax
    from jax._src import monitoring

    def clear():
        for name, value in vars(monitoring).items():
            if name.endswith("listeners") and isinstance(value, list):
                value.clear()
"""
        + _CALL,
    ),
    _cleared(
        "listeners_replaced",
        "compiles, by a record_event_duration_secs that records nothing",
        """
    import jax
    from jax._src import monitoring

    def clear():
        for name in dir(monitoring):
            if name.startswith("record_"):
                setattr(monitoring, name, lambda *given, **named: None)
"""
        + _CALL,
    ),
    _cleared(
        "hooks_of_the_import_removed",
        "a JAX that is imported late, after all foreign hooks of the import were removed",
        """
    import sys

    def clear():
        own = "_frozen_importlib"
        sys.meta_path[:] = [
            one for one in sys.meta_path
            if getattr(one, "__module__", type(one).__module__).startswith(own)
        ]

    clear()

    def f():
        import jax
        return jax.jit(lambda x: x * 2.0 + 1.0)(3.0)
""",
    ),
    Deceit(
        name="numba_listeners_removed",
        hides="machine code made in each call, after Numba's listeners were removed",
        figure="compiles",
        needs=("numba",),
        said=UNCOUNTED,
        counted="one compiled",
        calls=3,
        before="""
            import numba.core.compiler
            real = numba.core.compiler.compile_extra
            def compile_extra(*given, **named):
                print("one compiled", file=sys.stderr)
                return real(*given, **named)
            numba.core.compiler.compile_extra = compile_extra
        """,
        here=True,
        source="""
            import numba
            from numba.core import event

            def f():
                event._registered.clear()
                return numba.njit(lambda x: x * 2.0 + 1.0)(3.0)
        """,
    ),
    Deceit(
        name="torch_counters_cleared",
        hides="programs of torch.compile, by clearing its counters in each call",
        figure="compiles",
        needs=("torch",),
        said=UNCOUNTED,
        counted="one compiled",
        calls=3,
        source="""
            import sys
            import torch
            import torch._dynamo.utils as inside

            def backend(graph, inputs):
                print("one compiled", file=sys.stderr)
                return graph.forward

            def f():
                found = torch.compile(lambda x: x * 2.0 + 1.0, backend=backend)(torch.ones(3))
                inside.counters.clear()
                inside.compilation_time_metrics.clear()
                torch._dynamo.reset()
                return found
        """,
    ),
)
