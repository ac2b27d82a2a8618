"""What the command does where its output goes: a closed pipe, a terminal without UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a run's directory."""
    return results.write(tmp_path / "run", [results.case(3)], samples.environment())


@pytest.mark.parametrize(
    "command",
    [
        ["show", "RUN"],
        ["compare", "RUN", "RUN"],
        ["export", "RUN", "--format", "pyperf"],
        ["cases"],
    ],
)
def test_a_reader_that_goes_away_is_no_regression(run: Path, command: list[str]) -> None:
    """GIVEN a pipe that nobody reads THEN the status is not 1, which means something else."""
    read, write = os.pipe()
    os.close(read)
    named = results.on(run, command)
    done = subprocess.run(
        [sys.executable, "-m", "coldwarm", *named],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert done.returncode == ExitCode.BROKEN_PIPE
    assert "Traceback" not in done.stderr


def test_a_terminal_without_utf_8_gets_what_it_can_show(run: Path) -> None:
    variables = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "coldwarm", "show", str(run)],
        capture_output=True,
        env=variables,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A pipe would be waited for, for ever."""
    os.mkfifo(tmp_path / "x.json")
    done = subprocess.run(
        [sys.executable, "-m", "coldwarm", "validate", str(tmp_path / "x.json")],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert done.returncode in {2, 3}
    assert "is no regular file" in done.stdout + done.stderr
