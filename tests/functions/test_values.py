"""What functions take and give, of whatever framework."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.functions import unfinished, values

if TYPE_CHECKING:
    from collections.abc import Callable

Pair = namedtuple("Pair", ["first", "second"])  # noqa: PYI024 - as users write it


@dataclasses.dataclass
class Fit:
    """What a fit may return."""

    slope: Any
    offset: Any


def jax_array(array: np.ndarray[Any, Any]) -> Any:
    return pytest.importorskip("jax.numpy").asarray(array)


def torch_tensor(array: np.ndarray[Any, Any]) -> Any:
    return pytest.importorskip("torch").tensor(array)


def numpy_array(array: np.ndarray[Any, Any]) -> Any:
    return array


FRAMEWORKS = [
    numpy_array,
    pytest.param(jax_array, marks=pytest.mark.slow),
    pytest.param(torch_tensor, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("placed", FRAMEWORKS)
def test_leaves_come_in_one_order_for_all_frameworks(placed: Callable[..., Any]) -> None:
    one, two, three = (placed(np.full(2, n, "float32")) for n in (1, 2, 3))
    value = {"z": one, "a": [None, two], "m": Fit(three, {10: 4.0, 9: None}), "n": Pair(5, ())}
    assert [float(np.asarray(leaf).flat[0]) for leaf in values.leaves(value)] == [2, 3, 4, 5, 1]


@pytest.mark.parametrize("placed", FRAMEWORKS)
def test_the_same_numbers_have_the_same_digest(placed: Callable[..., Any]) -> None:
    array = np.arange(6, dtype="float32").reshape(2, 3)
    digest = values.digest([array])
    assert values.digest([placed(array)]) == digest
    assert values.digest((placed(array.copy()), None)) == digest
    for other in (array + 1, array.reshape(3, 2), array.astype("int32")):
        assert values.digest([placed(other)]) != digest


@given(st.lists(st.floats(width=32), min_size=1, max_size=5), st.integers(0, 4))
def test_any_changed_bit_changes_the_digest(numbers: list[float], where: int) -> None:
    array = np.array(numbers, "float32")
    other = array.copy()
    other.view("uint32")[where % len(numbers)] ^= 1
    assert values.digest(array) == values.digest(array.copy())
    assert values.digest(array) != values.digest(other)


@pytest.mark.parametrize("placed", FRAMEWORKS)
def test_a_duplicate_has_arrays_of_its_own(placed: Callable[..., Any]) -> None:
    array = placed(np.zeros(3, "float32"))
    value = {"a": [array, 1], "p": Pair(array, "text"), "d": defaultdict(list, k=array)}
    copy = values.duplicate(value)
    assert values.digest(copy) == values.digest(value)
    assert type(copy["p"]) is Pair
    assert type(copy["d"]) is defaultdict
    assert copy["d"].default_factory is list
    inside = zip(values.leaves(copy), values.leaves(value), strict=True)
    assert all(a is not b for a, b in inside if values.is_array(a))


@pytest.mark.parametrize("kind", [dict, OrderedDict, Counter])
def test_a_duplicate_is_of_the_same_class(kind: type) -> None:
    made = kind({"a": 1})
    copy = values.duplicate(made)
    assert type(copy) is kind
    assert copy == made
    assert copy is not made


class Boxed:
    """A class of a user's own."""

    def __init__(self, inside: Any) -> None:
        """Hold something."""
        self.inside = inside


class Named(dict[str, Any]):
    """A dictionary whose items are attributes, as many have written."""

    def __getattr__(self, name: str) -> Any:
        """Return an item."""
        return self[name]


class Point(tuple[Any, ...]):
    """A tuple that is made in its own way."""

    __slots__ = ()

    def __new__(cls, x: Any, y: Any) -> Self:
        """Take two values."""
        return super().__new__(cls, (x, y))


@pytest.mark.parametrize(
    "make",
    [
        lambda array: Fit(array, 1),
        dataclasses.make_dataclass("Frozen", ["a"], frozen=True),
        lambda array: Point(array, 2),
        lambda array: [Fit([array], None)],
    ],
)
def test_a_duplicate_of_anything_that_can_be_opened_has_its_own_arrays(
    make: Callable[[Any], Any],
) -> None:
    array = np.zeros(3)
    value = make(array)
    copy = values.duplicate(value)
    assert type(copy) is type(value)
    for leaf in values.leaves(copy):
        if isinstance(leaf, np.ndarray):
            leaf[:] = 1
    assert array.sum() == 0


