"""Work in a factory, which every process needs before its first result."""

from __future__ import annotations

from tests.deceit.base import Deceit

DECEITS = (
    Deceit(
        name="work_in_a_factory",
        hides="half a second in a factory",
        figure="first",
        factory=True,
        quick=True,
        source="""
            import time

            def f():
                time.sleep(0.4)
                return (lambda x: x + 1.0), (1.0,)
        """,
    ),
    Deceit(
        name="answer_made_in_a_factory",
        hides="the whole answer, in a factory whose function returns it",
        figure="first",
        factory=True,
        source="""
            import numpy as np

            def f():
                x = np.random.default_rng(0).normal(size=(700, 700))
                answer = np.linalg.svd(x, compute_uv=False)
                return (lambda: answer), ()
        """,
    ),
    Deceit(
        name="compiled_in_a_factory",
        hides="compiling, in a factory that calls the function once",
        figure="first",
        needs=("jax",),
        factory=True,
        source="""
            import jax
            import jax.numpy as jnp

            @jax.jit
            def model(x):
                for k in range(6):
                    x = jnp.tanh(x @ x + k) * jnp.cos(x).sum()
                return x

            def f():
                x = jnp.ones((24, 24))
                model(x).block_until_ready()
                return model, (x,)
        """,
    ),
    Deceit(
        name="work_in_a_generator_of_arguments",
        hides="work in the generator that gives a factory's arguments",
        figure="first",
        factory=True,
        source="""
            import time

            def given():
                time.sleep(0.4)
                yield (1.0,)

            def f():
                return (lambda x: x + 1.0), given()
        """,
        truth="""
            mark()
            import subject
            function, given = subject.f()
            function(*next(given))
            mark()
        """,
    ),
    Deceit(
        name="thread_of_a_factory",
        hides="work in a thread that a factory starts, and that the first call waits for",
        figure="first",
        factory=True,
        source="""
            import threading
            import time

            def f():
                working = threading.Thread(target=time.sleep, args=(0.35,))
                working.start()
                time.sleep(0.3)

                def step(x):
                    working.join()
                    return x + 1.0

                return step, (1.0,)
        """,
    ),
    Deceit(
        name="waiting_in_an_argument",
        hides="work in block_until_ready of an argument, which is waited for before the first call",
        figure="first",
        factory=True,
        source="""
            import time

            class Data:
                ready = False

                def block_until_ready(self):
                    if not self.ready:
                        time.sleep(0.4)
                        self.ready = True
                    return self

            def f():
                return (lambda data: float(data.block_until_ready().ready)), (Data(),)
        """,
    ),
)
