"""The doctor's account of a program's time, beside what the frameworks tell of themselves.

    python -m benchmarks.doctor_account FOLDER [PART …] --python PYTHON [--save]

Runs the programs of ``FOLDER`` (those whose name has one of the parts, ten of each folder in it)
once each under the doctor, while JAX's log, Numba's events or PyTorch's table of phases are kept
in the same process. The parts of the account must add up to the life of the process, as the kernel
has it, within 2 %; tracing, lowering and compiling to what the framework has told within 5 %, or
within 50 ms. The programs are those of ``results/doctor_sight.tar.gz``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from shutil import copytree, which
from typing import TYPE_CHECKING

from benchmarks.__main__ import RESULTS, save_rows, table
from benchmarks.doctor_sight import ROOT, programs
from benchmarks.rows import Row
from rich.console import Console

from coldwarm.contracts import codec
from coldwarm.contracts.doctor import DoctorReport

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = Path(__file__).parent / "scripts" / "compiling_told.py"
OF_EACH = 10
LONGEST_S = 400.0
MOST_LOOKS, LOOK_S = 500, 0.01
SUM_SHARE, TOLD_SHARE, TOLD_S = 0.02, 0.05, 0.05


def ended_s(file: Path) -> float:
    """Return when the process has ended, as the one that waits for it writes."""
    for _ in range(MOST_LOOKS):
        if file.exists() and (text := file.read_text(encoding="ascii")).endswith("\n"):
            return float(text)
        time.sleep(LOOK_S)
    raise TimeoutError(str(file))


def compared(place: Path, python: str) -> Iterator[Row]:
    """Yield what the account of one program says, beside what was told."""
    name = f"{place.parent.name}/{place.name}"
    with tempfile.TemporaryDirectory() as apart:
        copied = copytree(place, Path(apart) / "program")
        report, told = Path(apart) / "report.json", Path(apart) / "told.json"
        variables = {
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": str(ROOT / "src"),
            "NUMBA_CACHE_DIR": f"{apart}/numba",
            "TORCHINDUCTOR_CACHE_DIR": f"{apart}/inductor",
        }
        doctor = [python, "-m", "coldwarm", "doctor", "--json", "--out", str(report)]
        subprocess.run(
            [*doctor, str(SCRIPT), str(told), "main.py"],
            cwd=copied,
            env=variables,
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
        account = codec.load_as(DoctorReport, report).account
        truth = json.loads(told.read_text(encoding="utf-8"))
        lasted_s = ended_s(told.with_suffix(".end")) - truth["begun_s"]
    parts = [
        *(account.import_s, account.devices_s, account.trace_s, account.lower_s),
        *(account.compile_s, account.cache_s, account.run_s, account.other_s),
    ]
    summed = sum(one for one in parts if one is not None)
    yield _off(name, "parts, added up", (summed, lasted_s), SUM_SHARE)
    compiling_s = account.trace_s + account.lower_s + account.compile_s
    told_s = sum(truth["compiling_s"].values())
    if told_s:
        share = max(TOLD_SHARE, TOLD_S / told_s)
        yield _off(name, "compiling", (compiling_s, told_s), share)


def _off(name: str, what: str, seconds: tuple[float, float], share: float) -> Row:
    """Return by how much the doctor's seconds are off those that others tell."""
    ours, theirs = seconds
    return Row(
        group=name,
        what=what,
        measured=f"{ours:.2f} s",
        against=f"{theirs:.2f} s",
        figure=100 * abs(ours / theirs - 1.0),
        bound=100 * share,
        unit="%",
    )


def main() -> None:
    """Run what is asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--python", required=True)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    python = str(Path(which(asked.python) or asked.python).absolute())
    rows: list[Row] = []
    n_of: dict[str, int] = {}
    for place, _ in programs(asked.folder, asked.parts):
        kind = place.parent.name
        n_of[kind] = n_of.get(kind, 0) + 1
        if n_of[kind] <= OF_EACH:
            rows += compared(place, python)
            Console().print(*(f"{one.what} {one.figure:.1f} %" for one in rows[-2:]), place.name)
    Console().print(table(rows))
    if asked.save:
        save_rows(rows, RESULTS.with_name("doctor_account.json"))


if __name__ == "__main__":
    main()