def test_what_cannot_be_opened_is_copied_whole_where_it_can_be() -> None:
    boxed = Boxed(np.zeros(3))
    values.duplicate(boxed).inside[:] = 1
    assert boxed.inside.sum() == 0
    named = Named(w=np.zeros(2))
    assert values.duplicate(named).w is not named.w
    assert values.duplicate(sys) is sys
    buffer = bytearray(3)
    assert values.duplicate(buffer) is not buffer


def test_extended_precision_is_told_apart_by_its_numbers_alone() -> None:
    one = np.full(50, 1, np.longdouble) / 3
    assert values.digest(one) == values.digest(one.copy())
    assert values.digest(one) == values.digest(one + np.longdouble(0))
    assert values.digest(one) != values.digest(np.nextafter(one, np.longdouble(1)))


def generated() -> Any:
    yield 1


async def awaited() -> None:
    """Do nothing, later."""


@pytest.mark.parametrize(
    "value", [map(abs, [1]), zip([1], [2], strict=True), generated(), Future(), [iter([1])]]
)
def test_what_has_not_been_computed_is_refused(value: object) -> None:
    with pytest.raises(unfinished.UnfinishedError, match="lazy_result"):
        unfinished.refuse_unknown(value)


def test_a_coroutine_is_refused_and_leaves_no_warning() -> None:
    with pytest.raises(unfinished.UnfinishedError) as refused:
        unfinished.refuse_unknown(awaited())
    assert refused.value.coded_reason["values"] == {"kind": "coroutine"}


def test_plain_results_are_finished() -> None:
    for value in (None, 1.0, "text", np.zeros(2), Fit(1, [np.ones(2)]), Boxed(np.ones(2))):
        unfinished.refuse_unknown(value)


@pytest.mark.slow
def test_jax_inside_classes_is_waited_for() -> None:
    """JAX takes a dataclass that it does not know for one value, which is always there."""
    jax = pytest.importorskip("jax")
    step = jax.jit(lambda x: jax.lax.fori_loop(0, 60, lambda _, y: y @ y / 600, x))
    x = jax.numpy.ones((600, 600))
    jax.block_until_ready(step(x))
    wraps: list[Callable[[Any], Any]] = [lambda y: Fit(y, 1), lambda y: {"a": [Fit(y, None)]}]
    wraps += [lambda y: [Boxed(y)], lambda y: deque([Boxed(y)])]
    for wrap in wraps:
        out = step(x)
        unfinished.wait(wrap(out))
        assert out.is_ready()


def test_numpy_finishes_by_itself_and_nothing_has_to_be_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = [np.zeros(3), np.float64(2.0), 1.0, None]
    monkeypatch.setattr(unfinished, "may_go_on", lambda: False)
    assert unfinished._waiters(given) == []
    assert unfinished._waiters(None) == []
    monkeypatch.setattr(unfinished, "may_go_on", lambda: True)
    assert [unfinished._waiters(one) for one in (None, 1.0, np.zeros(3))] == [[], [], []]
    asked: list[object] = []
    waits = unfinished._waiters(given)  # another list may hold what has to be waited for
    monkeypatch.setattr(unfinished, "wait", asked.append)
    for wait in waits:
        wait(given)
    assert asked == []


@pytest.mark.slow
def test_jax_is_waited_for_wherever_it_is_in_an_output() -> None:
    array = jax_array(np.zeros(3, "float32"))
    assert len(unfinished._waiters(array)) == 1
    assert len(unfinished._waiters({"a": (array, np.zeros(2))})) == 1
    unfinished.wait([array, {"b": array}])


@pytest.mark.parametrize("value", ["text", b"bytes", object(), {1, 2}, lambda: None])
def test_what_holds_no_numbers_cannot_be_compared(value: object) -> None:
    leaf = next(iter(values.leaves(value)))
    said = f"holds a {type(value).__name__}, which cannot be compared: return arrays or numbers"
    with pytest.raises(values.NotNumericError, match=said):
        values._to_host(leaf)
    assert values.digest(value) == values.digest(value)


def test_a_framework_that_is_not_loaded_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jax", "torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert not values.is_jax(1)
    assert not values.is_torch(np.zeros(1))
    assert [*values.leaves(Fit(1, None))] == [1]
    assert "jax" not in sys.modules


@pytest.mark.slow
def test_numbers_of_torch_come_to_the_host_whatever_they_are() -> None:
    torch = pytest.importorskip("torch")
    wanting = torch.ones(2, requires_grad=True)
    assert values._to_host(wanting).tolist() == [1.0, 1.0]
    assert values.duplicate(wanting).requires_grad
    assert values._to_host(torch.ones(2, dtype=torch.bfloat16)).dtype == np.float32
    assert values._to_host(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
