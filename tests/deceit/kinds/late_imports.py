"""Frameworks and modules that come when the import phase is over."""

from __future__ import annotations

from tests.deceit.base import UNCOUNTED, Deceit

_SLOW = {"slow.py": "import time\ntime.sleep(0.35)\nVALUE = 1.0\n"}
_OBJECT = """
    import inspect
    import time

    class Model:
        ready = False

        def prepare(self):
            if not self.ready:
                time.sleep(0.35)
                self.ready = True

        @property
        def __signature__(self):
            self.prepare()
            x = inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD)
            return inspect.Signature([x])

        @property
        def step(self):
            self.prepare()
            return lambda: 1.0

        def __call__(self, x):
            self.prepare()
            return x + 1.0

    model = Model()
"""

DECEITS = (
    Deceit(
        name="jax_in_a_factory",
        hides="the import of JAX, in a factory",
        figure="first",
        needs=("jax",),
        factory=True,
        source="""
            def f():
                import jax
                import jax.numpy as jnp
                return jax.jit(lambda x: (x @ x).sum()), (jnp.ones((64, 64)),)
        """,
    ),
    Deceit(
        name="jax_in_the_first_call",
        hides="the import of JAX, in the call",
        figure="first",
        needs=("jax",),
        source="""
            def f():
                import jax
                return jax.jit(lambda x: x * 2.0 + 1.0)(3.0)
        """,
    ),
    Deceit(
        name="jax_in_every_call",
        hides="a program compiled in each call, by a JAX that the module has not imported",
        figure="compiles",
        needs=("jax",),
        said=UNCOUNTED,
        counted="Finished XLA compilation",
        calls=4,
        source="""
            def f():
                import jax
                return jax.jit(lambda x: x * 2.0 + 1.0)(3.0)
        """,
    ),
    Deceit(
        name="torch_in_every_call",
        hides="a program compiled in each call, by a PyTorch that the module has not imported",
        figure="compiles",
        needs=("torch",),
        said=UNCOUNTED,
        counted="one compiled",
        calls=3,
        source="""
            def backend(graph, inputs):
                import sys
                print("one compiled", file=sys.stderr)
                return graph.forward

            def f():
                import torch
                torch._dynamo.reset()
                return torch.compile(lambda x: x * 2.0 + 1.0, backend=backend)(torch.ones(3))
        """,
    ),
    Deceit(
        name="numba_in_a_factory",
        hides="the import of Numba and its compiler, in a factory that calls the function once",
        figure="first",
        needs=("numba",),
        factory=True,
        source="""
            def f():
                import numba
                step = numba.njit(lambda x: x * 2.0 + 1.0)
                step(3.0)
                return step, (3.0,)
        """,
    ),
    Deceit(
        name="slow_module_in_a_factory",
        hides="the import of a slow module, in a factory",
        figure="first",
        factory=True,
        files=_SLOW,
        quick=True,
        source="""
            def f():
                import slow
                return (lambda x: x + slow.VALUE), (1.0,)
        """,
    ),
    Deceit(
        name="lazy_module_in_a_factory",
        hides="the loading of a module that importlib.util.LazyLoader puts off to a factory",
        figure="first",
        factory=True,
        files=_SLOW,
        source="""
            import importlib.util
            import sys

            spec = importlib.util.find_spec("slow")
            spec.loader = importlib.util.LazyLoader(spec.loader)
            slow = importlib.util.module_from_spec(spec)
            sys.modules["slow"] = slow
            spec.loader.exec_module(slow)

            def f():
                return (lambda x: x + slow.VALUE), (slow.VALUE,)
        """,
    ),
    Deceit(
        name="slow_module_in_a_thread_of_a_factory",
        hides="the import of a slow module, in a thread that a factory waits for",
        figure="first",
        factory=True,
        files=_SLOW,
        source="""
            import threading

            def load():
                import slow

            def f():
                loading = threading.Thread(target=load)
                loading.start()
                loading.join()
                import slow
                return (lambda x: x + slow.VALUE), (1.0,)
        """,
    ),
    Deceit(
        name="function_made_when_it_is_looked_up",
        hides="work in the module's __getattr__, which finds the function",
        figure="first",
        quick=True,
        source="""
            import time

            def __getattr__(name):
                if name != "f":
                    raise AttributeError(name)
                time.sleep(0.35)
                globals()["f"] = lambda: 1.0
                return globals()["f"]
        """,
    ),
    Deceit(
        name="method_made_when_it_is_looked_up",
        hides="work in a property, which finds the method",
        figure="first",
        target="model.step",
        source=_OBJECT,
    ),
    Deceit(
        name="work_in_the_signature",
        hides="work in __signature__, which is asked for before the first call",
        figure="first",
        target="model",
        inputs={"x": "1.5"},
        arguments="(1.5,)",
        source=_OBJECT,
    ),
    Deceit(
        name="numpy_in_the_first_call",
        hides="the import of NumPy in the call, if whoever measures has loaded NumPy before",
        figure="first",
        quick=True,
        source="""
            def f():
                import numpy as np
                return float(np.ones(3).sum())
        """,
    ),
    Deceit(
        name="standard_library_in_the_first_call",
        hides="the import of Python's own modules, if whoever measures has loaded them before",
        figure="first",
        source="""
            def f():
                import argparse, ast, asyncio, collections, copy, dataclasses, decimal, difflib
                import dis, email.message, fractions, gc, hashlib, importlib.metadata, inspect
                import itertools, json, pathlib, pickle, random, resource, statistics, struct
                import subprocess, tempfile, threading, traceback, typing, unittest.mock
                return 1.0
        """,
    ),
    Deceit(
        name="sitecustomize",
        hides="work before the interpreter has started, in sitecustomize",
        figure="process",
        variables={"PYTHONPATH": "{folder}/site"},
        files={"site/sitecustomize.py": "import time\ntime.sleep(0.6)\n"},
        source="""
            import sitecustomize

            def f():
                return 1.0
        """,
    ),
)
