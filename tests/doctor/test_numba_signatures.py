"""Signatures that no call can use are named; those that a call may use, or that hide, are not."""

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
    from collections.abc import Sequence
    from pathlib import Path

FILE = "/sense.py"
TEXT = "@vectorize(KINDS)\ndef scale(x, y):\n    return x * y\n\n{use}\n"
KINDS = ("int16", "uint16", "float64")
ARRAYS = tuple(f"array({one}, 2d, C)" for one in KINDS)


@pytest.mark.parametrize(
    ("declared", "given", "use", "n_unused"),
    [
        (KINDS, ["array(uint16, 2d)"], "scale(image, 2.0)", 2),
        (KINDS, ["array(uint16, 2d)", "array(float64, 1d)"], "scale(image, 2.0)", 1),
        (KINDS, ["uint16"], "scale(image, 2.0)", 2),
        (ARRAYS, ["array(float64, 2d)"], "scale(image, 2.0)", 2),
        (ARRAYS, ["array(float64, 1d)"], "scale(image, 2.0)", 3),  # it is an error
        (KINDS, list(map("array({}, 1d)".format, KINDS)), "scale(image, 2.0)", 0),
        (KINDS, [], "scale(image, 2.0)", 0),  # nobody has seen a call
        (KINDS, ["list"], "scale(image, 2.0)", 0),
        (KINDS, ["array(uint16, 2d)"], "pool.map(scale, images)", 0),
        (KINDS[:1], ["array(uint16, 2d)"], "scale(image, 2.0)", 0),
    ],
)
def test_what_the_first_argument_rules_out_is_unused(
    declared: Sequence[str], given: Sequence[str], use: str, n_unused: int
) -> None:
    assert n_found(declared, given, use) == n_unused
    assert n_found(declared, given, use, seconds=0.01) == 0, "of no matter"


@pytest.mark.parametrize(
    ("given", "n_unused"),
    [("array(float64, 1d)", 2), ("array(int16, 1d)", 1), ("array(float32, 1d)", 2)],
)
def test_where_other_arguments_differ_the_first_may_be_converted(given: str, n_unused: int) -> None:
    kinds = [("int16", "int16"), ("uint16", "uint16"), ("float64", "float64")]
    assert n_found(kinds, [given], "scale(a, b)") == n_unused


def n_found(
    declared: Sequence[str] | Sequence[tuple[str, str]],
    given: Sequence[str],
    use: str,
    seconds: float = 1.0,
) -> int:
    function = {"name": "scale", "path": FILE, "line": 1, "whose": "user"}
    rows: list[dict[str, Any]] = [journals.process()]
    for number, one in enumerate(declared, 1):
        first, second = (one, "float64") if isinstance(one, str) else one
        types = {"arguments": {"x": first, "y": second}, "static": {}}
        told: dict[str, Any] = {
            "framework": "numba",
            "function": function,
            "signature": types,
            "declared": True,
        }
        rows.append(journals.call(number, stack=[[FILE, 1, "<module>"]], **told))
        rows.append(journals.stage(number, 2.0 * number, {"compile": seconds}))
    row = {"kind": "given", "at_s": BEGIN_S, "function": function}
    rows += [*({**row, "first": one} for one in given), journals.end(9.0)]
    found = findings(ProcessTrace.of(rows, [], SourceFiles({FILE: TEXT.format(use=use)})))
    named = [one for one in found if one.pattern == "numba-signatures-unused"]
    return sum(one.n for one in named)


PROGRAM = """
import numpy as np
from numba import njit, types, vectorize

@vectorize([f"float32({kind}, float32)" for kind in ("int8", "uint8", "int16", "uint16", "int32")])
def radiance(count, gain):
    value = count * gain
    for _ in range(3):
        value = value * gain + 1
    return value

@njit([(one[:, ::1], types.float64) for one in (types.uint8, types.uint16, types.float32,
                                                types.float64)])
def bright(image, least):
    n = 0
    for row in image:
        for one in row:
            if one > least:
                n += 1
    return n

@njit(["float64(float64)", "float32(float32)"])
def inside(x):
    return x * 2

@njit
def outside(x):
    return inside(x) + inside(np.float32(x))

image = np.ones((50, 50), np.uint16)
for _ in range(5):
    print(radiance(image, np.float32(2)).sum(), bright(image, 0.5), inside(2.0), outside(1.0))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 12), reason="no calls are told of")
def test_numba_tells_what_is_declared_and_calls_what_is_given(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = looked(tmp_path, PROGRAM)["findings"]
    named = {one["function"] or one["source"]: one for one in found}
    told = {
        (one["says"]["values"]["function"], one["says"]["values"]["n_unused"])
        for one in found
        if one["pattern"] == "numba-signatures-unused"
    }
    assert told == {("radiance", 4), ("bright", 3)}, named


PARALLEL = """
import numpy as np
from numba import vectorize

@vectorize([f"float64({kind}, float64)" for kind in ("int8", "uint8", "int16", "int32", "int64")]
           + ["float32(float32, float32)", "float64(float64, float64)"], target="parallel")
def bright(count, gain):
    value = count * gain
    for _ in range(3):
        value = value * gain + np.log(1.0 + value * value)
    return value

image = np.ones((50, 50), np.float32)
for _ in range(5):
    print(bright(image, np.float32(2)).sum())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info < (3, 12), reason="no calls are told of")
def test_signatures_for_all_processors(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    found = looked(tmp_path, PARALLEL)["findings"]
    (one,) = [each for each in found if each["pattern"] == "numba-signatures-unused"]
    told = one["says"]["values"]
    assert (told["n_signatures"], told["n_unused"]) == (7, 5)
    assert told["given_names"] == ["array(float32, 2d)"]
