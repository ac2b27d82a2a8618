"""The doctor at first sight: programs with faults labelled by those who had not seen its rules.

``python -m benchmarks.doctor_sight FOLDER --python PY [PART …] [--out FILE]`` runs each program of
``FOLDER`` (those whose name has one of the parts) under the doctor, with empty caches, and says for
each label whether a finding that matters is at the labelled line or at one that is as good, and of
the healthy programs whether one was accused. The folder has a ``labels.json`` in each of its
folders, as in ``results/doctor_sight.tar.gz``. Findings at other lines are listed: a person reads
them. ``PY`` has the packages, and coldwarm is run by it from these sources.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import copytree, which
from typing import TYPE_CHECKING, Any

from coldwarm.contracts import codec
from coldwarm.contracts.doctor import DoctorReport
from coldwarm.doctor.judge import is_small

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding

ROOT = Path(__file__).resolve().parents[1]
LONGEST_S = 600.0


@dataclass
class Seen:
    """What the doctor said of one program."""

    program: str
    healthy: bool
    status: int | None
    """``None``: it took too long."""
    total_s: float = 0.0
    named: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Findings that matter and are at no labelled line."""


def programs(folder: Path, parts: list[str]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the folders of the programs, each with its label."""
    for labels in sorted(folder.glob("*/labels.json")):
        for label in json.loads(labels.read_text(encoding="utf-8")):
            place = labels.parent / label["program"]
            if not parts or any(part in f"{place.parent.name}/{place.name}" for part in parts):
                yield place, label


def seen(place: Path, label: dict[str, Any], python: str) -> Seen:
    """Run a program under the doctor, and hold what it says against the label."""
    name = f"{place.parent.name}/{place.name}"
    with tempfile.TemporaryDirectory() as apart:
        copied = copytree(place, Path(apart) / "program")
        out = Path(apart) / "report.json"
        variables = {
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": str(ROOT / "src"),
            "NUMBA_CACHE_DIR": f"{apart}/numba",
            "TORCHINDUCTOR_CACHE_DIR": f"{apart}/inductor",
        }
        command = [python, "-m", "coldwarm", "doctor", "--json", "--out", str(out), "main.py"]
        ended = subprocess.Popen(
            command,
            cwd=copied,
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            status = ended.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(ended.pid, signal.SIGKILL)  # the program too, which would run on
            ended.wait()
            texts = [one["line_text"] for one in label["faults"]]
            return Seen(name, label["healthy"], None, unnamed=texts)
        report = codec.load_as(DoctorReport, out)
    return _judged(name, label, status, report)


def _judged(name: str, label: dict[str, Any], status: int, report: DoctorReport) -> Seen:
    total_s = report.account.total_s
    worth = [one for one in report.findings if not is_small(one, total_s)]
    found = Seen(name, label["healthy"], status, total_s)
    matched: list[Finding] = []
    for fault in label["faults"]:
        of_it = [one for one in worth if _is_at(one, fault)]
        matched += of_it
        (found.named if of_it else found.unnamed).append(f"{fault['file']}: {fault['line_text']}")
    found.others = [
        f"{one.pattern} {Path(one.path).name}:{one.line} {one.source[:60]} ({one.cost_s})"
        for one in worth
        if one not in matched
    ]
    return found


def _is_at(one: Finding, fault: dict[str, Any]) -> bool:
    """Say whether a finding is at a labelled line, or at one that is as good."""
    if one.source.strip() == fault["line_text"].strip():
        return Path(one.path).name == str(fault["file"])
    return one.source.strip() in {text.strip() for text in fault.get("also_ok", [])}


def table(rows: list[Seen]) -> str:
    """Return how many faults of each kind of program were named, and how many healthy accused."""
    lines = ["kind     faults  named   healthy  accused"]
    for kind in [*dict.fromkeys(one.program.partition("/")[0] for one in rows), ""]:
        ours = [one for one in rows if one.program.startswith(kind)]
        n_named = sum(len(one.named) for one in ours)
        n_faults = n_named + sum(len(one.unnamed) for one in ours)
        healthy = [one for one in ours if one.healthy]
        accused = sum(bool(one.others) for one in healthy)
        name = kind or "all"
        lines.append(f"{name:8} {n_faults:6} {n_named:6} {len(healthy):9} {accused:8}")
    return "\n".join(lines)


def main() -> None:
    """Run what is asked for, and print what was said of each program, and the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--python", required=True)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    python = str(Path(which(asked.python) or asked.python).absolute())
    rows = []
    for place, label in programs(asked.folder, asked.parts):
        one = seen(place, label, python)
        rows.append(one)
        print(f"{one.program}  {one.total_s:.1f} s{'  healthy' * one.healthy}", flush=True)
        for what, texts in (("named", one.named), ("NOT", one.unnamed), ("also", one.others)):
            for text in texts:
                print(f"    {what:6} {text}", flush=True)
        if asked.out is not None:
            asked.out.write_text(json.dumps([asdict(each) for each in rows], indent=1) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
