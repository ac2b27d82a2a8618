"""Work that another thread, process or event loop does after the call has returned."""

from __future__ import annotations

from tests.deceit.base import UNEVEN, UNFINISHED, Deceit

_SAID = UNFINISHED


def _moved(name: str, hides: str, source: str, finish: str = "", **more: object) -> Deceit:
    return Deceit(
        name=name,
        hides=hides,
        figure="warm",
        said=_SAID,
        source=source,
        finish=finish,
        here=True,
        **more,  # type: ignore[arg-type]
    )


DECEITS = (
    _moved(
        "daemon_thread",
        "the work, in a thread that nobody waits for",
        """
            import threading
            import time

            def f():
                one = threading.Thread(target=time.sleep, args=(0.04,), daemon=True)
                one.start()
                f.last = one
                return 1.0
        """,
        "sys.modules['subject'].f.last.join()",
        quick=True,
    ),
    _moved(
        "thread_that_fills_an_array",
        "the work, in a thread that fills the array after it was returned",
        """
            import threading
            import time
            import numpy as np

            def fill(made):
                time.sleep(0.04)
                made[:] = 1.5

            def f():
                made = np.full(9, 1.5)
                one = threading.Thread(target=fill, args=(made,), daemon=True)
                one.start()
                f.last = one
                return made
        """,
        "sys.modules['subject'].f.last.join()",
    ),
    _moved(
        "executor_without_a_result",
        "the work, handed to an executor whose future is thrown away",
        """
            from concurrent.futures import ThreadPoolExecutor
            import time

            POOL = ThreadPoolExecutor(1)
            DONE = []

            def work():
                # A long loop would keep the process for minutes.
                if len(DONE) < 60:
                    DONE.append(time.sleep(0.03))

            def f():
                f.last = POOL.submit(work)
                return 1.0
        """,
        "sys.modules['subject'].f.last.result()",
    ),
    _moved(
        "future_in_an_object",
        "the work, in a future inside an object with __array__",
        """
            from concurrent.futures import ThreadPoolExecutor
            import time
            import numpy as np

            POOL = ThreadPoolExecutor(1)
            DONE = []

            def work():
                if len(DONE) < 60:
                    DONE.append(time.sleep(0.03))
                return np.ones(3)

            class Answer:
                def __init__(self):
                    self.future = POOL.submit(work)

                def __array__(self, dtype=None, copy=None):
                    return self.future.result()

            def f():
                return Answer()
        """,
        "out.future.result()",
    ),
    _moved(
        "task_of_an_event_loop",
        "the work, in a task of an event loop that runs in another thread",
        """
            import asyncio
            import threading

            LOOP = asyncio.new_event_loop()
            threading.Thread(target=LOOP.run_forever, daemon=True).start()

            def f():
                f.last = asyncio.run_coroutine_threadsafe(asyncio.sleep(0.04), LOOP)
                return 1.0
        """,
        "sys.modules['subject'].f.last.result()",
    ),
    _moved(
        "child_process",
        "the work, in a process that nobody waits for",
        """
            import subprocess

            def f():
                f.last = subprocess.Popen(["sleep", "0.06"])
                return 1.0
        """,
        "sys.modules['subject'].f.last.wait()",
        calls=6,
    ),
    _moved(
        "forked_child",
        "the work, in a fork that nobody waits for",
        """
            import os
            import time

            STARTED = []

            def f():
                if len(STARTED) > 200:
                    return 1.0
                STARTED.append(1)
                child = os.fork()
                if not child:
                    time.sleep(0.06)
                    os._exit(0)
                f.last = child
                return 1.0
        """,
        "os.waitpid(sys.modules['subject'].f.last, 0)",
        calls=6,
    ),
    Deceit(
        name="answers_made_ahead",
        hides="work done by a thread between the blocks, while nobody measures",
        figure="warm",
        said=(*_SAID, *UNEVEN),
        calls=500,
        mean=True,
        source="""
            import queue
            import threading
            import time

            READY = queue.Queue(maxsize=64)

            def produce():
                while True:
                    time.sleep(0.0004)
                    READY.put(1.5)

            threading.Thread(target=produce, daemon=True).start()

            def f():
                return READY.get()
        """,
    ),
)
