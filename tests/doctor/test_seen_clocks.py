"""Times with compiling in them, where no call is seen: by looks at the lines between two clocks."""

from __future__ import annotations

import sys
import textwrap
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

FILE = "/bench.py"
MEAN = """
def mean_s(function, x, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        x = function(x)
    return (time.perf_counter() - start) / repeats

def compare(candidates, x):
    {how}
    return table
"""
BATCHES = "table = [mean_s(candidates[0], batch, 5) for batch in x]"
EACH = "table = {name: mean_s(function, x, 5) for name, function in candidates.items()}"
LISTED = """
def times(function, x):
    found = []
    for _ in range(5):
        start = time.perf_counter()
        function(x)
        found.append(time.perf_counter() - start)
    return min(found)

{how}
"""
ONE = "def work():\n    t = perf_counter()\n    f(x)\n    return perf_counter() - t\n\n{how}\n"


@pytest.mark.parametrize(
    ("text", "how", "lines", "again_s", "named"),
    [
        (MEAN, EACH, (4, 8), 0.5, True),
        (MEAN, EACH, (4, 8), 0.0, True),
        (MEAN, BATCHES, (4, 8), 0.5, False),  # one function, whose later times have none in them
        (MEAN, "table = mean_s(candidates[0], x, 5)", (4, 8), 0.0, True),
        (MEAN, "table = mean_s(candidates[0], x, 5)", (4, 8), 0.5, False),  # once more
        (MEAN, "table = [mean_s(candidates[0], x, 5) for _ in range(3)]", (4, 8), 0.0, False),
        (MEAN, "mean_s(x, x, 1)", (4, 8), 0.0, False),  # warms up, and keeps nothing
        (LISTED, "print(times(f, x))", (5, 9), 0.0, False),  # the shortest has no compiling in it
        (ONE, "print(work())", (3, 6), 0.0, True),
        (ONE, "print(min(work() for _ in range(9)))", (3, 6), 0.0, False),
    ],
)
def test_what_is_told_of_a_first_call_is_named(
    text: str, how: str, lines: tuple[int, int], again_s: float, *, named: bool
) -> None:
    source = text.lstrip().replace("{how}", how)
    line, caller = lines
    stack = [[FILE, line, "?"], [FILE, caller, "?"]]
    function = {"name": "f", "path": FILE, "line": 1, "whose": "user"}
    rows: list[dict[str, Any]] = [
        journals.process(sees_calls=False, python="3.11.9"),
        journals.call(1, framework="torch", stack=stack, function=function),
        journals.stage(1, 1.0, {"compile": 4.0}),
        {"kind": "spot", "at_s": BEGIN_S, "number": 1, "stack": stack, "below": ""},
        {"kind": "spot", "at_s": BEGIN_S, "number": 2, "stack": stack[1:], "below": ""},
        {
            "kind": "looks",
            "at_s": BEGIN_S,
            "begin_s": BEGIN_S,
            "runs": [[2, 1.0], [1, 6.0], [2, 1.0], [1, again_s], [2, 1.0]][: 5 if again_s else 3],
        },
        journals.end(10.0),
    ]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: source})))
    found = [one for one in found if one.pattern == "first-call-in-timing"]
    assert [source.splitlines()[one.line - 1].count("perf_counter") for one in found] == [1] * named
    if named:
        assert found[0].says.values["compiled_s"] == pytest.approx(4.0)
        assert found[0].says.values["interval_s"] == pytest.approx(6.0)


PROGRAM = """
import time
import torch

def work(x):
    for k in range(12):
        x = torch.sin(x) * 0.5 + x * k
    return x

def mean_s(function, x, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        function(x)
    return (time.perf_counter() - start) / repeats

x = torch.ones(1000)
candidates = {"eager": work, "compiled": torch.compile(work)}
if WARM:
    candidates["compiled"](x)
print({name: mean_s(function, x, 20) for name, function in candidates.items()})
"""


@pytest.mark.slow
@pytest.mark.parametrize("warm", [True, False])
def test_a_mean_that_has_the_compiling_of_torch_in_it(tmp_path: Path, *, warm: bool) -> None:
    pytest.importorskip("torch")
    text = textwrap.dedent(PROGRAM).replace("WARM", str(warm))
    found = looked(tmp_path, text)["findings"]
    named = [one["line"] for one in found if one["pattern"] == "first-call-in-timing"]
    assert named == ([] if warm else [14]), sys.version
