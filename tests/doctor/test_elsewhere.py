"""A program that somebody else starts is watched by variables, and leaves its report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests import started

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jax")
PROGRAM = """
import os, signal, subprocess, sys, jax, jax.numpy as jnp

@jax.jit
def step(x):
    return x * 2

for n in range(5):
    step(jnp.ones(3 + n))
if "children" in sys.argv:
    subprocess.run([sys.executable, os.path.abspath(__file__)], cwd="/", check=True)
print("done", flush=True)
if "replaced" in sys.argv:
    os.execv(sys.executable, [sys.executable, *sys.argv[:1], *sys.argv[2:]])
if "os._exit" in sys.argv:
    os._exit(3)
if "killed" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
if "raises" in sys.argv:
    raise ValueError("at its end")
"""


def coldwarm(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return started.coldwarm("doctor", *arguments, cwd=cwd)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def follow(
    folder: Path, *arguments: str, report: str = "out.json"
) -> subprocess.CompletedProcess[str]:
    hook = coldwarm("--hook", cwd=folder).stdout.strip()
    return subprocess.run(
        [sys.executable, "program.py", *arguments],
        env={**os.environ, "PYTHONPATH": hook, "COLDWARM_DOCTOR": report},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
    )


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, int, str]]:
    """Follow the program twice in one folder; keep the folder, the status and the text of each."""
    folder = tmp_path_factory.mktemp("twice")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    found = []
    for after in ("first", "second"):
        done = follow(folder)
        shutil.copytree(folder, copy := folder.with_name(f"{folder.name}-{after}"))
        found.append((copy, done.returncode, done.stdout))
    return found


def read(folder: Path) -> Any:
    done = coldwarm("--read", "out.json", "--json", "--out", "read.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "read.json").read_text("utf-8"))


def codes(report: Any) -> set[str]:
    return {one["code"] for one in report["unseen"]}


def judge_written(folder: Path, program: Path) -> None:
    written = json.loads((folder / "out.json").read_text("utf-8"))
    (found,) = written["findings"]
    assert (found["pattern"], found["path"]) == ("shape-change", str(program))
    assert written["exit_status"] is None
    assert written["started_at"]
    assert "end_not_seen" not in codes(written)
    assert read(folder) == written


def test_a_program_writes_its_report_when_it_ends(twice: list[tuple[Path, int, str]]) -> None:
    folder, status, printed = twice[0]
    assert (status, printed) == (0, "done\n")
    judge_written(folder, folder.with_name(folder.name.removesuffix("-first")) / "program.py")


def test_a_program_that_fails_writes_its_report_when_it_ends(folder: Path) -> None:
    done = follow(folder, "raises")
    assert (done.returncode, done.stdout) == (1, "done\n")
    judge_written(folder, folder / "program.py")


@pytest.mark.parametrize(("how", "status"), [("os._exit", 3), ("killed", -9)])
def test_one_that_gets_no_time_for_it_has_left_what_it_is_from(
    folder: Path, how: str, status: int
) -> None:
    (folder / "out.json").write_text("of an earlier program", encoding="utf-8")
    assert follow(folder, how).returncode == status
    assert not (folder / "out.json").exists()
    report = read(folder)
    assert [one["pattern"] for one in report["findings"]] == ["shape-change"]
    assert "end_not_seen" in codes(report)


def test_children_are_in_the_report_wherever_they_work(folder: Path) -> None:
    assert follow(folder, "children").returncode == 0
    written = json.loads((folder / "out.json").read_text("utf-8"))
    assert written["n_processes"] == 2
    (found,) = written["findings"]
    assert (found["pattern"], found["n_processes"]) == ("shape-change", 2)
    assert written["others"]["n_compiles"] > 0


@pytest.mark.parametrize("then", ["", "os._exit"])
def test_a_process_that_replaces_its_program_is_told_as_a_whole(folder: Path, then: str) -> None:
    follow(folder, "replaced", *filter(None, [then]))
    report = read(folder)
    assert report["n_processes"] == 2
    (found,) = report["findings"]
    assert (found["pattern"], found["n_processes"]) == ("shape-change", 2)
    assert "program_replaced" in codes(report)
    assert ("end_not_seen" in codes(report)) == bool(then)
    assert (folder / "out.json").exists() != bool(then)


def test_the_next_program_begins_anew(twice: list[tuple[Path, int, str]]) -> None:
    folder, _, _ = twice[1]
    assert json.loads((folder / "out.json").read_text("utf-8"))["n_processes"] == 1
    assert len(list((folder / "out.json.journal").glob("*.jsonl"))) == 1


def test_each_program_has_a_report_of_its_own_where_that_is_asked_for(folder: Path) -> None:
    (folder / "program.py").write_text("print('done')", encoding="utf-8")
    for _ in range(2):
        follow(folder, report="out-%p.json")
    assert len(list(folder.glob("out-*.json"))) == 2


def test_a_report_alone_can_be_read_and_has_no_timeline(
    folder: Path, twice: list[tuple[Path, int, str]]
) -> None:
    shutil.copy(twice[0][0] / "out.json", folder)
    (folder / "out.json.journal").mkdir()
    done = coldwarm("--read", "out.json", "--fail-on", "recompile:3", cwd=folder)
    assert done.returncode == 1
    assert "shape-change" in done.stderr
    done = coldwarm("--read", "out.json", "--perfetto", "trace.json", cwd=folder)
    assert done.returncode == 2
    assert "timeline" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--read", "missing.json"], "neither a report nor journals beside it"),
        (["--read", "program.py"], "program.py"),
        (["--read", "out.json", "program.py"], "stand alone"),
        (["--hook", "program.py"], "stand alone"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(
    folder: Path, arguments: list[str], said: str
) -> None:
    done = coldwarm(*arguments, cwd=folder)
    assert done.returncode in {2, 3}
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
