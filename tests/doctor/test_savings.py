"""What a change would save is estimated from what was seen, and how is said; or it is null."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from coldwarm.doctor.judge import findings
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


def seen(program: dict[str, Any], arguments: dict[str, str]) -> ProcessTrace:
    """Return a process that has compiled one program in 2 s."""
    program = {"constants_bytes": 0, "reusable_bytes": 0, "constants_line": None, **program}
    call = {
        "kind": "call",
        "framework": "jax",
        "call": 1,
        "slot": None,
        "stack": [[PATH, 8, "<module>"]],
        "thread": 1,
        "at_s": 1.0,
        "function": {"name": "f", "path": PATH, "line": 2},
        "cause": {"kind": "first"},
        "signature": {"arguments": arguments, "static": {}},
    }
    stage = {
        "kind": "stage",
        "at_s": 3.0,
        "call": 1,
        "stage": "compile",
        "begin_s": 1.0,
        "seconds": 2.0,
        "own_s": {"compile": 2.0},
        "hit": False,
        "program": program,
    }
    rows = [{"kind": "process", "at_s": 0.0, "sees_calls": True}, call, stage]
    return ProcessTrace.of(rows, [], SourceFiles({PATH: SOURCE}))


def test_a_loop_that_is_written_out_saves_all_its_turns_but_one() -> None:
    lines = [
        [[[PATH, 5, "f"]], 300, 50],
        [[[PATH, 4, "f"]], 100, 50],
        [[[PATH, 6, "f"]], 100, 100],
    ]
    (found,) = findings(seen({"equations": 500, "lines": lines}, {"x": "f32[3]"}))
    assert found.pattern == "python-loop-unrolled"
    assert found.cost_s == pytest.approx(2.0 * 400 / 500)
    assert found.saving_s == pytest.approx(2.0 * 400 / 500 * (1 - 1 / 50))
    assert found.saving_from is not None
    assert "less one turn of 50" in words(found.saving_from)


def test_a_list_saves_the_equations_that_each_number_has() -> None:
    numbers = {f"x[{at}]": "Python float" for at in range(100)}
    (found,) = findings(seen({"equations": 220, "lines": []}, numbers))
    assert found.pattern == "list-argument"
    assert found.saving_s == pytest.approx(2.0 * 200 / 220)
    (few,) = findings(seen({"equations": 60, "lines": []}, numbers))
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
