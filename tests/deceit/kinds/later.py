"""Work put off to a moment nobody measures: the end, a signal, a finalizer, a collection."""

from __future__ import annotations

from tests.deceit.base import UNFINISHED, Deceit

_SAID = (*UNFINISHED, "functions_at_exit", "signal_pending", "collecting")

DECEITS = (
    Deceit(
        name="work_at_exit",
        hides="the work, in atexit",
        figure="warm",
        said=_SAID,
        mean=True,
        here=True,
        calls=12,
        ending="import atexit\natexit._run_exitfuncs()",
        source="""
            import atexit
            import time

            DONE = []

            def work():
                # A long loop would keep the process for minutes.
                if len(DONE) < 20:
                    DONE.append(time.sleep(0.03))

            def f():
                atexit.register(work)
                return 1.0
        """,
    ),
    Deceit(
        name="work_in_a_signal_handler",
        hides="the work, in the handler of an alarm that each call puts off",
        figure="warm",
        said=_SAID,
        here=True,
        calls=6,
        finish="import signal\nsignal.pause()",
        source="""
            import signal
            import time

            signal.signal(signal.SIGALRM, lambda number, frame: time.sleep(0.04))

            def f():
                signal.setitimer(signal.ITIMER_REAL, 0.03)
                return 1.0
        """,
    ),
    Deceit(
        name="work_in_a_finalizer",
        hides="the work, in weakref.finalize of the result: released in the window, so it counts",
        figure="warm",
        said=_SAID,
        here=True,
        source="""
            import time
            import weakref
            import numpy as np

            class Answer(np.ndarray):
                pass

            def f():
                made = np.ones(3).view(Answer)
                weakref.finalize(made, time.sleep, 0.03)
                return made
        """,
    ),
    Deceit(
        name="garbage_in_circles",
        hides="the collection of garbage, which a loop without it never pays",
        figure="warm",
        said=_SAID,
        mean=True,
        here=True,
        calls=60,
        source="""
            class Node:
                pass

            OLD = [Node() for _ in range(300_000)]

            def f():
                made = []
                for _ in range(3_000):
                    one, other = Node(), Node()
                    one.other, other.one = other, one
                    made.append(one)
                return float(len(made))
        """,
    ),
    Deceit(
        name="collection_as_work",
        hides="the work, in a callback of the garbage collector",
        figure="warm",
        said=_SAID,
        mean=True,
        here=True,
        calls=40,
        source="""
            import gc
            import time

            def work(phase, info):
                if phase == "stop" and info["generation"] == 0:
                    time.sleep(0.01)

            gc.callbacks.append(work)

            def f():
                made = [[] for _ in range(2_000)]
                for one in made:
                    one.append(one)
                return float(len(made))
        """,
    ),
    Deceit(
        name="traced",
        hides="nothing: the program has a trace function, which slows whoever runs it",
        figure="warm",
        here=True,
        source="""
            import sys

            def trace(frame, event, argument):
                return trace

            def f():
                total = 0.0
                for k in range(50_000):
                    total += k * 0.5
                return total

            sys.settrace(trace)
        """,
        said=("traced",),
    ),
)
