"""Answers that a running process finds again, because its arguments were there before."""

from __future__ import annotations

from tests.deceit.base import REPEATED, Deceit

_X = {"x": "f64[2000]"}
_XS = "(subject.np.random.default_rng(k).normal(size=2000),)"
_N = {"n": "3"}
_HEAD = """
    import functools
    import time
    import numpy as np

    SEEN = {}

    def work(x):
        time.sleep(0.03)
        return float(np.sum(x))
"""


_OF_DATA = """
    import subject
    function, given = subject.f()
    function(*given)
    for k in range(1, 1 + {calls}):
        one = DATA
        mark()
        function(one)
        mark()
"""


def _memo(name: str, hides: str, source: str, **more: object) -> Deceit:
    given: dict[str, object] = {
        "inputs": _X,
        "arguments": _XS,
        "here": True,
        "said": REPEATED,
        **more,
    }
    return Deceit(
        name=name,
        hides=hides,
        figure="warm",
        source=_HEAD + source,
        **given,  # type: ignore[arg-type]
    )


DECEITS = (
    _memo(
        "lru_cache",
        "the work, in functools.lru_cache: a user's arguments differ",
        """
    @functools.lru_cache(maxsize=None)
    def f(n):
        return work(n)
""",
        inputs=_N,
        arguments="(3 + k,)",
        quick=True,
    ),
    _memo(
        "by_identity",
        "the work, in a dictionary by id of the argument",
        """
    def f(x):
        if id(x) not in SEEN:
            SEEN[id(x)] = work(x), x
        return SEEN[id(x)][0]
""",
    ),
    _memo(
        "by_content",
        "the work, in a dictionary by the bytes of the argument",
        """
    def f(x):
        key = x.tobytes()
        if key not in SEEN:
            SEEN[key] = work(x)
        return SEEN[key]
""",
    ),
    _memo(
        "by_first_element",
        "the work, in a dictionary by shape and first element",
        """
    def f(x):
        key = x.shape, float(x[0])
        if key not in SEEN:
            SEEN[key] = work(x)
        return SEEN[key]
""",
    ),
    _memo(
        "on_disk_and_in_memory",
        "the work, in files of the program's own, as joblib.Memory keeps them",
        """
    import hashlib
    import os

    def f(x):
        kept = "{folder}/memo-" + hashlib.sha256(x.tobytes()).hexdigest()[:20]
        if os.path.exists(kept):
            with open(kept) as file:
                return float(file.read())
        found = work(x)
        with open(kept, "w") as file:
            file.write(repr(found))
        return found
""",
        forget="""
            import glob, os
            for kept in glob.glob("{folder}/memo-*"):
                os.remove(kept)
        """,
    ),
    _memo(
        "last_answer_alone",
        "the work, where the arguments are those of the last call",
        """
    LAST = [None, 0.0]

    def f(x):
        if LAST[0] is None or not np.array_equal(LAST[0], x):
            LAST[:] = [x.copy(), work(x)]
        return LAST[1]
""",
    ),
    _memo(
        "kept_in_an_argument",
        "the work, kept in a dictionary that is itself an argument",
        """
    def step(x, kept):
        key = float(x[0])
        if key not in kept:
            kept[key] = work(x)
        return kept[key]

    def f():
        return step, (np.random.default_rng(next(COUNT)).normal(size=2000), {})

    import itertools
    COUNT = itertools.count()
""",
        inputs={},
        factory=True,
        arguments="(subject.np.random.default_rng(k).normal(size=2000), {})",
        truth="""
            import subject
            function, given = subject.f()
            function(*given)
            for k in range(1, 1 + {calls}):
                x = subject.np.random.default_rng(k).normal(size=2000)
                mark()
                function(x, given[1])
                mark()
        """,
        options=("--no-check",),
    ),
    _memo(
        "sorted_in_place",
        "the work, done once on an argument that is changed, and quick on what is done",
        """
    def f(x):
        for k in range(1, len(x)):
            item, place = x[k], k
            while place and x[place - 1] > item:
                x[place] = x[place - 1]
                place -= 1
            x[place] = item
        return float(x[0])
""",
        inputs={"x": "f64[400]"},
        arguments="(subject.np.random.default_rng(k).normal(size=400),)",
    ),
    _memo(
        "mark_in_an_attribute",
        "the work, not done again on an argument that has a mark from the first time",
        """
    class Data:
        def __init__(self, x):
            self.__x = x

        def __deepcopy__(self, memo):
            return self

    def step(data):
        if not hasattr(data, "_Data__done"):
            data._Data__done = work(data._Data__x)
        return data._Data__done

    def f():
        return step, (Data(np.ones(2000)),)
""",
        said=("untried",),
        # Nobody but the factory can make such an argument once more.
        here=False,
        inputs={},
        factory=True,
        arguments="()",
        truth="""
            import subject
            function, given = subject.f()
            function(*given)
            for k in range({calls}):
                one = subject.Data(subject.np.full(2000, k))
                mark()
                function(one)
                mark()
        """,
    ),
    _memo(
        "answer_for_a_while",
        "the work, done again only after a second",
        """
    LAST = [-9.0, 0.0]

    def f(x):
        if time.monotonic() - LAST[0] > 1.0 or not np.array_equal(LAST[2], x):
            LAST[:] = [time.monotonic(), work(x), x.copy()]
        return LAST[1]
""",
    ),
    _memo(
        "of_a_size_beside_data",
        "the work, in functools.lru_cache on a whole number beside an array",
        """
    @functools.lru_cache(maxsize=None)
    def table(n):
        return work(n)

    def f(x, n):
        return x * table(n)
""",
        inputs={"x": "f64[10]", "n": "40"},
        arguments="(subject.np.random.default_rng(k).normal(size=10), 40 + k)",
    ),
    _memo(
        "of_a_text",
        "the work, in a dictionary by a text",
        """
    def step(text):
        if text not in SEEN:
            SEEN[text] = work(len(text))
        return SEEN[text]

    def f():
        return step, ("How many words are in this text?",)
""",
        inputs={},
        factory=True,
        truth=_OF_DATA.replace("DATA", "f'How many words are in text {k}?'"),
    ),
    _memo(
        "of_an_object",
        "the work, in a dictionary by the numbers inside an object",
        """
    class Data:
        def __init__(self, numbers):
            self.numbers = numbers

    def step(data):
        key = data.numbers.tobytes()
        if key not in SEEN:
            SEEN[key] = work(data.numbers)
        return SEEN[key]

    def f():
        return step, (Data(np.arange(20.0)),)
""",
        inputs={},
        factory=True,
        truth=_OF_DATA.replace("DATA", "subject.Data(subject.np.arange(20.0) + k)"),
    ),
    _memo(
        "of_a_tuple",
        "the work, in functools.lru_cache on a tuple of whole numbers",
        """
    step = functools.lru_cache(maxsize=None)(lambda sizes: work(sum(sizes)))

    def f():
        return step, ((30, 50, 70),)
""",
        inputs={},
        factory=True,
        truth=_OF_DATA.replace("DATA", "(30 + k, 50, 70)"),
    ),
    _memo(
        "of_a_list_of_numbers",
        "the work, in a dictionary by a list of whole numbers",
        """
    def step(numbers):
        key = tuple(numbers)
        if key not in SEEN:
            SEEN[key] = work(sum(numbers))
        return SEEN[key]

    def f():
        return step, (list(range(50)),)
""",
        inputs={},
        factory=True,
        truth=_OF_DATA.replace("DATA", "[k, *range(49)]"),
    ),
    _memo(
        "of_settings",
        "the work, in a dictionary by one whole number in a dictionary of settings",
        """
    def step(settings):
        if settings["steps"] not in SEEN:
            SEEN[settings["steps"]] = work(settings["steps"])
        return SEEN[settings["steps"]]

    def f():
        return step, ({"steps": 30, "kind": "slow"},)
""",
        inputs={},
        factory=True,
        truth=_OF_DATA.replace("DATA", "{'steps': 30 + k, 'kind': 'slow'}"),
    ),
    _memo(
        "of_a_dataclass",
        "the work, in functools.lru_cache on a frozen dataclass",
        """
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Body:
        mass: float
        name: str = "earth"

    step = functools.lru_cache(maxsize=None)(lambda body: work(body.mass))

    def f():
        return step, (Body(2.5),)
""",
        inputs={},
        factory=True,
        truth=_OF_DATA.replace("DATA", "subject.Body(2.5 + k)"),
    ),
    _memo(
        "of_places",
        "the work, in a dictionary by an array of places in another one",
        """
    def f(x, i):
        key = i.tobytes()
        if key not in SEEN:
            SEEN[key] = work(i)
        return x[i] * SEEN[key]
""",
        inputs={"x": "f64[100]", "i": "i64[50]"},
        arguments="(subject.np.ones(100), (subject.np.arange(50) + k) % 50)",
    ),
    _memo(
        "of_a_mask",
        "the work, in a dictionary by the mask beside an array",
        """
    def f(x, mask):
        key = mask.tobytes()
        if key not in SEEN:
            SEEN[key] = work(mask)
        return x[mask].sum() * SEEN[key]
""",
        inputs={"x": "f64[64]", "mask": "bool[64]"},
        arguments="(subject.np.ones(64), subject.np.random.default_rng(k).random(64) < 0.5)",
    ),
    _memo(
        "whatever_the_scale",
        "the work, in a dictionary by numbers that a scale does not change",
        """
    def f(x):
        key = round(float(x.max() / np.abs(x).mean()), 9)
        if key not in SEEN:
            SEEN[key] = work(x)
        return SEEN[key] * float(np.abs(x).mean())
""",
    ),
    _memo(
        "without_an_argument",
        "the work, of data that nobody can give it others of",
        """
    DATA = [np.arange(2000.0)]

    def f():
        key = DATA[0].tobytes()
        if key not in SEEN:
            SEEN[key] = work(DATA[0])
        return SEEN[key]
""",
        inputs={},
        arguments="()",
        said=("untried",),
        truth="""
            import subject
            subject.f()
            for k in range({calls}):
                subject.DATA[0] = subject.np.arange(2000.0) + k
                mark()
                subject.f()
                mark()
        """,
    ),
)
