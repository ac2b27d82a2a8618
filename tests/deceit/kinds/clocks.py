"""Clocks that the program has changed, for itself and for whoever measures it."""

from __future__ import annotations

from tests.deceit.base import Deceit

_SAID = ("clock_changed", "clocks_differ")
_SLOWED = """
    import time

    REAL = time.sleep
    CALLS = []

    def slowed(real, kind):
        begin = real()
        return lambda: begin + kind((real() - begin) / 10)

    def slow_down():
        for name in ("perf_counter", "monotonic", "process_time", "thread_time", "time"):
            setattr(time, name, slowed(getattr(time, name), float))
            setattr(time, name + "_ns", slowed(getattr(time, name + "_ns"), int))
"""

DECEITS = (
    Deceit(
        name="slow_clock_at_import",
        hides="nine tenths of all seconds: every clock of the module time runs slow",
        figure="first",
        said=_SAID,
        quick=True,
        source=_SLOWED
        + """
    slow_down()
    REAL(0.2)

    def f():
        REAL(0.2)
        return 1.0
""",
    ),
    Deceit(
        name="slow_clock_in_warm_calls",
        hides="the same, in warm calls",
        figure="warm",
        said=_SAID,
        here=True,
        source=_SLOWED
        + """
    slow_down()

    def f():
        REAL(0.03)
        return 1.0
""",
    ),
    Deceit(
        name="clock_changed_in_the_call",
        hides="the same, from the second call on",
        figure="warm",
        said=_SAID,
        here=True,
        source=_SLOWED
        + """
    def f():
        CALLS.append(1)
        if len(CALLS) == 2:
            slow_down()
        REAL(0.03)
        return 1.0
""",
    ),
    Deceit(
        name="clock_of_the_harness",
        hides="the clock that the modules of the harness hold, wherever they are loaded",
        figure="first",
        said=_SAID,
        source="""
            import sys
            import time

            real = time.perf_counter_ns

            def slow():
                return real() // 10

            for name, module in list(sys.modules.items()):
                for key, value in list(getattr(module, "__dict__", {}).items()):
                    if value is real and name != __name__:
                        setattr(module, key, slow)

            def f():
                time.sleep(0.35)
                return 1.0
        """,
    ),
    Deceit(
        name="sleep_instead_of_work",
        hides="nothing: a call that waits uses no processor, and its wall clock counts",
        figure="warm",
        here=True,
        source="""
            import time

            def f():
                time.sleep(0.03)
                return 1.0
        """,
    ),
    Deceit(
        name="work_in_the_kernel",
        hides="nothing: a call that the kernel works for",
        figure="warm",
        here=True,
        source="""
            def f():
                with open("/dev/zero", "rb", buffering=0) as file:
                    return float(sum(len(file.read(2**22)) for _ in range(20)))
        """,
    ),
)
