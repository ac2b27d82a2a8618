"""The doctor on programs that nobody here wrote, from packages' source distributions.

``python -m benchmarks.doctor_real --sources DIR --python PY [PART …] [--save]`` runs each program
of ``doctor_programs.toml`` (those whose path has one of the parts) without the doctor and with it,
in folders of their own, and says whether the exit status and the output are the same, how long both
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
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "doctor_programs.toml"
RESULTS = HERE / "results" / "doctor_real.json"
LONGEST_S = 180.0
_BLOCK = re.compile(
    r"^( *)```(?:\{code-cell\}[^\n]*|python|py)\n(.*?)^\1```", re.DOTALL | re.MULTILINE
)
_OPTIONS = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Program:
    """A program of a source distribution."""

    package: str
    """With its version, as the folder is called."""
    path: str
    run: str
    """``script``, ``blocks`` (the code of a page or notebook, put together) or ``pytest``."""
    arguments: tuple[str, ...] = ()
    passes: str = "timing"

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return " ".join([f"{self.package}/{self.path}", *self.arguments])

    def command(self, sources: Path, folder: Path) -> list[str]:
        """Return what stands behind ``python``; code blocks are written into ``folder``."""
        file = sources / self.package / self.path
        if self.run == "pytest":
            test = "::".join([str(file), *self.arguments[:1]])
            quiet = ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=line"]
            return ["-m", "pytest", *quiet, test, *self.arguments[1:]]
        if self.run == "blocks":
            written = folder / (file.stem + ".py")
            page = file.read_text(encoding="utf-8")
            code = cells(page) if file.suffix == ".ipynb" else blocks(page)
            written.write_text(code, encoding="utf-8")
            file = written
        return [str(file), *self.arguments]


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    output: str
    seconds: float
    report: dict[str, Any] | None = None


def programs() -> list[Program]:
    """Return the programs of the list."""
    written = tomllib.loads(PROGRAMS.read_text(encoding="utf-8"))
    return [
        Program(
            package=one["package"],
            path=one["path"],
            run=one.get("run", "script"),
            arguments=tuple(one.get("arguments", ())),
            passes=one.get("passes", "timing"),
        )
        for one in written["programs"]
    ]


def blocks(page: str) -> str:
    """Return the Python code of a page in Markdown, without prompts and lines for a notebook.

    Each line stays at the number that it has in the page.
    """
    kept = [""] * (page.count("\n") + 1)
    for found in _BLOCK.finditer(page):
        first = page.count("\n", 0, found.start(2))
        options = _OPTIONS.match(found[2])
        n_options = options[0].count("\n") if options else 0
        prompted = re.search(r"^>>> ", found[2], re.MULTILINE) is not None
        for at, line in enumerate(found[2].splitlines()):
            if at >= n_options and not line.startswith((":", "!", "%")):
                kept[first + at] = _unprompted(line) if prompted else line.removeprefix(found[1])
    return "\n".join(kept) + "\n"


def cells(notebook: str) -> str:
    """Return the code of a notebook, cell by cell, without lines for the notebook itself."""
    found = json.loads(notebook)["cells"]
    code = "\n".join("".join(one["source"]) for one in found if one["cell_type"] == "code")
    return re.sub(r"^[!%].*$", "", code, flags=re.MULTILINE) + "\n"


def _unprompted(line: str) -> str:
    """Return what is typed behind a prompt; of what is printed, nothing."""
    return line[4:] if line.startswith((">>> ", "... ")) else ""


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
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    listed = programs()
    wanted = [
        one
        for one in listed
        if not options.parts or any(part in one.name for part in options.parts)
    ]
    rows = {one["program"]: one for one in before}
    changed = False
    for program in wanted:
        one = row(program, options.sources.resolve(), options.python)
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
