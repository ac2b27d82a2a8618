"""The doctor on programs that nobody here wrote, from packages' source distributions.

``python -m benchmarks.doctor_real --sources DIR --python PY [PART …] [--save]`` runs each program
of ``programs.toml`` (those whose path has one of the parts) without the doctor and with it, in
folders of their own, and says whether the exit status and the output are the same, how long both
took, and what the doctor found. ``--save`` writes that to ``results/doctor_real.json``, where each
finding has a label that a person gave it after reading the program: *right*, *minor* (right, and of
no matter), or *false*. A label stays while the finding is at the same line; a new finding has none.
``DIR`` holds the unpacked source distributions, and ``PY`` is an interpreter that has the packages.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.doctor_real.programs import programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.doctor_real.programs import Program

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "doctor_real.json"
LONGEST_S = 180.0
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    output: str
    seconds: float
    report: dict[str, Any] | None = None


def plain(program: Program, sources: Path, python: str) -> Ended:
    """Run a program as it is."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, *program.command(sources, Path(folder))]
        return _run(command, Path(folder))


def watched(program: Program, sources: Path, python: str) -> Ended:
    """Run a program under the doctor."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as apart:
        out = Path(apart) / "doctor.json"
        doctor = [sys.executable, "-m", "coldwarm", "doctor", "--python", python]
        doctor += ["--passes", program.passes, "--format", "json", "--out", str(out)]
        ended = _run([*doctor, *program.command(sources, Path(folder))], Path(folder))
        report = json.loads(out.read_text(encoding="utf-8")) if out.exists() else None
    return Ended(ended.status, ended.output, ended.seconds, report)


def _run(command: list[str], folder: Path) -> Ended:
    variables = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "MPLBACKEND": "agg",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
    begin_s = time.perf_counter()
    ended = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=LONGEST_S,
        check=False,
    )  # fmt: skip
    seconds = time.perf_counter() - begin_s
    return Ended(ended.returncode, ended.stdout.replace(str(folder), "FOLDER"), seconds)


def same(first: str, doctors: str, second: str | None = None) -> bool:
    """Say whether two outputs are one, but for addresses, and what differs without the doctor too.

    ``second`` is of another run without the doctor.
    """
    lines = [_ADDRESS.sub("0x", text).splitlines() for text in (first, doctors, second or first)]
    if len({len(one) for one in lines}) > 1:
        return False
    return all(a == b or a != c for a, b, c in zip(*lines, strict=True))


def row(program: Program, sources: Path, python: str) -> dict[str, Any]:
    """Return what became of one program."""
    without = plain(program, sources, python)
    doctors = watched(program, sources, python)
    alike = same(without.output, doctors.output)
    if not alike:
        again = plain(program, sources, python)
        alike = same(without.output, doctors.output, again.output)
    report = doctors.report or {"findings": [], "account": {}, "versions": {}}
    return {
        "program": program.name,
        "package": program.package,
        "run": program.run,
        "passes": program.passes,
        "exit_plain": without.status,
        "exit_doctor": doctors.status,
        "same_output": alike,
        "plain_s": round(without.seconds, 2),
        "doctor_s": round(doctors.seconds, 2),
        "reported": doctors.report is not None,
        "account": {
            name: round(value, 3)
            for name, value in report["account"].items()
            if isinstance(value, float)
        },
        "versions": report["versions"],
        "findings": [_finding(one, sources, program) for one in report["findings"]],
    }


def _finding(found: dict[str, Any], sources: Path, program: Program) -> dict[str, Any]:
    path = found["path"].removeprefix(f"{sources}{os.sep}")
    if program.run == "blocks" and Path(path).stem == Path(program.path).stem:
        path = f"{program.package}/{program.path}"
    path = re.sub(r"^.*/site-packages/", "", path)
    cost_s = found["cost_s"]
    return {
        "pattern": found["pattern"],
        "path": path,
        "line": found["line"],
        "source": found["source"],
        "cost_s": None if cost_s is None else round(cost_s, 4),
        "text": found["text"],
    }


def labelled(rows: Iterable[dict[str, Any]], before: Iterable[dict[str, Any]]) -> None:
    """Give findings the labels that they had: of the same program, pattern, file and line."""
    known = {
        (one["program"], *_key(each)): each for one in before for each in one["findings"]
    }  # fmt: skip
    for one in rows:
        for each in one["findings"]:
            was = known.get((one["program"], *_key(each)), {})
            each["label"], each["why"] = was.get("label", ""), was.get("why", "")


def _key(found: dict[str, Any]) -> tuple[str, str, int]:
    return found["pattern"], found["path"], found["line"]


def told(one: dict[str, Any]) -> Iterator[str]:
    """Yield what became of a program, in lines."""
    ends = f"{one['exit_plain']}/{one['exit_doctor']}"
    alike = "same output" if one["same_output"] else "OTHER OUTPUT"
    yield f"{one['program']}: exit {ends}, {alike}, {one['plain_s']} s, {one['doctor_s']} s"
    for each in one["findings"]:
        cost = "" if each["cost_s"] is None else f" {each['cost_s'] * 1e3:.0f} ms"
        yield f"   {each['pattern']} {each['path']}:{each['line']}{cost} [{each['label']}]"
        yield f"      {each['source']}"
        yield f"      {each['text']}"


def main() -> int:
    """Run the programs; return 1 where the doctor changed one of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.doctor_real")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--python")
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    if options.sources is None or options.python is None:
        parser.error("--sources and --python say where the programs are, and what runs them")
    listed = programs()
    wanted = [
        one
        for one in listed
        if not options.parts or any(part in one.name for part in options.parts)
    ]
    rows = {one["program"]: one for one in before}
    changed = False
    for program in wanted:
        try:
            one = row(program, options.sources.resolve(), options.python)
        except subprocess.TimeoutExpired:
            print(f"{program.name}: took longer than {LONGEST_S:g} s, and is left out", flush=True)
            continue
        labelled([one], before)
        print("\n".join(told(one)), flush=True)
        changed |= one["exit_plain"] != one["exit_doctor"] or not one["same_output"]
        rows[program.name] = one
        if options.save:
            kept = [rows[each.name] for each in listed if each.name in rows]
            text = json.dumps(kept, indent=1, ensure_ascii=False)
            RESULTS.write_text(text + "\n", encoding="utf-8")
    return int(changed)


if __name__ == "__main__":
    sys.exit(main())
