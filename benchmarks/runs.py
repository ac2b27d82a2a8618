"""Runs the command as a user does, and reads what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

from coldwarm.contracts import codec
from coldwarm.contracts.result import CaseResult, SuiteResult

COLDWARM = str(Path(sysconfig.get_path("scripts"), "coldwarm"))


@dataclass(frozen=True)
class Run:
    """What a run left, and how long the whole command took."""

    suite: SuiteResult
    cases: list[CaseResult]
    command_s: float


def coldwarm(out_dir: Path, *arguments: str, path: Path | None = None) -> Run:
    """Run ``coldwarm run`` into a new directory; ``path`` holds plug-ins.

    Every run is deterministic: the same processes each time, whatever they show.

    Raises:
        SystemExit: the command failed; what it said is shown.
    """
    variables = dict(os.environ)
    if path is not None:
        variables["PYTHONPATH"] = str(path)
    begin_s = time.perf_counter()
    done = subprocess.run(
        [COLDWARM, "run", "--deterministic", "--json", "--out", str(out_dir), *arguments],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    command_s = time.perf_counter() - begin_s
    if done.returncode:
        sys.exit(
            f"coldwarm run {' '.join(arguments)} exited with {done.returncode}:\n{done.stderr}"
        )
    suite = codec.load_as(SuiteResult, out_dir / "suite.json")
    cases = [codec.load_as(CaseResult, out_dir / row.path) for row in suite.cases]
    return Run(suite, cases, command_s)


def install(project: Path, target: Path) -> None:
    """Install a project of this checkout into a folder of its own, without the network."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--target", str(target), str(project)]
    subprocess.run([*pip, *offline], check=True)
