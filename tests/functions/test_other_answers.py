"""Answers to other data: a candidate that ignores its input is wrong, an honest one is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from msgspec import convert

from coldwarm.contracts.reasons import Reason
from coldwarm.functions import other_calls, sensitivity, varying
from coldwarm.functions.arguments import Call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Function = Callable[..., Any]

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=40), RNG.normal(size=40)
ROWS = RNG.normal(size=(6, 6))
LABELS = RNG.integers(0, 5, 40)
SORTED = np.sort(X)
P = np.abs(X) / np.abs(X).sum()
TURN = np.linalg.qr(ROWS)[0]


def _moves(reference: Function) -> Callable[[Any, Any], dict[str, Any]]:
    return lambda given, answer: sensitivity.moves(
        lambda flat: reference(*flat), given, answer, "float64"
    )


def _held(
    reference: Function, candidate: Function, given: tuple[Any, ...], path: Path, *, strict: bool
) -> dict[str, Any]:
    """Hold a candidate against a reference, each in a process of its own but for this test."""
    call = Call(given, {})

    def others(number: float) -> varying.Other:
        return varying.given(call.copied(), number, varying.names_of(reference, call))

    place = str(path / "reference.npz")
    job = {"seed": 3, "tolerance": 1e-8, "repeats": True, "strict": strict}
    other_calls.write_answers(place, lambda flat: reference(*flat), others, 3, _moves(reference))
    return other_calls.check_answers(
        place, lambda flat: candidate(*flat), lambda: call.copied().flat, others, job
    )


def _code(held: dict[str, Any]) -> str:
    """Return what was said of a candidate."""
    for said in (held["unlike"], held["unchecked"]):
        if said is not None:
            return convert(said, Reason).code
    reason = held["gate"]["reason"]
    return "" if reason is None else convert(reason, Reason).code


def _total(x: Any) -> float:
    return float(np.sum(x))


KEPT: dict[str, Any] = {}


def _first_only(x: Any) -> float:
    return KEPT.setdefault("first", _total(x))  # type: ignore[no-any-return] # a float


@pytest.mark.parametrize(
    ("reference", "candidate", "given"),
    [
        (_total, lambda x: _total(X), (X,)),
        (_total, lambda x: X.sum(), (X,)),
        (_total, _first_only, (X,)),
        (np.sort, lambda x: SORTED, (X,)),
        (np.dot, lambda x, y: X @ Y, (X, Y)),
        (np.dot, lambda x, y: x @ Y, (X, Y)),
        (lambda x, a: a * x, lambda x, a: 2.5 * x, (X, 2.5)),
        (lambda n: sum(range(n)), lambda n: 780, (40,)),
        (lambda d: d["x"] * d["a"], lambda d: X * 0.5, ({"x": X, "a": 0.5},)),
        (np.linalg.inv, lambda m: np.linalg.inv(ROWS), (ROWS,)),
        (lambda i: np.bincount(i, minlength=5), lambda i: np.bincount(LABELS), (LABELS,)),
        (lambda t: t.count("e"), lambda t: 7, ("where is the letter here",)),
        (lambda x, i: x[i], lambda x, i: x[LABELS], (X, LABELS)),
        (lambda pairs: pairs[0] @ pairs[1], lambda pairs: X @ Y, ([X, Y],)),
        (np.abs, lambda m: np.abs(ROWS), (ROWS,)),
    ],
)
def test_one_that_ignores_its_input_is_wrong(
    reference: Function, candidate: Function, given: tuple[Any, ...], tmp_path: Path
) -> None:
    KEPT.clear()
    KEPT["first"] = _total(X)
    assert np.allclose(candidate(*given), reference(*given))
    for strict in (False, True):
        held = _held(reference, candidate, given, tmp_path, strict=strict)
        assert _code(held) == "ignores_arguments"
        assert not held["gate"]["passed"]


@pytest.mark.parametrize(
    ("reference", "candidate", "given"),
    [
        (_total, lambda x: float(x.sum()), (X,)),
        (np.sort, lambda x: np.array(sorted(x)), (X,)),
        (np.dot, lambda x, y: (x * y).sum(), (X, Y)),
        (np.searchsorted, lambda a, v: np.array([(a < one).sum() for one in v]), (SORTED, Y)),
        (lambda x, n: x[:n], lambda x, n: x[: n + 0], (X, 7)),
        (np.array, lambda x: np.array(list(x)), ([1.5, 2.5],)),
        (lambda x: x, np.array, ([1.5, 2.5, 7.0],)),
        (lambda x: x - x.mean(), lambda x: x - float(np.mean(list(x))), (X,)),
        (lambda x: np.sum(x * 1e9) - 1e9 * x.sum() + x, lambda x: x + 0.0, (X,)),
        (lambda n: np.arange(n).sum(), lambda n: n * (n - 1) // 2, (40,)),
        (np.unique, lambda i: np.array(sorted(set(i.tolist()))), (LABELS,)),
        (lambda t: t.split(), lambda t: t.split(" "), ("some words of a text",)),
        (lambda x, how: getattr(np, how)(x), lambda x, how: x.mean(), (X, "mean")),
        (lambda m: np.linalg.solve(m, m[0]), lambda m: np.linalg.inv(m) @ m[0], (ROWS,)),
        (lambda x: x / np.linalg.norm(x), lambda x: x / np.sqrt(x @ x), (X,)),
    ],
)
def test_an_honest_one_is_right(
    reference: Function, candidate: Function, given: tuple[Any, ...], tmp_path: Path
) -> None:
    held = _held(reference, candidate, given, tmp_path, strict=False)
    assert _code(held) == ""
    assert held["gate"]["passed"]


@pytest.mark.parametrize(
    ("reference", "candidate", "given"),
    [
        (lambda p: p / p.sum(), lambda p: p * 1.0, (P,)),
        (lambda p: np.cumsum(p)[-1], lambda p: p.sum() ** 2, (P,)),
        (np.linalg.inv, lambda m: m.T, (TURN,)),
        (lambda q: q / np.linalg.norm(q), lambda q: q + 0.0, (X / np.linalg.norm(X),)),
    ],
)
def test_one_that_relies_on_what_it_was_given_is_told_and_not_called_wrong(
    reference: Function, candidate: Function, given: tuple[Any, ...], tmp_path: Path
) -> None:
    held = _held(reference, candidate, given, tmp_path, strict=False)
    assert _code(held) == "unlike_for_others"
    assert held["gate"] is None
    held = _held(reference, candidate, given, tmp_path, strict=True)
    assert _code(held) == "wrong_for_others"
    assert not held["gate"]["passed"]


@pytest.mark.parametrize(
    ("reference", "candidate", "given", "code"),
    [
        (lambda: 1.0, lambda: 1.0, (), "no_other_answers"),
        (lambda x: RNG.normal(), lambda x: 1.0, (X,), "no_other_answers"),
        (lambda x: 1 / (x[0] == X[0]), lambda x: 1.0, (X,), "no_other_answers"),
        (lambda how: 1.0, lambda how: 1.0, ("mean",), "no_other_answers"),
        (_total, lambda x: _total(x) / int(x[0] == X[0]), (X,), "exception"),
    ],
)
def test_what_could_not_be_checked_tells_why(
    reference: Function, candidate: Function, given: tuple[Any, ...], code: str, tmp_path: Path
) -> None:
    with np.errstate(all="raise"):
        assert _code(_held(reference, candidate, given, tmp_path, strict=True)) == code


def test_a_candidate_with_other_data_is_not_held_against_the_reference(tmp_path: Path) -> None:
    place = str(tmp_path / "reference.npz")

    def others(data: Any) -> Callable[[float], varying.Other]:
        return lambda number: varying.given(Call((data,), {}), number, ["x"])

    other_calls.write_answers(place, lambda flat: flat[0].sum(), others(X), 3, _moves(np.sum))
    job = {"seed": 3, "tolerance": 1e-8, "repeats": True, "strict": False}
    for data in (Y, "mean"):
        found = other_calls.check_answers(
            place, lambda flat: flat[0].sum(), lambda: (X,), others(data), job
        )
        assert _code(found) == "other_data_differ"
    single = X.astype("f4")
    job["tolerance"] = 1e-4
    found = other_calls.check_answers(
        place, lambda flat: flat[0].sum(), lambda: (single,), others(single), job
    )
    assert _code(found) == ""
