"""Values that a compiled function took, and that are others when it is called."""

from __future__ import annotations

from typing import Any

import pytest

from coldwarm.doctor.record.journal import Journal, Reader
from coldwarm.doctor.record.traced_values import StaleValues

SCALE = 2.0


class _Model:
    def __init__(self) -> None:
        self.rate = 1.0

    def step(self, x: float) -> float:
        return self.rate * x


class _ByValue(_Model):
    def __hash__(self) -> int:
        return hash(self.rate)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByValue) and self.rate == other.rate


class _ByName(_Model):
    """Leaves out of its hash and of what it is equal to what a function reads."""

    def __hash__(self) -> int:
        return hash(type(self).__name__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByName)


def scaled(x: float) -> float:
    return SCALE * x


def watched() -> tuple[StaleValues, Reader]:
    journal, reader = Journal(), Reader()
    journal.readers = (reader,)
    return StaleValues(journal), reader


def told(reader: Reader) -> list[tuple[str, str, str]]:
    return [(row["name"], row["before"], row["now"]) for row in reader.rows]


def called(values: StaleValues, function: Any, first: Any = None) -> None:
    values.called(function, first, 4)


def test_an_attribute_that_changes_is_told_once() -> None:
    values, reader = watched()
    model = _Model()
    values.compiled(_Model.step, {"self": model})
    called(values, _Model.step, model)
    assert told(reader) == []
    for rate in (2.0, 3.0):
        model.rate = rate
        called(values, _Model.step, model)
    values.settle()
    assert told(reader) == [("self.rate", "1.0", "2.0")]


@pytest.mark.parametrize(
    ("model", "bound", "named"),
    [
        (_Model(), False, True),  # the last call counts, too
        (_Model(), True, True),  # a bound method takes its object along
        (_ByValue(), False, False),  # what is told by what it holds is compiled anew
    ],
)
def test_what_the_function_took_is_held_against_what_is_there(
    model: _Model, *, bound: bool, named: bool
) -> None:
    values, reader = watched()
    function = model.step if bound else _Model.step
    values.compiled(function, {} if bound else {"self": model})
    model.rate = 2.0
    called(values, function, None if bound else model)
    assert told(reader) == []
    values.settle()
    assert told(reader) == [("self.rate", "1.0", "2.0")] * named


def test_what_is_compiled_again_for_a_call_is_as_it_is_now() -> None:
    values, reader = watched()
    model = _Model()
    values.compiled(_Model.step, {"self": model})
    model.rate = 2.0
    called(values, _Model.step, model)
    values.compiled(_Model.step, {"self": model})
    model.rate = 1.0  # the first program is there still
    called(values, _Model.step, model)
    values.settle()
    assert told(reader) == []


def test_a_variable_of_the_module_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    values, reader = watched()
    values.compiled(scaled, {})
    monkeypatch.setitem(scaled.__globals__, "SCALE", 5.0)
    called(values, scaled)
    values.settle()
    assert told(reader) == [("SCALE", "2.0", "5.0")]


@pytest.mark.parametrize(("kind", "named"), [(_ByName, True), (_ByValue, False), (_Model, False)])
def test_an_object_that_is_taken_for_another_one_is_told(
    kind: type[_Model], *, named: bool
) -> None:
    values, reader = watched()
    first, second = kind(), kind()
    values.compiled(_Model.step, {"model": first})
    second.rate = 2.0
    called(values, _Model.step, second)
    values.settle()
    assert told(reader) == [("model.rate", "1.0", "2.0")] * named


class _Unhashable(_Model):
    def __hash__(self) -> int:
        raise TypeError("it holds an array")


class _Incomparable(_Model):
    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")


@pytest.mark.parametrize("kind", [_Unhashable, _Incomparable])
def test_what_cannot_be_compared_is_let_alone(kind: type[_Model]) -> None:
    values, reader = watched()
    values.compiled(_Model.step, {"model": kind()})
    values.compiled(_Model.step, {"model": kind()})
    called(values, _Model.step, kind())
    values.settle()
    assert told(reader) == []
