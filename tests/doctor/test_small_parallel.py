"""Threads that are started for little work are named; for much, or once, they are not."""

from __future__ import annotations

import sys
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

FILE = "/chain.py"
TURNS = """@njit(parallel=True)
def march(x, n, steps):
    m = x.shape[0]
    {outer}
        for i in prange({turns}):
            {body}
    return x

march(x, n, 9)
"""
OUTER, BODY = "for t in range(steps):", "x[i] = math.sin(x[i]) * 0.5"


@pytest.mark.parametrize(
    ("outer", "turns", "body", "sizes", "named"),
    [
        (OUTER, "m", BODY, [126], True),
        (OUTER, "len(x)", BODY, [126], True),
        (OUTER, "1, n - 1", BODY, [126], True),
        ("while steps:", "x.size", BODY, [126], True),
        (OUTER, "m", BODY, [100_000], False),
        (OUTER, "m", "x[i] = work(x[i])", [126], False),  # it may take long
        (OUTER, "m", "x[i] = sum([k for k in y])", [126], False),
        (OUTER, "k", BODY, [126], False),  # of unknown length
        ("if True:", "m", BODY, [126], False),
        ("for t in prange(steps):", "m", BODY, [126], False),  # Numba runs it in one thread
    ],
)
def test_a_short_prange_in_a_loop_is_named(
    outer: str, turns: str, body: str, sizes: list[int], *, named: bool
) -> None:
    text = TURNS.format(outer=outer, turns=turns, body=body)
    given = {"x": sizes, "n": [sizes[0]], "steps": [10_000]}
    found = seen(text, "march", given, [[FILE, 9, "<module>"]], 2.0)
    assert found == [("numba-parallel-small", 5)] * named
    assert seen(text, "march", given, [[FILE, 9, "<module>"]], 0.1) == [], "of no matter"


CALLS = """@njit(parallel=True)
def filtered(x):
    for i in prange(x.size):
        x[i] += 0.5 * math.sqrt(x[i])

for sample in samples:
    filtered(sample)
"""


@pytest.mark.parametrize(
    ("n", "size", "named"), [(100_000, 48, True), (100_000, 100_000, False), (10, 48, False)]
)
def test_many_calls_in_a_loop_of_python_are_named(n: int, size: int, *, named: bool) -> None:
    found = seen(CALLS, "filtered", {"x": [size]}, [[FILE, 7, "<module>"]], 1.0, n)
    assert found == [("numba-parallel-small", 7)] * named


@pytest.mark.parametrize(
    "given", ["partial(njit, parallel=True)", "njit(parallel=True, cache=True)", "partial(njit)"]
)
def test_the_decorator_may_have_a_name_of_the_programs(given: str) -> None:
    text = CALLS.replace("@njit(parallel=True)", "@kernel").replace(
        "\n\n", f"\nkernel = {given}\n", 1
    )
    named = "parallel" in given
    found = seen(text, "filtered", {"x": [48]}, [[FILE, 7, "<module>"]], 1.0, 100_000)
    assert found == [("numba-parallel-small", 7)] * named


CALLED = """@njit
def march(theta, steps):
    n = theta.size
    for step in range(steps):
        {call}
    return theta

@njit(parallel=True)
def slope(x, out):
    for i in prange(x.size):
        out[i] = math.sin(x[i])

march(theta, 9)

@njit
def between(y):
    slope(y, y)
"""


@pytest.mark.parametrize(
    ("call", "size", "named"),
    [
        ("slope(theta, theta)", 72, True),
        ("slope(theta, theta)", 100_000, False),
        ("slope(other, theta)", 72, False),  # of unknown length
        ("theta[0] += 1", 72, False),
        ("between(theta)", 72, True),
    ],
)
def test_a_function_with_threads_that_a_compiled_loop_calls(
    call: str, size: int, *, named: bool
) -> None:
    text = CALLED.format(call=call)
    found = seen(text, "march", {"theta": [size], "steps": [9]}, [[FILE, 13, "<module>"]], 1.0)
    assert found == [("numba-parallel-small", 10)] * named


def seen(  # noqa: PLR0913, PLR0917 - what a run is made of
    text: str, name: str, given: dict[str, list[int]], stack: list[Any], spent_s: float, n: int = 1
) -> list[tuple[str, int]]:
    function = {"name": name, "path": FILE, "line": 1, "whose": "user"}
    told: dict[str, Any] = {
        "framework": "numba",
        "function": function,
        "declared": False,
        "given": given,
    }
    place = {"kind": "place", "at_s": BEGIN_S, "what": "numba", "name": name, "slot": 0}
    rows: list[dict[str, Any]] = [
        journals.process(),
        journals.call(1, stack=stack, **told),
        journals.stage(1, 0.0, {"compile": 0.5}),
        {**place, "stack": stack, "bound": []},
        *journals.looked(stack, "", spent_s),
        journals.end(4.0),
    ]
    found = findings(ProcessTrace.of(rows, [n, 0, 0, 0], SourceFiles({FILE: text})))
    return [(one.pattern, one.line) for one in found if one.pattern == "numba-parallel-small"]


PROGRAM = """
import math
import numpy as np
from numba import njit, prange

@njit(parallel=True)
def chain(x, v, steps):
    n = x.shape[0]
    for _ in range(steps):
        for i in prange(n):
            v[i] -= 0.01 * math.sin(x[i])
        for i in prange(n):
            x[i] += 0.01 * v[i]
    return x

@njit(parallel=True)
def field(x, steps):
    for _ in range(steps):
        for i in prange(x.shape[0]):
            x[i] = math.sin(x[i]) * 0.5 + 1
    return x

for turn in range(4):
    chain(np.ones(100), np.zeros(100), 150_000)
    field(np.ones(400_000), 40)
"""


@pytest.mark.slow
def test_a_chain_of_a_hundred_is_named_and_a_large_field_is_not(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = looked(tmp_path, PROGRAM)["findings"]
    named = [one["source"] for one in found if one["pattern"] == "numba-parallel-small"]
    assert named == ["for i in prange(n):"], sys.version
