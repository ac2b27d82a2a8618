"""What Numba reads from its cache on disk, and why something was not there."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.started import coldwarm

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("numba")

PROGRAM = """
import sys
import numba, numpy as np

RATE = float(sys.argv[1])

def made(rate):
    @numba.njit(cache=True)
    def scaled(x):
        return x * rate
    return scaled

@numba.njit(cache=True)
def total(x):
    return x.sum()

made(RATE)(np.ones(3))
total(np.ones(3, np.dtype(sys.argv[2])))
"""


def run(folder: Path, *arguments: str) -> tuple[dict[str, Any], str]:
    """Return by function what the doctor's table has of it, and the text."""
    report = folder / "report.json"
    variables = {**os.environ}
    told = []
    for form in ("json", "text"):
        variables["NUMBA_CACHE_DIR"] = str(folder / f"cache_{form}")
        options = ("--out", report, "--format", form, folder / "program.py", *arguments)
        ended = coldwarm("doctor", *options, env=variables)
        assert ended.returncode == 0, ended.stderr
        told.append(report.read_text())
    sites = {one["function"]: one for one in json.loads(told[0])["sites"]}
    return sites, " ".join(told[1].split())


@pytest.mark.slow
def test_reads_and_misses_are_told_with_the_reason(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    first, text = run(tmp_path, "2", "float64")
    assert {name: one["misses"] for name, one in first.items()} == {
        "made.scaled": {"nothing_kept": 1},
        "total": {"nothing_kept": 1},
    }
    assert "total: 1 program: nothing of this function was kept before" in text

    again, text = run(tmp_path, "2", "float64")
    assert {(one["n_compiles"], one["n_reads"]) for one in again.values()} == {(0, 1)}
    assert all(one["cache_s"] == one["total_s"] > 0 for one in again.values())
    assert not any(one["misses"] for one in again.values())
    assert "getting 2 programs from a cache, and nothing was compiled" in text
    assert "Not in Numba's cache" not in text

    others, _ = run(tmp_path, "3", "float32")
    assert others["made.scaled"]["misses"] == {"captured": 1}
    assert others["total"]["misses"] == {"types": 1}

    program.write_text(f"{PROGRAM}\n")
    os.utime(program, (1, 1))
    changed, text = run(tmp_path, "2", "float64")
    assert changed["total"]["misses"] == {"file_changed": 1}
    assert "its file has changed since it was kept" in text


AGAIN = """
import numba, numpy as np

@numba.njit(cache=True)
def total(x):
    return x.sum()

for dtype in ("f8", "f4", "i8", "i4"):
    total(np.ones(3, dtype))
"""


@pytest.mark.slow
def test_what_was_found_in_a_cache_is_not_said_to_be_compiled(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(AGAIN)
    _, text = run(tmp_path)
    assert "total was compiled again 3 times" in text
    assert "in a cache" not in text
    _, text = run(tmp_path)
    assert "all of these programs were found in a cache on disk" in text
    assert "the time of the 3 programs that this caused, 3 of them found in a cache" in text


UFUNCS = """
import numpy as np
from numba import cfunc, guvectorize, vectorize

@vectorize(["f8(f8)", "f4(f4)"], cache=True)
def declared(x):
    return x + 1

@vectorize(cache=True)
def lazy(x):
    return x * 2

@guvectorize(["void(f8[:], f8[:])"], "(n)->(n)", cache=True)
def summed(x, out):
    for i in range(x.shape[0]):
        out[i] = out[i - 1] + x[i] if i else x[i]

@cfunc("f8(f8)")
def plain(x):
    return x - 1

lazy(np.ones(3)), lazy(np.ones(3, np.complex64))
"""


def test_what_vectorize_compiles_and_reads_is_told(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(UFUNCS)
    first, text = run(tmp_path)
    assert {name: one["n_compiles"] for name, one in first.items()} == {
        "declared": 2,
        "lazy": 2,
        "summed": 1,
        "plain": 1,
    }
    lines = UFUNCS.splitlines()
    assert lines[first["lazy"]["line"] - 1].startswith("lazy(")
    assert lines[first["summed"]["line"] - 1].startswith("@guvectorize")
    for one in first.values():
        assert one["trace_s"] > 0
        assert one["compile_s"] > 0
    assert first["summed"]["misses"] == {"nothing_kept": 1}
    assert "compiled nothing" not in text

    again, _ = run(tmp_path)
    told = {name: (one["n_compiles"], one["n_reads"]) for name, one in again.items()}
    assert told == {"declared": (0, 2), "lazy": (0, 2), "summed": (0, 1), "plain": (1, 0)}
    assert all(one["cache_s"] > 0 for name, one in again.items() if name != "plain")
    assert not any(one["misses"] for one in again.values())
