"""Results that are not there when the call returns."""

from __future__ import annotations

from tests.deceit.base import UNFINISHED, Deceit

_JAX = """
    import jax
    import jax.numpy as jnp
    from collections import deque

    @jax.jit
    def model(x):
        return jax.lax.fori_loop(0, 60, lambda k, y: jnp.tanh(y @ x), x)

    X = jnp.ones((160, 160)) / 160.0
"""
_JAX_WAIT = "jax = sys.modules['jax']\njax.block_until_ready(jax.live_arrays())\n"


def _jax(name: str, hides: str, source: str, **more: object) -> Deceit:
    return Deceit(
        name=name,
        hides=hides,
        figure="warm",
        needs=("jax",),
        said=UNFINISHED,
        source=_JAX + source,
        finish=_JAX_WAIT,
        here=True,
        **more,  # type: ignore[arg-type]
    )


_LAZY = """
    import time
    import numpy as np

    class Lazy:
        def __init__(self, x):
            self.x, self.value = x, None

        def compute(self):
            if self.value is None:
                time.sleep(0.04)
                self.value = self.x + 1.0
            return self.value

        def __array__(self, dtype=None, copy=None):
            return self.compute()
"""
_X = {"x": "f64[9]"}
_XS = "(subject.np.full(9, float(k)),)"


def _lazy(name: str, hides: str, source: str, finish: str, **more: object) -> Deceit:
    return Deceit(
        name=name,
        hides=hides,
        figure="warm",
        said=UNFINISHED,
        inputs=_X,
        arguments=_XS,
        source=_LAZY + source,
        finish=finish,
        here=True,
        **more,  # type: ignore[arg-type]
    )


DECEITS = (
    _lazy(
        "lazy_array",
        "an array of an unknown library, computed when someone looks at it",
        """
    def f(x):
        return Lazy(x)
""",
        "out.compute()",
        quick=True,
    ),
    _lazy(
        "lazy_array_unchecked",
        "the same, and nobody looks at it",
        """
    def f(x):
        return {"answer": [Lazy(x)]}
""",
        "out['answer'][0].compute()",
        options=("--no-check",),
    ),
    _lazy(
        "lying_waiter",
        "an array of an unknown library, whose block_until_ready returns at once",
        """
    class Pending(Lazy):
        def block_until_ready(self):
            return self

    def f(x):
        return Pending(x)
""",
        "out.compute()",
    ),
    _lazy(
        "lazy_number",
        "a number of an unknown class, computed by __float__",
        """
    class Number(Lazy):
        shape, dtype, ndim = (), np.dtype("f8"), 0

        def __float__(self):
            return float(self.compute().sum())

        def __array__(self, dtype=None, copy=None):
            return np.asarray(float(self))

    def f(x):
        return Number(x)
""",
        "float(out)",
    ),
    _lazy(
        "lazy_elements",
        "an array of objects, which are computed when someone looks at them",
        """
    def f(x):
        made = np.empty(2, dtype=object)
        made[0], made[1] = Lazy(x), Lazy(x)
        return made
""",
        "[one.compute() for one in out]",
        options=("--no-check",),
    ),
    _lazy(
        "lazy_subclass_of_an_array",
        "a subclass of numpy.ndarray, which is computed when it becomes a plain array",
        """
    class Filled(np.ndarray):
        def __array__(self, dtype=None, copy=None):
            time.sleep(0.04)
            return self.view(np.ndarray) + 1.0

        def compute(self):
            return self.__array__()

    def f(x):
        return x.view(Filled)
""",
        "out.compute()",
    ),
    _lazy(
        "lazy_field",
        "a dataclass with a cached property, which holds only the arguments",
        """
    import dataclasses
    import functools

    @dataclasses.dataclass
    class Fit:
        x: np.ndarray

        @functools.cached_property
        def answer(self):
            time.sleep(0.04)
            return self.x + 1.0

    def f(x):
        return Fit(x)
""",
        "out.answer",
    ),
    _lazy(
        "generator_in_a_list",
        "a generator, inside a list in a dict",
        """
    def steps(x):
        time.sleep(0.04)
        yield x + 1.0

    def f(x):
        return {"steps": [steps(x)]}
""",
        "list(out['steps'][0])",
    ),
    _lazy(
        "coroutine",
        "a coroutine, which nobody has run",
        """
    async def f(x):
        time.sleep(0.04)
        return x + 1.0
""",
        "import asyncio\nasyncio.run(out)",
    ),
    Deceit(
        name="archive_of_arrays",
        hides="reading, in the object that numpy.load gives for an archive",
        figure="warm",
        said=UNFINISHED,
        here=True,
        finish="[out[name] for name in out]",
        options=("--no-check",),
        source="""
            import numpy as np

            np.savez("{folder}/kept.npz", x=np.ones(500_000), y=np.zeros(500_000))

            def f():
                return np.load("{folder}/kept.npz")
        """,
    ),
    Deceit(
        name="mapped_file",
        hides="reading, in an array that is a mapped file",
        figure="warm",
        said=UNFINISHED,
        here=True,
        finish="out.sum()",
        source="""
            import numpy as np

            np.save("{folder}/kept.npy", np.ones(2_000_000))

            def f():
                return np.load("{folder}/kept.npy", mmap_mode="r")
        """,
    ),
    Deceit(
        name="product_of_operators",
        hides="a product of matrices, in a SciPy operator that computes when it is applied",
        figure="warm",
        needs=("scipy",),
        said=UNFINISHED,
        here=True,
        options=("--no-check",),
        finish="out['product'].matmat(sys.modules['subject'].X)",
        source="""
            import numpy as np
            from scipy.sparse.linalg import aslinearoperator

            X = np.ones((300, 300))

            def f():
                return {"product": aslinearoperator(X) @ aslinearoperator(X)}
        """,
    ),
    _jax(
        "jax_in_a_deque",
        "an array of JAX in a deque beside a float",
        """
    KEPT = deque(maxlen=1)

    def f():
        KEPT.append(model(X))
        return 1.0, KEPT
""",
    ),
    _jax(
        "jax_in_a_global",
        "an array of JAX in a global, beside a float that is returned",
        """
    LAST = None

    def f():
        global LAST
        LAST = model(X)
        return 1.0
""",
    ),
    _jax(
        "jax_in_a_nested_object",
        "an array of JAX in an object inside an object, with __array__",
        """
    import numpy as np

    class Holder:
        def __init__(self, inner):
            self.inner = inner

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.inner.inner if isinstance(self.inner, Holder) else self.inner)

    def f():
        return Holder(Holder(model(X)))
""",
    ),
    _jax(
        "jax_in_a_closure",
        "an array of JAX in the closure of an attribute",
        """
    class Answer:
        def __init__(self, get):
            self.get = get

        def __array__(self, dtype=None, copy=None):
            import numpy as np
            return np.asarray(self.get())

    def f():
        found = model(X)
        return Answer(lambda: found)
""",
    ),
    _jax(
        "jax_in_another_module",
        "an array of JAX that another module holds",
        """
    import sys
    import types
    sys.modules["elsewhere"] = types.ModuleType("elsewhere")

    def f():
        sys.modules["elsewhere"].last = {"value": (model(X),)}
        return 0.5
""",
    ),
    _jax(
        "jax_dropped_later",
        "an array of JAX that is dropped at once, and computed all the same",
        """
    PENDING = []

    def f():
        PENDING.append(model(X))
        if len(PENDING) > 64:
            PENDING.clear()
        return float(len(PENDING) < 0)
""",
    ),
)
