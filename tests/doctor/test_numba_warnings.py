"""What Numba's compiler says will be slow is named where the program spends its time there."""

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
TEXT = "@njit\ndef work(n):\n    return n\n\nwork(1)\n"


@pytest.mark.parametrize(("spent_s", "named"), [(2.0, True), (0.001, False)])
def test_a_warning_counts_where_the_time_is_spent(spent_s: float, *, named: bool) -> None:
    function = {"name": "work", "path": FILE, "line": 2, "whose": "user"}
    stack = [[FILE, 5, "<module>"]]
    rows: list[dict[str, Any]] = [
        journals.process(),
        journals.call(1, framework="numba", stack=stack, function=function),
        journals.stage(1, 0.0, {"compile": 0.01}),
        {"kind": "warned", "at_s": BEGIN_S, "what": "serial_loop", "path": FILE, "line": 3},
        {"kind": "spot", "at_s": BEGIN_S, "number": 1, "stack": stack, "below": ""},
        {"kind": "looks", "at_s": BEGIN_S, "begin_s": BEGIN_S, "runs": [[1, spent_s]]},
    ]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: TEXT})))
    assert [(one.pattern, one.line) for one in found] == [("numba-serial-prange", 3)] * named


PROGRAM = """
import time
import warnings
import numpy as np
from numba import njit, prange

warnings.simplefilter("ignore")

@njit(parallel=True)
def left_early(x):
    for i in prange(x.size):
        assert x[i] >= 0
        x[i] = x[i] ** 0.5 + 1.0
    return x

@njit(parallel=True)
def alone(x, n):
    total = 0.0
    k = 0
    while k < n:
        total += total * 0.5 + x[k % x.shape[0]]
        k += 1
    return total

@njit
def product(x, y):
    total = 0.0
    for _ in range(20):
        total += np.dot(x, y)[0, 0]
    return total

@njit
def fine(x, y):
    return np.dot(x, y)[0, 0]

x = np.ones((200, 200))
end = None
while end is None or time.perf_counter() < end:
    left_early(np.ones(100_000))
    alone(np.ones(1000), 100_000)
    product(x[:, ::2], x[:100])
    fine(x, x)
    end = end or time.perf_counter() + 2
"""


@pytest.mark.slow
def test_numba_s_own_warnings_are_named_though_they_are_hidden(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = looked(tmp_path, PROGRAM)["findings"]
    named = {one["pattern"]: one["source"] for one in found if one["pattern"].startswith("numba")}
    assert len([one for one in found if one["pattern"] in named]) == 3
    assert named == {
        "numba-serial-prange": "for i in prange(x.size):",
        "numba-nothing-parallel": "@njit(parallel=True)",
        "numba-array-apart": "total += np.dot(x, y)[0, 0]",
    }
