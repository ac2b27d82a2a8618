"""Calls that the timed loop does not make: other numbers, a pause, Python's collector."""

from __future__ import annotations

import functools
import gc
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec import convert
from msgspec.json import decode

from coldwarm.contracts.result import CaseResult
from coldwarm.functions import other_calls, varying
from coldwarm.functions.arguments import Call
from coldwarm.runner import replies
from coldwarm.stats.cautions import other_calls as judged
from coldwarm.stats.cautions import untried

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.functions.conftest import Desk

    from coldwarm.contracts.observation import OtherCalls

WORK_S = 0.01


def _told(function: Callable[..., Any], call: Call, n_compiles: list[int]) -> dict[str, Any]:
    return other_calls.measure(
        lambda flat: function(*flat),
        lambda: call.flat,
        lambda number: varying.given(call, number, varying.names_of(function, call)),
        lambda: len(n_compiles),
    )


def _seen(told: dict[str, Any]) -> OtherCalls:
    return convert({"type": "other_calls", **told}, replies.OtherCallsReply).calls()


def _codes(told: dict[str, Any]) -> set[str]:
    return {reason.code for reason in judged(_seen(told))}


def _shown(function: Callable[..., Any], *given: object) -> set[str]:
    return _codes(_told(function, Call(given, {}), []))


def _work(x: Any) -> float:
    time.sleep(WORK_S)
    return float(np.sum(x))


X = np.random.default_rng(0).normal(size=200)


def _by_content() -> Callable[..., float]:
    seen: dict[bytes, float] = {}
    return lambda x: (
        seen[x.tobytes()] if x.tobytes() in seen else seen.setdefault(x.tobytes(), _work(x))
    )


def _by_identity() -> Callable[..., float]:
    seen: dict[int, tuple[float, object]] = {}

    def f(x: object) -> float:
        if id(x) not in seen:
            seen[id(x)] = _work(x), x
        return seen[id(x)][0]

    return f


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (functools.lru_cache(maxsize=None)(_work), 3),
        (functools.lru_cache(maxsize=None)(_work), 3.5),
        (_by_content(), X),
        (_by_content(), np.float32(2.5)),
        (_by_identity(), np.arange(9)),
        (functools.lru_cache(maxsize=1)(_work), (1.0, 2.0)),
    ],
)
def test_an_answer_that_is_kept_is_found(function: Callable[..., float], given: object) -> None:
    assert "answers_kept" in _shown(function, given)


def _memoized(key: Callable[[Any], object]) -> Callable[..., float]:
    seen: dict[object, float] = {}

    def f(x: object) -> float:
        if key(x) not in seen:
            seen[key(x)] = _work(_numbers(x))
        return seen[key(x)]

    return f


def _numbers(x: Any) -> Any:
    """Return numbers of which there is a sum, of whatever data."""
    if isinstance(x, str):
        return float(len(x))
    if hasattr(x, "data") and not isinstance(x, np.ndarray):
        return _numbers(x.data)
    if isinstance(x, dict):
        return _numbers([one for one in x.values() if not isinstance(one, str)])
    return x if isinstance(x, (int, float, np.ndarray)) else float(np.sum([*map(np.sum, x)]))


class Data:
    """An object of a user's own class."""

    def __init__(self, data: object) -> None:
        """Hold some data."""
        self.data = data


