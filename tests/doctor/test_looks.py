"""The lines at which a program is seen: in a run of its own and in a block, in C and in Python."""

from __future__ import annotations

import json
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests import started

from coldwarm.doctor.block import DoctorBlock

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
    import time

    def summed(n):
        total = 0
        for i in range(n):
            total += i * i
        return total

    def waited():
        time.sleep(0.4)

    summed(4_000_000)
    sorted(range(3_000_000, 0, -1), key=float)
    waited()
"""


def looked(folder: Path, text: str) -> dict[str, Any]:
    (folder / "program.py").write_text(textwrap.dedent(text), encoding="utf-8")
    command = [sys.executable, "-m", "coldwarm", "doctor", "--json", "-o", "report.json"]
    done = started.python([*command, "program.py"], cwd=folder, timeout_s=240)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads((folder / "report.json").read_text("utf-8"))
    return report


def test_lines_add_up_to_the_time_of_the_program(tmp_path: Path) -> None:
    report = looked(tmp_path, PROGRAM)
    spent: dict[str, float] = {}
    for one in report["lines"]:
        spent[one["source"]] = spent.get(one["source"], 0.0) + one["seconds"]
    account = report["account"]
    assert sum(spent.values()) <= account["total_s"]
    assert spent["time.sleep(0.4)"] > 0.3  # it sleeps for as long at least
    in_python = {"total += i * i", "for i in range(n):"} & spent.keys()
    assert sum(spent[one] for one in in_python) > 0.0
    assert spent["sorted(range(3_000_000, 0, -1), key=float)"] > 0.0
    names = {one["caller"] for one in report["lines"]}
    assert {"summed", "waited", "<module>"} <= names


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no calls are told of")
def test_operators_of_arrays_are_operations(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    text = """
        import jax.numpy as jnp

        x = jnp.ones(3)
        for turn in range(3000):
            x = x * 0.5 + 1.0
    """
    (found,) = [
        one for one in looked(tmp_path, text)["findings"] if one["pattern"] == "no-jit-hot-loop"
    ]
    assert found["n"] == 6000


def test_a_block_is_looked_at_too() -> None:
    with DoctorBlock() as first:
        time.sleep(0.2)
    with DoctorBlock() as second:
        sum(i * i for i in range(10))
        time.sleep(0.3)
    (line,) = {one.line for one in first.report.lines}
    assert sum(one.seconds for one in first.report.lines) > 0.1
    assert line not in {one.line for one in second.report.lines}
    assert sum(one.seconds for one in second.report.lines) > 0.2
