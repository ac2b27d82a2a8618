"""What may not be computed when a function returns is refused, and nothing wakes it."""

from __future__ import annotations

import array
import ctypes
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import itertools
import pathlib
import threading
import types
import weakref
from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from coldwarm.functions import unfinished
from coldwarm.wire import because

if TYPE_CHECKING:
    from collections.abc import Callable


class Lazy:
    """An array of a library that nobody knows."""

    def __array__(self, *_: object, **__: object) -> Any:
        """Compute."""
        raise AssertionError("woken")


class Computing:
    """A value that computes in a method."""

    def compute(self) -> float:
        """Compute."""
        raise AssertionError("woken")


class Property:
    """A value that computes when it is read."""

    @property
    def result(self) -> float:
        """Compute."""
        raise AssertionError("woken")


class Proxy:
    """A proxy that computes as soon as it is asked for its class."""

    @property  # type: ignore[misc] # a proxy's trick
    def __class__(self) -> Any:
        """Compute."""
        raise AssertionError("woken")

    def __float__(self) -> float:
        """Compute."""
        raise AssertionError("woken")


class Slotted:
    """An object without a ``__dict__``."""

    __slots__ = ("inner", "unset")

    def __init__(self, inner: object) -> None:
        """Keep it."""
        self.inner = inner


class Plain:
    """An object of a user's own."""

    def __init__(self, inner: object) -> None:
        """Keep it."""
        self.inner = inner
        self._lock = threading.Lock()
        self._ids = itertools.count()

    def predict(self, x: float) -> float:
        """Return a number for an argument, as a method of a model does."""
        return x

    def result(self, name: str) -> object:
        """Return what has a name: a method that needs an argument."""
        return self.inner if name else None

    @property
    def rss(self) -> float:
        """Be asked, which nobody may do."""
        raise AssertionError("asked")


class Named(NamedTuple):
    """A tuple with names."""

    inner: object


@dataclasses.dataclass
class Fit:
    """A user's dataclass, with a field that is called like a method."""

    inner: object
    result: float = 0.0


class Colour(enum.Enum):
    """An enumeration."""

    RED = 1


def in_array(lazy: object) -> object:
    made = np.empty(2, dtype=object)
    made[1] = lazy
    return made


class Filled(np.ndarray):
    """An array of a user's, computed when it becomes a plain one."""

    def __array__(self, *_: object, **__: object) -> Any:
        """Compute."""
        raise AssertionError("woken")


class Cached:
    """An object that holds only the arguments."""

    def __init__(self) -> None:
        """Hold them."""
        self.x = np.ones(3)

    @functools.cached_property
    def answer(self) -> float:
        """Compute, once."""
        return 1.0


HIDING: list[Callable[[Any], Any]] = [
    lambda lazy: lazy,
    lambda lazy: [1.0, (lazy,)],
    lambda lazy: {"a": {lazy}},
    lambda lazy: {lazy: 1.0},
    lambda lazy: deque([lazy]),
    in_array,
    Slotted,
    lambda lazy: Plain([Plain(lazy)]),
    Named,
    Fit,
    lambda lazy: types.SimpleNamespace(a=lazy),
    lambda lazy: (1.0, lambda: lazy),
    lambda lazy: (1.0, functools.partial(print, lazy)),
    lambda lazy: (1.0, lazy.__init__),
    lambda lazy: {"a": lazy}.values(),
    lambda lazy: types.MappingProxyType({"a": lazy}),
    RuntimeError,
]


@pytest.mark.parametrize("hide", HIDING)
def test_what_is_known_to_come_later_is_refused_wherever_it_is(hide: Callable[[Any], Any]) -> None:
    with pytest.raises(unfinished.UnfinishedError, match="lazy_result"):
        unfinished.refuse_unknown(hide(Future()))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Lazy, "__array__"),
        (Computing, "compute"),
        (Property, "result"),
        (Proxy, "__float__"),
        (Cached, "answer"),
    ],
)
@pytest.mark.parametrize("hide", HIDING)
def test_what_may_compute_is_named_and_not_woken(
    kind: Callable[[], object], name: str, hide: Callable[[Any], Any]
) -> None:
    doubt = unfinished.refuse_unknown(hide(kind()))
    assert doubt == because("may_compute", kind=kind.__name__, attribute=name)


class Slow:
    """An array that is computed when NumPy asks for it."""

    def __array__(self, *_: object, **__: object) -> Any:
        """Compute."""
        return np.linalg.eigvalsh(np.ones((300, 300)) + np.eye(300))


class Ready:
    """A number that is there."""

    def __float__(self) -> float:
        """Return it."""
        return 1.5


def test_what_computes_when_it_is_asked_is_refused_with_what_that_took() -> None:
    with pytest.raises(unfinished.UnfinishedError, match="computes_when_asked") as caught:
        unfinished.refuse_unknown([Slow()], call_s=1e-6)
    values = caught.value.coded_reason["values"]
    assert (values["kind"], values["attribute"]) == ("Slow", "__array__")
    assert values["asked_s"] > values["call_s"]


@pytest.mark.parametrize("hide", HIDING[:10])
def test_what_gives_its_number_at_once_is_there(hide: Callable[[Any], Any]) -> None:
    assert unfinished.refuse_unknown(hide(Ready()), call_s=1.0) is None


