"""What a change would save is estimated from what was seen, and how is said; or it is null."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from coldwarm.doctor.judge import findings
from coldwarm.doctor.rules import change_of
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace
from coldwarm.report.sentences import words

SOURCE = """
def f(x):
    for _ in range(50):
        x = sin(x)
        x = cos(x) + x
    return x

f(values)
"""
PATH = "/it.py"
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "doctor_savings.json"
FEWEST, WITHIN = 10, 0.25


def seen(
    programs: list[dict[str, Any]],
    arguments: dict[str, str],
    causes: tuple[dict[str, Any], ...] = ({"kind": "first"},),
) -> ProcessTrace:
    """Return a process that has compiled these programs, each in 2 s."""
    rows: list[dict[str, Any]] = [{"kind": "process", "at_s": 0.0, "sees_calls": True}]
    for number, (program, cause) in enumerate(zip(programs, causes * 9, strict=False), 1):
        call = {
            "kind": "call",
            "framework": "jax",
            "call": number,
            "slot": None,
            "stack": [[PATH, 8, "<module>"]],
            "thread": 1,
            "at_s": 2.0 * number,
            "function": {"name": "f", "path": PATH, "line": 2},
            "cause": cause,
            "signature": {"arguments": arguments, "static": {}},
        }
        stage = {
            "kind": "stage",
            "at_s": 2.0 * number + 2.0,
            "call": number,
            "stage": "compile",
            "begin_s": 2.0 * number,
            "seconds": 2.0,
            "own_s": {"compile": 2.0},
            "hit": False,
            "program": {
                "constants_bytes": 0,
                "reusable_bytes": 0,
                "constants_line": None,
                **program,
            },
        }
        rows += [call, stage]
    return ProcessTrace.of(rows, [], SourceFiles({PATH: SOURCE}))


LINES = [
    [[[PATH, 5, "f"]], 300, 50],
    [[[PATH, 4, "f"]], 100, 50],
    [[[PATH, 6, "f"]], 100, 100],
]
ANOTHER_SHAPE: dict[str, Any] = {
    "kind": "again",
    "differences": [{"kind": "shape", "argument": "x", "before": "f32[64]", "now": "f32[40]"}],
}


def test_a_loop_that_is_written_out_saves_all_its_turns_but_one() -> None:
    (found,) = findings(seen([{"equations": 500, "lines": LINES}], {"x": "f32[3]"}))
    assert found.pattern == "python-loop-unrolled"
    assert found.cost_s == pytest.approx(2.0 * 400 / 500)
    assert found.saving_s == pytest.approx(2.0 * 400 / 500 * (1 - 1 / 50))
    assert found.saving_from is not None
    assert "less one turn of 50" in words(found.saving_from)


def test_a_loop_costs_what_it_costs_in_all_programs() -> None:
    programs = [{"equations": 500, "lines": LINES}] * 3
    (found,) = findings(seen(programs, {"x": "f32[3]"}))
    assert found.cost_s == pytest.approx(3 * 2.0 * 400 / 500)
    assert found.saving_s == pytest.approx(3 * 2.0 * 400 / 500 * (1 - 1 / 50))
    assert [words(one) for one in found.says.parts] == ["it is written out in 2 more programs"]


def test_a_short_last_batch_is_named_where_its_seconds_matter() -> None:
    """GIVEN one shorter input that took a third of the run THEN it is named; a study's are not."""
    empty = {"equations": 10, "lines": []}
    (found,) = findings(seen([empty] * 2, {"x": "f32[64]"}, ({"kind": "first"}, ANOTHER_SHAPE)))
    assert (found.pattern, found.n, found.saving_s) == ("shape-change", 1, 2.0)
    assert "such as a short last batch" in change_of(found)
    longer = {**ANOTHER_SHAPE["differences"][0], "now": "f32[128]"}
    study = {"kind": "again", "differences": [longer]}
    for causes in ((study,), (study, study), (ANOTHER_SHAPE, ANOTHER_SHAPE)):
        sizes = ({"kind": "first"}, *causes)
        assert not findings(seen([empty] * len(sizes), {"x": "f32[64]"}, sizes))
    many = [{"kind": "first"}] * 20
    assert not findings(seen([empty] * 22, {"x": "f32[64]"}, (*many, ANOTHER_SHAPE)))


def test_a_list_saves_the_equations_that_each_number_has() -> None:
    numbers = {f"x[{at}]": "Python float" for at in range(100)}
    (found,) = findings(seen([{"equations": 220, "lines": []}], numbers))
    assert found.pattern == "list-argument"
    assert found.saving_s == pytest.approx(2.0 * 200 / 220)
    (few,) = findings(seen([{"equations": 60, "lines": []}], numbers))
    assert few.saving_s is None
    assert words(few.null_reasons["saving_s"]) == "it depends on what takes its place"


@pytest.mark.slow
def test_the_turns_of_a_loop_are_counted() -> None:
    jax = pytest.importorskip("jax")
    from coldwarm.doctor.record import sites
    from coldwarm.doctor.record.jaxprs import looked_into

    def written_out(x: Any) -> Any:
        for _ in range(70):
            x = jax.numpy.sin(x) * x + jax.numpy.sin(x)
        return x

    told = looked_into((jax.make_jaxpr(written_out)(1.0), ()))
    assert sites.kind(__file__) == sites.USERS
    assert told is not None
    assert [line[1:] for line in told["lines"]] == [[280, 70]], sys.version


def test_the_estimates_agree_with_what_was_measured() -> None:
    pairs = json.loads(RESULTS.read_text("utf-8"))["pairs"]
    agreeing = [one for one in pairs if one["ratio"] and abs(one["ratio"] - 1) <= WITHIN]
    assert len(agreeing) >= FEWEST
    assert all(one["how"] for one in pairs)