class _Keeping:
    def __init__(self) -> None:
        self.last: tuple[object, float] | None = None

    def __call__(self, x: Any) -> float:
        if self.last is None or not np.array_equal(self.last[0], x):  # type: ignore[arg-type] # arrays
            self.last = np.array(x), _work(x)
        return self.last[1]


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (_memoized(lambda x: x.data.tobytes()), Data(X)),
        (_memoized(lambda x: x.data), Data(40)),
        (_memoized(lambda x: tuple(x.data)), Data([0.5, 2.5])),
        (_memoized(str), "How many words has this text?"),
        (_memoized(lambda x: x), (3, 5, 7)),
        (_memoized(lambda x: x), (64, 64)),
        (_memoized(tuple), list(range(40))),
        (_memoized(lambda x: tuple(sorted(x.items()))), {"rate": 0.5, "kind": "slow"}),
        (_memoized(lambda x: x["n"]), {"n": 30, "kind": "slow"}),
        (_memoized(frozenset), {4.5, 7.0}),
        (_memoized(lambda x: x.tobytes()), np.arange(50)),
        (_memoized(lambda x: x.tobytes()), np.arange(50) % 2 == 0),
        (_memoized(lambda x: x.tobytes()), np.sort(np.arange(90) % 7)),
        (_memoized(lambda x: float(x.mean())), X),
        (_memoized(lambda x: float(x.max() / x.mean())), np.abs(X) + 1),
        (_memoized(lambda x: (x.shape, float(x[-1]))), X),
        (_Keeping(), X),
        (functools.lru_cache(maxsize=None)(_work), 40),
    ],
)
def test_answers_that_are_kept_of_any_data_are_found(
    function: Callable[..., float], given: object
) -> None:
    assert "answers_kept" in _shown(function, given)


def _table(n: int) -> float:
    time.sleep(WORK_S)
    return float(n)


def test_what_is_kept_of_one_argument_beside_others_is_found() -> None:
    table = functools.lru_cache(maxsize=None)(_table)
    told = _told(lambda x, n: x * table(n), Call((X, 40), {}), [])
    assert "answers_kept" in _codes(told)
    assert (told["varied"], told["not_varied"]) == (["x", "n"], {})


@pytest.mark.parametrize(
    ("function", "given", "tried"),
    [
        (lambda: 1.0, (), False),
        (lambda x: x.sum(), (X,), True),
        (lambda x, how: getattr(np, how)(x), (X, "mean"), True),
        (len, ("mean",), False),
        (lambda x, flag: x + flag, (X, True), True),
        (lambda x, n: np.zeros(n).shape, (None, 3), True),
        (lambda n, how: 7.0, (30, "a"), False),
        (lambda n: 7.0, (30,), True),
        (lambda x: x[0], (b"raw",), False),
        (lambda f, x: f(x), (np.sin, X), True),
        (lambda x, n: x[:n].sum() if n == 20 else 1 / 0, (X, 20), True),
        (lambda n: 1.0 if n == 20 else 1 / 0, (20,), False),
    ],
)
def test_what_was_not_tried_is_said(
    function: Callable[..., Any], given: tuple[Any, ...], *, tried: bool
) -> None:
    told = _told(function, Call(given, {}), [])
    why = untried(_seen(told))
    assert (why is None) == tried, told
    assert len(told["varied"]) + len(told["not_varied"]) >= len(given)


def test_an_argument_for_which_it_compiles_is_named_and_the_others_are_tried() -> None:
    compiled: list[int] = []

    def f(x: np.ndarray[Any, Any], n: int) -> float:
        if n not in compiled:
            compiled.append(n)
            time.sleep(WORK_S)
        return float(x[:n].sum())

    f(X, 20)
    told = _told(f, Call((X, 20), {}), compiled)
    assert told["varied"] == ["x"]
    assert told["not_varied"]["n"]["code"] == "compiled_in_window"
    assert told["answer_changed"]
    assert untried(_seen(told)) is None


def test_a_call_that_takes_seconds_is_tried_once() -> None:
    calls: list[float] = []

    def f(x: float) -> float:
        calls.append(x)
        time.sleep(1.1)
        return x

    told = _told(f, Call((2.5,), {}), [])
    assert told["other_arguments_s"] > 1
    assert set(told["reasons"]) == {"paused_s", "collecting_s"}
    assert len({one for one in calls if one != 2.5}) == 1


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda x: x.sum(), X),
        (np.sort, X),
        (_work, 3),
        (lambda n: sum(range(n)), 100_000),
        (lambda x: x, None),
    ],
)
def test_an_honest_function_has_no_caution(function: Callable[..., Any], given: object) -> None:
    assert _shown(function, given) == set()


