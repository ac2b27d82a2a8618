"""Why something was compiled again is told by what differs from the call that is most alike."""

from __future__ import annotations

from coldwarm.doctor.record.compiled_functions import apportioned, nearest
from coldwarm.doctor.record.signatures import CallSignature


def array(
    dtype: str = "float32", shape: tuple[int, ...] = (8,), **more: object
) -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "weak": False, "place": "device", **more}


def call(static: dict[str, str] | None = None, **leaves: dict[str, object]) -> CallSignature:
    found = CallSignature()
    found.leaves = leaves
    found.static = static or {}
    found.trees = dict.fromkeys(leaves, "*")
    return found


def kinds(before: CallSignature, now: CallSignature) -> list[tuple[str, str]]:
    return [(one["kind"], one["argument"]) for one in nearest(now, [before]) or []]


def test_each_kind_of_difference_is_told_with_its_argument() -> None:
    x = call(x=array())
    assert kinds(x, call(x=array(shape=(9,)))) == [("shape", "x")]
    assert kinds(x, call(x=array(dtype="int32"))) == [("dtype", "x")]
    assert kinds(x, call(x=array(weak=True))) == [("weak_type", "x")]
    assert kinds(call({"n": "1"}), call({"n": "2"})) == [("static", "n")]
    assert kinds(x, call(x=array(), y=array())) == [("tree", "y")]
    assert kinds(x, call(x=array(), y=array(), z=array())) == [("tree", "y"), ("tree", "z")]
    committed = [call(x=array(committed=value)) for value in (False, True)]
    assert kinds(*committed) == [("commitment", "x")]


def test_two_structures_are_told_from_where_they_differ() -> None:
    long = ", ".join(f"'layer_{n}': *" for n in range(40))
    before, now = call(), call()
    before.trees, now.trees = {"x": f"{{{long}, 'a': *}}"}, {"x": f"{{{long}, 'b': *}}"}
    (one,) = nearest(now, [before]) or []
    assert "'a': *}" in one["before"]
    assert "'b': *}" in one["now"]
    assert max(map(len, (one["before"], one["now"]))) < 70


def test_both_values_are_told_as_a_person_reads_them() -> None:
    (one,) = nearest(call(x=array(shape=(9, 2))), [call(x=array())]) or []
    assert (one["before"], one["now"]) == ("f32[8]", "f32[9,2]")


def test_a_setting_is_named_and_one_that_changes_no_program_is_not() -> None:
    before, now = call(x=array()), call(x=array())
    before.context = {"jax_enable_x64": False, "jax_log_compiles": False}
    now.context = {"jax_enable_x64": True, "jax_log_compiles": True}
    assert kinds(before, now) == [("context", "jax_enable_x64")]


def test_transformations_are_told_apart() -> None:
    before, now = call(x=array()), call(x=array())
    now.transforms = ("JVPTracer",)
    assert kinds(before, now) == [("transform", "")]


def test_the_earlier_call_that_is_most_alike_counts() -> None:
    far = call({"n": "7"}, x=array(shape=(3,)))
    near = call({"n": "2"}, x=array(shape=(9,)))
    found = nearest(call({"n": "2"}, x=array()), [near, far])
    assert found is not None
    assert [one["kind"] for one in found] == ["shape"]
    assert nearest(call(), []) is None


def test_a_call_with_the_same_tree_is_more_alike_than_one_of_another() -> None:
    other = call(x=array(), y=array())
    near = call(x=array(shape=(9,)), y=array(shape=(9,)), z=array(shape=(9,)))
    found = nearest(call(x=array(), y=array(), z=array()), [near, other])
    assert found is not None
    assert {one["kind"] for one in found} == {"shape"}


def test_what_no_part_is_told_of_goes_to_the_stage_that_is_left() -> None:
    parts: dict[str, object] = {"trace_s": 0.25, "compile_s": 0.5, "lower_s": None, "reasons": {}}
    assert apportioned(parts, 2.0, "compile") == {"trace": 0.25, "compile": 1.75}
    assert apportioned(parts, 2.0, "trace") == {"trace": 1.5, "compile": 0.5}
    assert apportioned(parts, 0.5, "compile") == {"trace": 0.25, "compile": 0.5}
