"""What a function takes from around it is told from what an earlier one of its code took."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from coldwarm.doctor.record.compiled_functions import ClosureVariables

if TYPE_CHECKING:
    from collections.abc import Callable

OFFSET = 1


def made(scale: float, table: Any) -> Callable[[float], float]:
    def shifted(x: float) -> float:
        return x + scale + OFFSET + len(table)

    return shifted


def around(inner: Callable[[float], float]) -> Callable[[float], float]:
    def outer(x: float) -> float:
        return inner(inner(x))

    return outer


def argument_names(before: Any, now: Any) -> list[str]:
    return [
        one["argument"] for one in ClosureVariables(now).since(ClosureVariables(before))["held"]
    ]


def test_numbers_of_a_closure_a_partial_and_a_module_are_told(monkeypatch: Any) -> None:
    table = np.zeros(3)
    (told,) = ClosureVariables(made(2.0, table)).since(ClosureVariables(made(1.0, table)))["held"]
    assert told == {"argument": "scale", "before": "1.0", "now": "2.0"}
    partials = [functools.partial(made, scale) for scale in (1.0, 2.0)]
    assert argument_names(*partials) == ["argument 1"]
    before = ClosureVariables(made(1.0, table))
    monkeypatch.setattr(f"{__name__}.OFFSET", 2)
    (told,) = ClosureVariables(made(1.0, table)).since(before)["held"]
    assert told["argument"] == "OFFSET"


def test_numbers_that_a_function_inside_of_it_holds_are_told() -> None:
    assert argument_names(around(made(1.0, ())), around(made(2.0, ()))) == ["scale"]


def test_arrays_are_told_by_name_where_they_are_others() -> None:
    one, other = np.zeros(3), np.zeros(3)
    first = ClosureVariables(made(1.0, one))
    assert ClosureVariables(made(1.0, one)).since(first) == {"held": [], "taken": []}
    assert ClosureVariables(made(1.0, other)).since(first)["taken"] == ["table"]
    nested = [{"a": [one]}, {"a": [one]}]
    assert ClosureVariables(made(1.0, nested[1])).since(ClosureVariables(made(1.0, nested[0])))[
        "taken"
    ] == ["table"]
    numbers = [{"a": 1}, {"a": 2}]
    assert (
        ClosureVariables(made(1.0, numbers[1])).since(ClosureVariables(made(1.0, numbers[0])))[
            "taken"
        ]
        == []
    )


def test_nothing_of_the_users_is_asked() -> None:
    class Shy:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    shy = Shy()
    assert ClosureVariables(made(1.0, shy)).since(ClosureVariables(made(1.0, shy))) == {
        "held": [],
        "taken": [],
    }