def test_a_call_with_other_numbers_that_compiles_is_not_held_against_it() -> None:
    compiled: list[int] = []

    def f(n: float) -> float:
        if n not in compiled:
            compiled.append(n)  # type: ignore[arg-type] # any number
            time.sleep(WORK_S)
        return n

    told = _told(f, Call((3.0,), {}), compiled)
    assert _codes(told) == set()
    assert told["reasons"]["other_arguments_s"]["code"] == "compiled_in_window"


def test_what_takes_no_other_numbers_tells_why() -> None:
    def f(x: np.ndarray[Any, Any]) -> float:
        if x[0] != X[0]:
            message = "only that one"
            raise ValueError(message)
        return 1.0

    reason = _told(f, Call((X,), {}), [])["reasons"]["other_arguments_s"]
    assert reason == {
        "code": "exception",
        "values": {"error": "ValueError", "text": "only that one"},
    }
    told = _told(lambda: 1.0, Call((), {}), [])
    assert told["reasons"]["other_arguments_s"]["code"] == "no_other_arguments"


def test_a_call_that_is_quick_only_when_called_at_once_is_found() -> None:
    last = [0.0]

    def f() -> None:
        if time.monotonic() - last[0] > WORK_S:
            time.sleep(WORK_S)
        last[0] = time.monotonic()

    assert _shown(f) == {"slow_after_pause"}


def test_garbage_that_is_left_to_the_collector_is_found() -> None:
    def f() -> int:
        made: list[Any] = [[] for _ in range(2000)]
        for one in made:
            one.append(one)
        return len(made)

    callbacks = list(gc.callbacks)
    assert "collecting" in _shown(f)
    assert gc.isenabled()
    assert gc.callbacks == callbacks


def test_a_collector_that_is_off_stays_so() -> None:
    gc.disable()
    try:
        told = _told(lambda: [[] for _ in range(99)], Call((), {}), [])
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert told["reasons"]["collecting_s"]["code"] == "collector_off"


def test_other_numbers_have_the_same_types_and_shapes() -> None:
    given = {"a": [np.float32(1.0), np.ones((2, 3), dtype="f4")], "b": (np.arange(3), 5, "text")}
    same = varying._varied(given, 1)
    assert same["a"][0] != 1.0
    assert type(same["a"][0]) is np.float32
    assert same["a"][1].dtype == np.float32
    assert same["a"][1].shape == (2, 3)
    assert np.all(same["a"][1] > 1.0)
    assert np.array_equal(same["b"][0], np.arange(3))
    assert same["b"][0] is not given["b"][0]
    assert same["b"][1:] == (5, "text")
    assert np.all(given["a"][1] == 1.0)


def test_arrays_of_jax_and_pytorch_are_varied_without_a_program_of_jax() -> None:
    jax = pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    step = jax.jit(lambda x, n: x * n)
    given = jax.device_put(np.ones(3, dtype="f4"))
    step(given, 2.0)
    n_programs = step._cache_size()
    same = varying._varied({"x": given, "n": 2.0}, 1)
    assert np.all(np.asarray(same["x"]) > 1.0)
    assert (same["x"].dtype, same["x"].shape) == (given.dtype, given.shape)
    step(same["x"], same["n"])
    assert step._cache_size() == n_programs
    tensor = torch.ones(3, dtype=torch.float32, requires_grad=True)
    made = varying._varied(tensor, 1)
    assert made.requires_grad
    assert made.is_leaf
    assert made.dtype == torch.float32
    assert bool((made > 1.0).all())
    whole = varying._varied(torch.tensor([5, 0, 7]), 0.1)
    assert sorted(whole.tolist()) == [0, 2, 7]


