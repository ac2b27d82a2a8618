"""Loops of operations outside of ``jit``: what each new size compiles, and who says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S, MAIN, OTHER
from tests.doctor.reports import worded

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

PATH = "/windows.py"
TEXT = """\
for n in range(10, 40):
    window = data[:n]
    total = window * window
    kept = jnp.append(kept, total.sum())
"""
MANY, FEW, TURNS = 20, 6, 120


def operation(
    number: int, line: int, name: str, before: str, now: str, **more: Any
) -> list[dict[str, Any]]:
    """Return the rows of an operation that was compiled for a shape; ``before``: for another."""
    differing = [{"kind": "shape", "argument": "x", "before": before, "now": now}] if before else []
    row = journals.call(
        number,
        stack=[[PATH, line, "<module>"]],
        function={"name": name, "path": "/jax/numpy.py", "line": 1, "whose": "framework"},
        cause={"kind": "again" if before else "first", "differences": differing},
        signature={"arguments": {"x": now}, "static": {}},
        **more,
    )
    return [row, journals.stage(number, float(number), {"compile": 0.5})]


def sliced(number: int, line: int = 2) -> list[dict[str, Any]]:
    """Return the rows of a slice of another length: its arguments are as before."""
    rows = operation(number, line, "dynamic_slice", "", "f32[200]")
    rows[0]["function"]["operation"] = True
    rows[0]["cause"] = {"kind": "operation", "differences": []}
    return rows


def sizes(n: int, form: str = "f32[{n}]", name: str = "multiply") -> list[dict[str, Any]]:
    """Return the rows of an operation that was compiled for so many sizes, one after another."""
    shapes = [form.format(n=at, m=7 * at % 11) for at in range(10, 10 + n)]
    pairs = zip(["", *shapes], shapes, strict=False)
    return [
        row
        for at, (before, now) in enumerate(pairs)
        for row in operation(100 + at, 3, name, before, now)
    ]


def found(
    rows: list[dict[str, Any]], counts: list[int] | None = None, **more: Any
) -> list[Finding]:
    seen = ProcessTrace.of(
        [journals.process(**more), *rows], counts or [], SourceFiles({PATH: TEXT})
    )
    return findings(seen)


def test_a_loop_whose_arrays_grow_is_named_where_it_takes_longest() -> None:
    (one,) = found(sizes(MANY))
    assert (one.pattern, one.line, one.n) == ("shape-change", 3, MANY - 1)
    assert one.cost_s == one.saving_s == pytest.approx(0.5 * (MANY - 1))
    assert one.says.values["n_shapes"] == MANY
    assert (one.says.values["before"], one.says.values["now"]) == ("f32[28]", "f32[29]")


def test_the_line_that_makes_the_arrays_comes_first() -> None:
    slices = [row for at in range(MANY) for row in sliced(200 + at)]
    (one,) = found(sizes(MANY) + slices)
    assert (one.line, one.n) == (2, 2 * (MANY - 1))


def test_programs_from_a_cache_are_told_as_such() -> None:
    rows = [row | {"hit": True} if row["kind"] == "stage" else row for row in sizes(MANY)]
    (one,) = found(rows)
    assert one.saving_from is not None
    assert one.saving_from.code == "saving_read"
    assert "all of these programs were found in a cache" in worded(one).text


def test_what_two_threads_compile_at_once_is_counted_once() -> None:
    rows = [row | {"thread": MAIN} if row["kind"] == "call" else row for row in sizes(MANY)]
    beside = [dict(row) for row in sizes(MANY, name="add")]
    for row in beside:
        row["call"] += 100
        if row["kind"] == "call":
            row["thread"] = OTHER
    (one,) = found(rows + beside)
    assert one.n == 2 * (MANY - 1)
    assert one.cost_s == pytest.approx(0.5 * (MANY - 1))


@pytest.mark.parametrize(
    "rows",
    [sizes(FEW), sizes(MANY, "f32[{n},{m}]"), [row for n in range(MANY) for row in sliced(n)]],
)
def test_a_few_sizes_and_the_layers_of_a_network_are_let_alone(rows: list[dict[str, Any]]) -> None:
    assert found(rows) == []


def test_squares_have_one_size() -> None:
    (one,) = found(sizes(MANY, "f32[{n},{n}]"))
    assert one.says.values["n_shapes"] == MANY


def test_a_loop_that_appends_is_named_for_that_alone() -> None:
    appended = [
        row
        for at in range(MANY)
        for row in operation(300 + at, 4, "append", f"f32[{at}]", f"f32[{at + 1}]")
    ]
    (one,) = found(sizes(MANY) + appended, sees_calls=False)
    assert (one.pattern, one.line) == ("growing-array-concat", 4)
    assert one.says.values["call"] == "append"


def test_a_loop_whose_function_is_compiled_again_is_named_for_that_alone() -> None:
    users = [dict(row) for row in sizes(FEW, name="score")]
    for row in users:
        row["call"] += 100
        if row["kind"] == "call":
            row["function"] = {"name": "score", "path": PATH, "line": 9, "whose": "user"}
    (one,) = found(sizes(MANY) + users)
    assert one.says.code == "doctor_shape"


def dispatched() -> list[dict[str, Any]]:
    return [
        {
            "kind": "place",
            "at_s": BEGIN_S,
            "what": "operation",
            "name": "operator",
            "stack": [[PATH, line, "<module>"]],
            "slot": 4 * at,
            "bound": [],
        }
        for at, line in enumerate((2, 3, 4))
    ]


@pytest.mark.parametrize(("n", "patterns"), [(TURNS, {"shape-change"}), (MANY, None)])
def test_jit_alone_is_no_advice_where_most_turns_have_another_size(
    n: int, patterns: set[str] | None
) -> None:
    counts = [TURNS, 10**9, 0, 0] * 3
    told = {one.pattern for one in found(sizes(n) + dispatched(), counts)}
    assert told == (patterns or {"shape-change", "no-jit-hot-loop"})
