"""What a program means to compile again is let alone, what it does not is named the first time."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.doctor import journals
from tests.doctor.test_blamed import again, differs
from tests.doctor.test_looks import looked

from coldwarm.doctor.judge import findings
from coldwarm.doctor.source_code import SourceFiles
from coldwarm.doctor.trace import ProcessTrace

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.doctor import Finding

FILE = "/a.py"
RUN = """
work(probe)
for x in xs:
    y = work(x)
"""


def compiled(
    *calls: tuple[int, dict[str, Any]],
    text: str = RUN,
    times: dict[int, int] | None = None,
    framework: str = "jax",
    lasted_s: float = 10.0,
) -> list[Finding]:
    """Return what is found where lines have compiled something, each for a second.

    ``times``: how often each line has called it.
    """
    what = "numba" if framework == "numba" else "jitted"
    function = {"name": "work", "path": FILE, "line": 1, "whose": "user"}
    rows: list[dict[str, Any]] = [journals.process()]
    counts = []
    for slot, (line, n) in enumerate((times or {}).items()):
        stack = [[FILE, line, "<module>"]]
        place = {"kind": "place", "at_s": journals.BEGIN_S, "what": what, "name": "work"}
        rows.append({**place, "slot": slot * 4, "stack": stack})
        counts += [n, 0, 0, 0]
    for at, (line, more) in enumerate(calls):
        stack = [[FILE, line, "<module>"]]
        call = journals.call(at, framework=framework, stack=stack, function=function, **more)
        rows += [call, journals.stage(at, float(at), {"compile": 1.0})]
    rows.append(journals.end(lasted_s))
    return findings(ProcessTrace.of(rows, counts, SourceFiles({FILE: text})))


DTYPE = again(differs("type", "x", "array(float64, 1d, C)", "array(float32, 1d, C)"))


@pytest.mark.parametrize(
    ("text", "times", "lasted_s", "named"),
    [
        (RUN, {2: 1, 4: 50}, 10.0, True),
        (RUN, {2: 1, 4: 50}, 100.0, False),  # of no matter
        (RUN, {2: 9, 4: 50}, 10.0, False),  # it is used
        (RUN.replace("work(probe)", "seen = work(probe)"), {2: 1, 4: 50}, 10.0, False),
        (RUN.replace("work(probe)", "print(work(probe))"), {2: 1, 4: 50}, 10.0, False),
        (RUN.replace("work(probe)", "work(p).block_until_ready()"), {2: 1, 4: 50}, 10.0, True),
    ],
)
def test_a_call_to_warm_up_with_something_else_is_named(
    text: str, times: dict[int, int], lasted_s: float, *, named: bool
) -> None:
    more: dict[str, Any] = {
        "times": times,
        "text": text,
        "lasted_s": lasted_s,
        "framework": "numba",
    }
    found = compiled((2, {}), (4, DTYPE), **more)
    assert [(one.pattern, one.line) for one in found] == [("numba-signatures", 4)] * named


CARRIED = RUN.replace("y = work(x)", "v = work(v, x)")


@pytest.mark.parametrize(
    ("text", "before", "named"),
    [
        (CARRIED, "Python float", True),
        (CARRIED, "f32[]", True),
        (CARRIED, "f32[4]", False),
        (RUN, "Python float", False),  # a point, and then a grid
    ],
)
def test_what_a_loop_carries_and_begins_as_a_number_is_named(
    text: str, before: str, *, named: bool
) -> None:
    changed = again(differs("shape", "v", before, "f32[8]"))
    found = compiled((4, {}), (4, changed), times={4: 50}, text=text)
    assert [one.pattern for one in found] == ["shape-change"] * named


def of_dtypes(*names: str) -> list[dict[str, Any]]:
    """Return calls again in which both arrays have become of another dtype."""
    return [
        {
            **again(*(differs("dtype", name, "f32[3]", f"{now}[3]") for name in names)),
            "signature": {"arguments": {"a": f"{now}[3]", "b": f"{now}[3]"}, "static": {}},
        }
        for now in ("f64",)
    ]


@pytest.mark.parametrize(
    ("names", "times", "named"),
    [
        ("ab", {}, False),  # all of them: another precision
        ("a", {4: 50}, False),  # both are used
        ("a", {4: 2}, True),
    ],
)
def test_several_precisions_are_meant(names: str, times: dict[int, int], *, named: bool) -> None:
    (call,) = of_dtypes(*names)
    found = compiled((4, {}), (4, call), times=times)
    assert [one.pattern for one in found] == ["dtype-change"] * named


def made_anew(*values: str) -> list[tuple[int, dict[str, Any]]]:
    held = [{"argument": "weights", "before": one, "now": now} for one, now in pairwise(values)]
    return [
        (4, {"cause": {"kind": "new_function", "differences": [], "held": [one]}}) for one in held
    ]


@pytest.mark.parametrize(
    ("values", "n", "named"),
    [
        (["[1]", "[1, 2]", "[3]"], 12, False),
        (["[1]", "[1, 2]", "[3]"], 3, True),  # each is used once
        (["[1]", "[2]", "[1]", "[2]"], 90, True),  # the same comes again
    ],
)
def test_variants_that_are_each_used_are_meant(values: list[str], n: int, *, named: bool) -> None:
    found = compiled((4, {}), *made_anew(*values), times={4: n})
    assert bool(found) == named


KERNELS = """
    import numpy as np
    from numba import njit

    @njit
    def first(x):
        return x.sum()

    @njit
    def second(x):
        return x.mean()

    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        data = np.ones(100, dtype)
        for _ in range(20):
            for kernel in (first, second):
                kernel(data)
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no calls are told of")
def test_functions_that_one_line_calls_are_counted_each_by_its_name(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    report = looked(tmp_path, KERNELS)
    assert report["findings"] == []


REMEMBERED = """
    from functools import lru_cache

    import numpy as np
    from numba import njit

    @njit
    def steep(r):
        return r * r

    @njit
    def flat(r):
        return r + 1.0

    @njit
    def deep(r):
        return r - 1.0

    @lru_cache(maxsize=None)
    def solver_for(potential):
        @njit
        def solve(x):
            total = 0.0
            for value in x:
                total += potential(value)
            return total

        return solve

    data = np.ones(100)
    for _ in range(20):
        for potential in (steep, flat, deep):
            {cleared}
            solver_for(potential)(data)
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no calls are told of")
@pytest.mark.parametrize(("cleared", "named"), [("pass", 0), ("solver_for.cache_clear()", 1)])
def test_functions_that_are_remembered_for_each_argument_are_meant(
    tmp_path: Path, cleared: str, named: int
) -> None:
    pytest.importorskip("numba")
    report = looked(tmp_path, REMEMBERED.replace("{cleared}", cleared))
    assert [one["pattern"] for one in report["findings"]] == ["fresh-callable"] * named


@pytest.mark.parametrize(
    ("line", "whose", "named"), [(2, "package", 0), (4, "package", 1), (2, "user", 1)]
)
def test_what_a_package_makes_in_one_call_is_its_own(line: int, whose: str, named: int) -> None:
    cause: Any = {"kind": "new_function", "differences": [], "n_objects": 2}
    function = {"name": "moved", "path": "/lib/site-packages/p.py", "line": 1, "whose": whose}
    rows: list[dict[str, Any]] = [journals.process()]
    for at in range(4):
        stack, more = [[FILE, line, "<module>"]], dict[str, Any](cause=cause) if at else {}
        rows.append(journals.call(at, stack=stack, function=function, **more))
        rows.append(journals.stage(at, float(at), {"compile": 1.0}))
    rows.append(journals.end(10.0))
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: RUN})))
    assert [one.pattern for one in found] == ["fresh-callable"] * named


@pytest.mark.parametrize(
    ("framework", "sizes", "named"),
    [
        ("torch", (1502, 1666, 1705), 1),
        ("torch", (1504, 1664, 1704), 0),  # round sizes, as of buckets
        ("torch", (1502, 1666), 0),  # the next one would be left open
        ("jax", (1502, 1666, 1705), 0),
    ],
)
def test_sizes_that_pytorch_was_told_to_keep_apart_are_named(
    framework: str, sizes: tuple[int, ...], named: int
) -> None:
    shapes = [f"f32[3,{one}]" for one in sizes]
    calls = [(4, again(differs("shape", "x", *pair))) for pair in pairwise(shapes)]
    found = compiled((4, {}), *calls, framework=framework)
    assert [one.pattern for one in found] == ["shape-change"] * named


FORWARD = """def work(self, x):
    {line}
    return x * self.gain

for k in range(3):
    model(x)
"""


@pytest.mark.parametrize(
    ("framework", "line", "lasted_s", "named"),
    [
        ("torch", "x = x + 0.5 * self.stage", 10.0, True),
        ("torch", "x = x + 0.5 * self.stage", 100.0, False),  # of no matter
        ("torch", "for _ in range(self.stage): x = x + 1", 10.0, False),
        ("torch", "x = x[: self.stage]", 10.0, False),
        ("torch", "x = x + 1 if self.stage > 1 else x", 10.0, False),
        ("torch", "x = x + torch.zeros(self.stage)", 10.0, False),
        ("torch", "x = self.inner(x)", 10.0, False),  # who knows what it is for
        ("jax", "x = x + 0.5 * self.stage", 10.0, False),  # somebody has declared it
    ],
)
def test_a_number_that_pytorch_keeps_apart_is_named_if_it_is_only_computed_with(
    framework: str, line: str, lasted_s: float, *, named: bool
) -> None:
    cause = {"kind": "first"}
    values = [again(differs("static", "self.stage", str(a), str(a + 1))) for a in range(2)]
    calls = [(6, {"cause": cause}), *((6, one) for one in values)]
    text = FORWARD.format(line=line)
    found = compiled(*calls, text=text, framework=framework, lasted_s=lasted_s)
    assert [one.pattern for one in found if one.cause] == ["torch-changing-scalar"] * named
