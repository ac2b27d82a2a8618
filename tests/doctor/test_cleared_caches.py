"""What is compiled again after jax.clear_caches() is told at that line, and nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.journals import BEGIN_S
from tests.doctor.test_looks import looked

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from pathlib import Path

FILE = "/work.py"
TEXT = "for x in xs:\n    work(x)\n    jax.clear_caches()\n"


def compiled(number: int, at_s: float, **cause: Any) -> list[dict[str, Any]]:
    function = {"name": "work", "path": FILE, "line": 9, "whose": "user"}
    row = journals.call(number, stack=[[FILE, 2, "<module>"]], function=function, cause=cause)
    return [{**row, "at_s": BEGIN_S + at_s}, journals.stage(number, at_s, {"compile": 1.0})]


@pytest.mark.parametrize(
    ("cleared_s", "differences", "pattern"),
    [
        (2.0, [], "caches-cleared"),
        (20.0, [], "recompile"),  # it was cleared too late
        (
            2.0,
            [{"kind": "shape", "argument": "x", "before": "f32[1]", "now": "f32[2]"}],
            "shape-change",
        ),
    ],
)
def test_what_was_cleared_before_counts(
    cleared_s: float, differences: list[dict[str, str]], pattern: str
) -> None:
    cleared = {"kind": "cleared", "at_s": BEGIN_S + cleared_s, "stack": [[FILE, 3, "<module>"]]}
    rows = [
        journals.process(),
        *compiled(1, 1.0, kind="first"),
        cleared,
        *(
            row
            for n in range(2, 8)
            for row in compiled(n, 1.0 + n, kind="again", differences=differences)
        ),
    ]
    (found,) = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: TEXT})))
    assert found.pattern == pattern


PROGRAM = """
import jax
import jax.numpy as jnp

@jax.jit
def work(x):
    for k in range(60):
        x = jnp.sin(x + k) @ jnp.ones((9, 9))
    return x

for turn in range(4):
    work(jnp.ones(9)).block_until_ready()
    jax.clear_caches()
"""


@pytest.mark.slow
def test_the_line_that_clears_is_named_once(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    found = looked(tmp_path, PROGRAM)["findings"]
    assert [one["source"] for one in found if one["pattern"] == "caches-cleared"] == [
        "jax.clear_caches()"
    ]
    assert not [one for one in found if one["pattern"] == "recompile"]
