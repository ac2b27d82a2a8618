"""What a function of a notebook keeps from call to call travels empty, or is named."""

from __future__ import annotations

import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

import coldwarm
from coldwarm.functions import transfer
from coldwarm.functions.arguments import Call
from coldwarm.inprocess import sending

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.runner.functions.targets import Target

WORK_S = 0.02
HEAD = f"""
import collections, functools, time
def work(n):
    time.sleep({WORK_S})
    return float(n)
"""
EMPTIED = {
    "a dictionary": """
        SEEN = {}
        def f(n):
            if n in SEEN:
                return SEEN[n]
            SEEN[n] = work(n)
            return SEEN[n]
    """,
    "asked by an error": """
        SEEN = {}
        def f(n):
            try:
                return SEEN[n]
            except KeyError:
                SEEN[n] = found = work(n)
                return found
    """,
    "asked by get": """
        SEEN = {}
        def f(n):
            found = SEEN.get(n)
            if found is None:
                found = SEEN[n] = work(n)
            return found
    """,
    "a key of several parts": """
        SEEN = {}
        def f(n):
            if (n, "slow", n + 1) not in SEEN:
                SEEN[(n, "slow", n + 1)] = work(n)
            return SEEN[(n, "slow", n + 1)]
    """,
    "lru_cache": """
        @functools.lru_cache(maxsize=None)
        def f(n):
            return work(n)
    """,
    "an lru_cache in a helper": """
        @functools.lru_cache(maxsize=8)
        def table():
            return work(1)
        def f(n):
            return n * table()
    """,
    "an lru_cache that calls itself": """
        @functools.cache
        def f(n):
            return work(n) if n < 1 else f(n - 1)
    """,
    "a default": """
        def f(n, _seen={}):
            if n not in _seen:
                _seen[n] = work(n)
            return _seen[n]
    """,
    "an attribute of the function": """
        def f(n):
            if n not in f.seen:
                f.seen[n] = work(n)
            return f.seen[n]
        f.seen = {}
    """,
    "a closure": """
        def make():
            seen = {}
            def f(n):
                if n not in seen:
                    seen[n] = work(n)
                return seen[n]
            return f
        f = make()
    """,
    "a decorator": """
        def memo(function):
            seen = {}
            @functools.wraps(function)
            def wrapper(n):
                if n not in seen:
                    seen[n] = function(n)
                return seen[n]
            return wrapper
        @memo
        def f(n):
            return work(n)
    """,
    "an attribute of an object": """
        class Model:
            def __init__(self):
                self.seen = {}
            def __call__(self, n):
                if n not in self.seen:
                    self.seen[n] = work(n)
                return self.seen[n]
        model = Model()
        def f(n):
            return model(n)
    """,
    "an object that is called": """
        class Model:
            def __init__(self):
                self.seen = collections.OrderedDict()
            def __call__(self, n):
                if n not in self.seen:
                    self.seen[n] = work(n)
                return self.seen[n]
        f = Model()
    """,
    "a helper of a helper": """
        SEEN = {}
        def inner(n):
            if n not in SEEN:
                SEEN[n] = work(n)
            return SEEN[n]
        def middle(n):
            return inner(n)
        f = functools.partial(lambda n, k: middle(n) + k, k=1)
    """,
    "setdefault": """
        SEEN = {}
        def f(n):
            return SEEN.get(n) or SEEN.setdefault(n, work(n))
    """,
}
NAMED = {
    "a global": (
        """
        ANSWER = None
        def f(n):
            global ANSWER
            if ANSWER is None:
                ANSWER = work(n)
            return ANSWER
        """,
        ["ANSWER"],
    ),
    "the answer in an attribute": (
        """
        def f(n):
            if not hasattr(f, "answer"):
                f.answer = work(n)
            return f.answer
        """,
        ["f.answer"],
    ),
    "the last answer in a list": (
        """
        LAST = []
        def f(n):
            if not LAST:
                LAST.append(work(n))
            return LAST[0]
        """,
        ["LAST"],
    ),
    "a variable around it": (
        """
        def make():
            answer = None
            def f(n):
                nonlocal answer
                if answer is None:
                    answer = work(n)
                return answer
            return f
        f = make()
        """,
        ["answer"],
    ),
    "what a method has fitted": (
        """
        class Model:
            table = None
            def predict(self, n):
                if self.table is None:
                    self.table = work(n)
                return self.table
        f = Model().predict
        """,
        ["self.table"],
    ),
    "a field of an object": (
        """
        class State:
            pass
        state = State()
        def f(n):
            if not hasattr(state, "answer"):
                state.answer = work(n)
            return state.answer
        """,
        ["state.answer"],
    ),
}
HONEST = {
    "a table that is read": "TABLE = {1: 2.0}\ndef f(n):\n    return TABLE.get(n, 0.0) + work(n)\n",
    "its own containers": "def f(n):\n    seen = {}\n    seen[n] = work(n)\n    return seen[n]\n",
    "what it gets": "def f(n):\n    found = [0.0]\n    found[0] = work(n)\n    return found\n",
    "an empty log": "LOG = []\ndef f(n):\n    return work(n) + len(LOG)\n",
    "data in a closure": "data = [1.0, 2.0]\nf = lambda n: work(n) + sum(data)\n",
    "an object that was made": (
        "class Model:\n    def __init__(self):\n        self.rate = 0.5\n"
        "    def __call__(self, n):\n        return work(n) * self.rate\nf = Model()\n"
    ),
}


