"""Bytecode that a full disk or a limit has cut: never left behind, and never in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.faults import lab

from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., subprocess.CompletedProcess[str]]

ONE = ("run", "--case", "numpy_matmul_512_f32", "--cache-mode", "cold_process_cold_cache")
FEW = ("--rounds", "1", "--max-rounds", "1", "--time-budget", "60s", "--out")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package, without any bytecode."""
    to = tmp_path / "src" / "coldwarm"
    shutil.copytree(lab.SOURCE / "coldwarm", to, ignore=shutil.ignore_patterns("__pycache__"))
    return to


@pytest.fixture
def run(tmp_path: Path, package: Path) -> Run:
    """Return what runs the copy, behind a prefix."""

    def call(*arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("COLDWARM", "PYTHON"))}
        return subprocess.run(
            [*prefix, sys.executable, "-m", "coldwarm", *arguments],
            env={**kept, "PYTHONPATH": str(package.parent)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return call


@pytest.mark.slow
def test_a_limit_on_files_leaves_no_half_of_one(run: Run, package: Path) -> None:
    """GIVEN 4 KB a file WHEN a run fails for it THEN the next one, without it, is fine."""
    limited = ("sh", "-c", 'ulimit -f 8; exec "$@"', "sh")
    assert run(*ONE, *FEW, "a", prefix=limited).returncode in {
        ExitCode.FAILED,
        ExitCode.NOTHING_VALID,
        ExitCode.INTERNAL,
    }
    whole = run(*ONE, *FEW, "b")
    assert whole.returncode == 0, whole.stderr
    assert Path(cache_from_source(str(package / "worker" / "session.py"))).exists()


@pytest.mark.slow
def test_what_was_cut_before_is_mended(run: Run, package: Path) -> None:
    """GIVEN every file of bytecode that measured processes load cut or emptied THEN it is fine."""
    assert run("cases").returncode == 0
    assert run(*ONE, *FEW, "a").returncode == 0
    cut = sorted((package / "worker").rglob("*.pyc"))
    for place, file in enumerate(cut):
        data = file.read_bytes()
        file.write_bytes([data[: len(data) // 2], bytes(len(data)), b"", data[:16]][place % 4])
    done = run(*ONE, *FEW, "b")
    assert done.returncode == 0, done.stderr


def test_a_command_whose_own_bytecode_is_cut_says_so_once(run: Run, package: Path) -> None:
    """GIVEN half a file THEN it is no interruption and no regression, and the next run is fine."""
    assert run("cases").returncode == 0
    file = Path(cache_from_source(str(package / "registry.py")))
    file.write_bytes(file.read_bytes()[:2000])
    done = run("cases")
    assert done.returncode == ExitCode.INTERNAL
    [line] = done.stderr.splitlines()
    assert f"{file} was only half written" in line
    assert "has been removed; run the command again" in line
    assert run("cases").returncode == 0