def test_a_thread_at_work_is_no_time_of_an_object_that_gives_its_number_at_once() -> None:
    """A heartbeat, a server of metrics: it takes the interpreter's lock for milliseconds."""
    done = threading.Event()

    def compute() -> None:
        while not done.is_set():
            sum(range(20_000))

    threads = [threading.Thread(target=compute) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            unfinished.refuse_unknown([Ready() for _ in range(5)], call_s=1e-6)
    finally:
        done.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize(
    "value",
    [
        lambda: 1.0,
        functools.partial(sum, [1.0]),
        [abs, len],
        threading.Thread(target=print),
        ThreadPoolExecutor(1).submit(float),
        iter([1.0]),
    ],
)
def test_what_can_be_called_or_asked_later_is_no_result(value: object) -> None:
    with pytest.raises(unfinished.UnfinishedError, match="lazy_result"):
        unfinished.refuse_unknown(value)


def test_what_is_computed_or_read_when_somebody_looks_is_no_result(tmp_path: pathlib.Path) -> None:
    linalg = pytest.importorskip("scipy.sparse.linalg")
    np.savez(tmp_path / "a.npz", x=np.ones(3))
    np.save(tmp_path / "b.npy", np.ones(3))
    mapped = np.load(tmp_path / "b.npy", mmap_mode="r")
    operator = linalg.aslinearoperator(np.eye(3))
    with np.load(tmp_path / "a.npz") as archive:
        views = [mapped, mapped[:2], np.asarray(mapped), archive, operator @ operator]
        for value in views:
            with pytest.raises(unfinished.UnfinishedError, match="lazy_result"):
                unfinished.refuse_unknown([value])
    filled = unfinished.refuse_unknown(np.ones(3).view(Filled))
    assert filled == because("may_compute", kind="Filled", attribute="__array__")
    computed = Cached()
    assert computed.answer == 1.0
    written = np.memmap(tmp_path / "c", mode="w+", shape=3)
    unfinished.refuse_unknown([computed, written, operator, np.ones(3).view(np.matrix)])


def test_of_what_another_language_keeps_it_is_not_known() -> None:
    """A capsule is what arrays are handed on in; nobody can look into one."""
    doubt = unfinished.refuse_unknown({"a": np.zeros(3).__dlpack__()})
    assert doubt == because("not_opened", kind="PyCapsule")


def results() -> list[Any]:
    """Return what real functions return."""
    here = Plain(np.ones(3))
    here.itself = here  # type: ignore[attr-defined] # a ring
    return [
        *(None, 1.0, 1 + 2j, "text", b"bytes", [1, {"a": (2.0,)}], {1, 2}, deque([1.0])),
        *(np.float64(1), np.zeros(3), np.ma.ones(3), np.array([1, "a"], dtype=object)),
        *(np.zeros(3, [("a", "f4")]), np.random.default_rng(0), np.dtype("f4")),
        *(here, Slotted(np.ones(3)), Named(1.0), Fit(np.ones(3)), Counter("ab"), Colour.RED),
        *(memoryview(b"ab"), array.array("d", [1.0]), (ctypes.c_double * 3)(1, 2, 3)),
        *(dt.datetime.now(tz=dt.UTC), decimal.Decimal(1), pathlib.Path()),
        *((1.0, lambda: 2.0), {"params": np.ones(2), "apply": here.predict}, object()),
        *(types.SimpleNamespace(a=1.0), weakref.ref(here)() or 0, ValueError("text")),
    ]


@pytest.mark.parametrize("number", range(len(results())))
def test_what_real_functions_return_is_finished(number: int) -> None:
    unfinished.refuse_unknown(results()[number])


def test_results_of_scipy_are_finished() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    from scipy import integrate, interpolate, sparse, spatial, stats

    found = [
        optimize.minimize(lambda v: (v**2).sum(), np.ones(3), method="L-BFGS-B"),
        optimize.curve_fit(lambda x, a: a * x, np.arange(5.0), np.arange(5.0)),
        integrate.solve_ivp(lambda _, y: -y, (0, 1), [1.0], dense_output=True),
        spatial.cKDTree(np.ones((3, 2))),
        sparse.csr_matrix(np.eye(3)),
        interpolate.CubicSpline([0, 1, 2], [0, 1, 4]),
        stats.norm(0, 1),
        stats.ttest_ind(np.arange(5.0), np.arange(5.0) + 1),
    ]
    unfinished.refuse_unknown(found)


@pytest.mark.slow
def test_modules_of_torch_are_finished_and_its_futures_are_not() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
    state = torch.optim.Adam(model.parameters())
    unfinished.refuse_unknown([model, state, model.state_dict(), torch.Size([1]), torch.float32])
    with pytest.raises(unfinished.UnfinishedError, match="lazy_result"):
        unfinished.refuse_unknown([torch.futures.Future()])
    with pytest.raises(unfinished.UnfinishedError, match="opaque_result"):
        unfinished.refuse_unknown(torch.ones(2, device="meta"))


def test_a_large_result_of_numbers_is_opened_at_once() -> None:
    many = [float(n) for n in range(200_000)]
    assert unfinished._OpenedValue({"a": many}).lazy is None