def _cell(text: str) -> Any:
    """Return ``f`` of a notebook's cell, after a call that has filled what it keeps."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(HEAD + textwrap.dedent(text), "<cell>", "exec"), scope)  # noqa: S102 - as above
    function = scope["f"]
    assert function(3) == function(3)
    return function


def _carried(function: Any, folder: Path) -> Target:
    """Return how fresh processes get a function of this process alone."""
    given = sending.Given(function, Call((3,), {}), None, {}, {})
    target = sending.target_of(given, folder / str(len(list(folder.iterdir()))))
    assert target.carried
    return target


def _carried_call_s(function: Any, folder: Path) -> float:
    loaded, call, _ = transfer.load(str(_carried(function, folder).arguments))
    before = function(3)
    begin_s = time.perf_counter()
    assert loaded(*call.positional) == before
    return time.perf_counter() - begin_s


@pytest.mark.parametrize("text", EMPTIED.values(), ids=EMPTIED)
def test_memos_travel_empty(text: str, tmp_path: Path) -> None:
    function = _cell(text)
    assert _carried(function, tmp_path).state == ()
    assert _carried_call_s(function, tmp_path) >= WORK_S
    assert _carried_call_s(function, tmp_path) >= WORK_S  # what is here was left alone


@pytest.mark.parametrize(("text", "names"), NAMED.values(), ids=NAMED)
def test_other_state_is_named(text: str, names: list[str], tmp_path: Path) -> None:
    assert list(_carried(_cell(text), tmp_path).state) == names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "names"),
    [*((text, None) for text in EMPTIED.values()), *NAMED.values()],
    ids=[*EMPTIED, *NAMED],
)
def test_no_bench_shows_the_time_of_a_memo_as_that_of_the_work(
    text: str, names: list[str] | None
) -> None:
    public: Any = coldwarm
    found = public.Benchmark(processes=1)(_cell(text), 3)
    cold = found.cold["cold_process_cold_cache"]
    assert cold is not None, found.reasons
    if names is None:
        assert cold.seconds["first_call"].median >= WORK_S
    else:
        assert names[0] in "".join(found.notes)


@pytest.mark.slow
@pytest.mark.parametrize("case", [one for one in EMPTIED if one != "an lru_cache in a helper"])
def test_a_notebook_without_fresh_processes_says_that_answers_may_be_kept(case: str) -> None:
    """A table that does not depend on the data is there for every warm call, and is left out."""
    public: Any = coldwarm
    found = public.Benchmark(cold=False)(_cell(EMPTIED[case]), 3)
    told = {one.code if hasattr(one, "code") else one.reason.code for one in found.cautions}
    quick = found.warm is not None and found.warm.call_s.median < WORK_S
    assert not quick or told & {"answers_kept", "answer_stays", "untried"}, told


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_functions_keep_nothing(text: str, tmp_path: Path) -> None:
    function = _cell(text)
    kept = sending._state_of(function)
    assert (kept.memos, kept.others) == ({}, [])
    assert _carried(function, tmp_path).state == ()
    assert _carried_call_s(function, tmp_path) >= WORK_S


def test_memos_of_cachetools_travel_empty(tmp_path: Path) -> None:
    pytest.importorskip("cachetools")
    text = """
        import cachetools
        @cachetools.cached(cachetools.LRUCache(maxsize=9))
        def f(n):
            return work(n)
    """
    assert _carried_call_s(_cell(text), tmp_path) >= WORK_S
