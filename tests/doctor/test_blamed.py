"""Who made a line compile again is named with its count, and what is saved is what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.reports import worded

from coldwarm.doctor.judge import findings
from coldwarm.doctor.rules import change_of
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding


def differs(kind: str, argument: str, before: str, now: str) -> dict[str, str]:
    return {"kind": kind, "argument": argument, "before": before, "now": now}


def again(*differences: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"cause": {"kind": "again", "differences": list(differences)}, **more}


def found(
    *calls: dict[str, Any], begin_s: list[float] | None = None, framework: str = "jax"
) -> list[Finding]:
    """Return what is found where a call is the first, and others follow; each takes a second."""
    rows = [journals.process()]
    for at, more in enumerate([{}, *calls]):
        begin = begin_s[at] if begin_s else float(at)
        call = journals.call(at, framework=framework, **more)
        rows += [call, journals.stage(at, begin, {"compile": 1.0})]
    return findings(ProcessTrace.of(rows, [], SourceFiles({})))


def test_arguments_that_change_in_turn_have_each_a_finding_of_its_own() -> None:
    lengths = [*"aaaaa", *"bbbb"]
    first, second = found(
        *(
            again(differs("shape", name, "f32[3]", f"f32[{at + 4}]"))
            for at, name in enumerate(lengths)
        )
    )
    assert [first.n, first.cost_s, first.saving_s] == pytest.approx([5, 5, 5])
    assert [second.n, second.cost_s, second.saving_s] == pytest.approx([4, 4, 4])
    assert "again 5 times: `a` had 6 shapes" in worded(first).text
    assert "again 4 times: `b` had 5 shapes" in worded(second).text


def test_few_changes_of_each_argument_count_together() -> None:
    calls = [again(differs("shape", name, "f32[3]", "f32[4]")) for name in "aabb"]
    assert [one.n for one in found(*calls)] == [2, 2]
    assert found(*calls[:3]) == []


def test_arguments_that_change_in_one_call_are_named_together() -> None:
    (one,) = found(
        again(
            differs("dtype", "y", "i32[2]", "f32[2]"),
            differs("dtype", "t", "Python int", "Python float"),
        )
    )
    assert one.saving_s == pytest.approx(1)
    assert "`y` was i32[2], then f32[2]; `t` changed 1 time" in worded(one).text
    assert change_of(one) == "make it of one dtype before the call; the same for `t`"


def test_of_many_arguments_two_more_are_named() -> None:
    (one,) = found(again(*(differs("commitment", name, "False", "True") for name in "abcde")))
    assert worded(one).text.endswith(
        "`b` changed 1 time; `c` changed 1 time; 2 more arguments changed"
    )
    assert change_of(one).endswith("; the same for `b`, `c`, the others")


def test_another_shape_is_another_input_whatever_its_dtype_is() -> None:
    other = again(
        differs("dtype", "x", "f32[64,64]", "i32[10]"),
        differs("shape", "x", "f32[64,64]", "i32[10]"),
    )
    assert found(other) == []
    (one,) = found(other, other, other, other)
    assert (one.pattern, one.saving_s) == ("shape-change", None)
    assert "the dtype of x differed at the same time" in worded(one).estimate


def test_what_goes_away_with_the_dtype_does_not_count_beside_it() -> None:
    (one,) = found(
        again(
            differs("dtype", "x", "Python int", "f32[]"),
            differs("weak_type", "x", "Python int (weakly typed)", "f32[] (strongly typed)"),
        )
    )
    assert one.pattern == "dtype-change"
    assert one.saving_s == pytest.approx(1)


def test_the_example_is_of_a_call_in_which_nothing_else_differed() -> None:
    alone = again(differs("dtype", "x", "f32[8]", "f16[8]"))
    mixed = again(
        differs("dtype", "x", "f32[8]", "f64[8]"), differs("context", "jax_x", "False", "True")
    )
    (one,) = found(alone, mixed)
    assert [one.n, one.saving_s] == pytest.approx([2, 1])
    assert one.cause is not None
    assert (one.cause.before, one.cause.now) == ("f32[8]", "f16[8]")


def test_what_threads_compile_at_once_is_not_added_up() -> None:
    cause = {"kind": "new_function", "differences": [], "n_objects": 2}
    calls = [{"cause": cause, "thread": at} for at in range(1, 4)]
    (one,) = found(*calls, begin_s=[0.0, 0.0, 0.0, 0.0])
    assert [one.n, one.cost_s, one.saving_s] == pytest.approx([3, 1, 3 / 4])
    (one,) = found(*calls, begin_s=[0.0, 1.0, 2.0, 3.0])
    assert [one.cost_s, one.saving_s] == pytest.approx([3, 3])
    (one,) = found(*calls, begin_s=[0.0, 0.5, 2.0, 3.0])
    assert [one.cost_s, one.saving_s] == pytest.approx([3, 2.75])


@pytest.mark.parametrize(
    ("framework", "said"),
    [
        ("jax", "JAX_EXPLAIN_CACHE_MISSES=1"),
        ("torch", "TORCH_LOGS=recompiles"),
        ("numba", "`signatures`"),
    ],
)
def test_where_nothing_differed_it_is_said_what_tells_more(framework: str, said: str) -> None:
    (one,) = found(*[again()] * 3, framework=framework)
    assert said in change_of(one)
    assert (one.saving_s, worded(one).estimate) == (
        None,
        "it depends on what differed, which is not known",
    )


def test_a_function_that_holds_what_changes_is_to_be_given_it() -> None:
    held = [{"argument": "k", "before": "4", "now": "5"}]
    cause = {"kind": "new_function", "differences": [], "held": held, "taken": ["batch"]}
    (one,) = found(*[{"cause": cause}] * 2)
    assert "which holds `k`: 4, then 5; `batch`, which it takes from around it" in worded(one).text
    assert "give it `k`, `batch` as an argument" in change_of(one)
    (one,) = found(*[{"cause": {**cause, "held": []}}] * 2)
    assert "give it `batch` as an argument" in change_of(one)
    (one,) = found(*[{"cause": {**cause, "held": [], "taken": []}}] * 2)
    assert change_of(one).endswith("keep what jit returns")
    text = {**cause, "held": [{"argument": "mode", "before": "'a'", "now": "'b'"}], "taken": []}
    (one,) = found(*[{"cause": text}] * 2)
    assert "give it `mode` as a static argument" in change_of(one)
    assert one.saving_s is None


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("3", "4", "where it makes a shape, pad"),
        ("0.5", "0.25", "pass it as a plain argument: leave"),
        ("1e-05", "-inf", "pass it as a plain argument: leave"),
        ("(6, 6)", "(7, 7)", "pad to a few fixed sizes, so"),
        ("'sum'", "'mean'", "let it take few values"),
        ("None", "4", "where it makes a shape, pad"),
        ("<function f at 0x7f001122>", "<function f at 0x7f001133>", "make the function once"),
        ("<a.Spring object at 0x7f0011>", "<a.Spring object at 0x7f0012>", "keep one instance"),
        ("Options(scale=1.0)", "Options(scale=1.1)", "pass what changes in it"),
    ],
)
def test_what_to_change_of_a_static_argument_is_told_by_its_values(
    before: str, now: str, said: str
) -> None:
    (one,) = found(*[again(differs("static", "it", before, now))] * 3)
    assert said in change_of(one)
    assert (one.saving_s is None) == ("few values" in said and "pad" not in said)


def test_static_arguments_that_change_together_are_told_each() -> None:
    both = [
        differs("static", "scale", "0.1", "0.2"),
        differs("static", "f", "<function f at 0x7f001122>", "<function f at 0x7f001133>"),
    ]
    (one,) = found(*[again(*both)] * 3)
    assert "; of `f`, make the function once" in change_of(one)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("UniTuple(float64 x 4)", "UniTuple(float64 x 5)", "tuple of changing length"),
        ("Tuple(int64, float64)", "Tuple(int64, Tuple(int8, int8), int64)", "tuple of changing"),
        ("UniTuple(float64 x 2)", "UniTuple(int64 x 2)", "values of one type"),
        ("array(float64, 1d, C)", "array(float64, 2d, C)", "one number of dimensions"),
        ("array(float64, 2d, C)", "Array(float32, 2d, F, mutable, aligned)", "dtype and layout"),
        ("int64", "float64", "convert to one type"),
        ("omitted(default=None)", "int64", "pass it in each call"),
        (
            "type(CPUDispatcher(<function g at 0x7f07b10268e0>))",
            "type(CPUDispatcher(<function g at 0x7f07b1026ca0>))",
            "FunctionType",
        ),
    ],
)
def test_what_to_change_for_numba_is_told_by_the_types(before: str, now: str, said: str) -> None:
    (one,) = found(*[again(differs("type", "it", before, now))] * 2, framework="numba")
    assert said in change_of(one)
    if said == "FunctionType":
        assert "took 2 functions" in worded(one).text
        assert "0x" not in worded(one).text


def test_a_structure_that_holds_another_function_is_to_hold_one() -> None:
    before, now = (f"Node[<function init at 0x7f00a1b2c3{at}>]" for at in (1, 2))
    (one, *_) = found(*(again(differs("tree", "state", before, now)) for _ in range(3)))
    assert change_of(one).startswith("make the function or object in it once")
    (one, *_) = found(*(again(differs("tree", "state", "{a}", "{a, b}")) for _ in range(3)))
    assert change_of(one).startswith("give the same keys")


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("f32[2,3]", "f32[2,4]", "pad to"),
        ("f32[3]", "f32[4]", "pad to"),
        ("f32[3]", "f32[3,1]", "one number of dimensions"),
        ("f32[]", "f32[3]", "one number of dimensions"),
    ],
)
def test_other_dimensions_are_not_to_be_padded(before: str, now: str, said: str) -> None:
    (one,) = found(*(again(differs("shape", "x", before, now)) for _ in range(4)))
    assert said in change_of(one)