@pytest.mark.slow
def test_a_process_that_ends_in_another_call_loses_nothing_that_was_measured(
    tmp_path: Path,
) -> None:
    source = "import os\nseen = []\ndef f(x):\n    seen.append(x)\n"
    source += "    return 1.0 if x == seen[0] else os._exit(9)\n"
    (tmp_path / "own.py").write_text(source)
    command = "-m coldwarm bench own.py:f --input x=2.5 --warm-only --rounds 1 --max-rounds 1"
    out = tmp_path / "out"
    subprocess.run(
        [sys.executable, *command.split(), "--out", str(out)],
        cwd=tmp_path,
        check=True,
        timeout=120,
    )
    (seen,) = decode((out / "cases" / "f.json").read_bytes(), type=CaseResult).observations
    assert seen.status == "ok"
    assert seen.other_calls is None
    assert seen.null_reasons["other_calls"].code == "exited"


@pytest.mark.parametrize("given", [(), ("--input", "x=f64[9]")])
def test_the_command_makes_the_calls_with_and_without_arguments(
    desk: Desk, given: tuple[str, ...]
) -> None:
    parameters = "x" if given else ""
    desk.write("mine.py", f"def f({parameters}):\n    return 1.0\n")
    assert desk.bench("mine.py:f", "--warm-only", *given).code == 0
    calls = desk.case("f")["observations"][0]["other_calls"]
    assert calls["paused_s"] > 0
    assert calls["collecting_s"] is not None
    assert (calls["other_arguments_s"] is not None) == bool(given), calls
    expected = set() if given else {"other_arguments_s", "answers_checked"}
    assert set(calls["null_reasons"]) == expected


@pytest.mark.slow
def test_three_processes_show_other_calls_and_later_ones_make_room_for_more_rounds(
    desk: Desk,
) -> None:
    desk.write("mine.py", "def f(x):\n    return x + 1.0\n")
    given = ("--input", "x=f64[64]", "--warm-only", "--rounds", "5", "--max-rounds", "5")
    assert desk.bench("mine.py:f", *given).code == 0
    seen = desk.case("f")["observations"]
    assert [one["other_calls"] is not None for one in seen] == [True] * 3 + [False] * 2
    assert [one["null_reasons"].get("other_calls") for one in seen[3:]] == [
        {"code": "shown_by_others"}
    ] * 2


OWN = """
    import numpy as np

    class Lattice:
        def __init__(self):
            self.field = np.linspace(0.0, 1.0, 900).reshape(30, 30)

        def energy(self, power=2, name="all"):
            return (self.field**power).sum()

    lattice = Lattice()

    def scaled(scale=1.5, rounds=3, *, shift=np.ones(4)):
        return (np.arange(900.0) * scale).sum() + rounds + shift.sum()

    def alone():
        return np.arange(900.0).sum()

    KEPT = []

    def kept(tolerance=1e-6):
        KEPT[:] = KEPT or [np.arange(900.0).sum()]
        return KEPT[0]

    class Keeper:
        def __init__(self):
            self.field = np.ones(9)

        def total(self):
            return kept()

    keeper = Keeper()
"""


@pytest.mark.parametrize(
    ("name", "arguments", "varied"),
    [
        ("lattice.energy", ["Lattice", "2"], {"self"}),
        ("scaled", ["1.5", "3", "numpy float64[4]"], {"scale", "shift"}),
        ("alone", [], set()),
        # What the answer does not depend on tells nothing of the data that it is of.
        ("kept", ["1e-06"], set()),
        ("keeper.total", ["Keeper"], set()),
    ],
)
def test_an_object_and_defaults_are_arguments(
    desk: Desk, name: str, arguments: list[str], varied: set[str]
) -> None:
    desk.write("own.py", OWN)
    code, _ = desk.report(f"own=own.py:{name}")
    assert code == 0
    assert desk.own("own")["arguments"] == arguments
    tried = [one["other_calls"] for one in desk.case("own")["observations"]]
    (seen,) = (one for one in tried if one is not None)
    assert varied <= set(seen.get("varied") or ())
    assert bool(varied) == bool(seen.get("varied"))
    told = desk.case("own")["warnings"]
    assert any(one["kind"] == "untried" for one in told) == (not varied)
