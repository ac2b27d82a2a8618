"""A terminal that is closed (SIGHUP) ends every command as SIGTERM does, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SLOW = """
import pathlib, time
def slow(x):
    pathlib.Path("begun").touch()
    time.sleep(60)
    return x
if __name__ == "__main__":
    slow(1)
"""
COMMANDS = {
    "bench": ("bench", "slow.py:slow", "--input", "x=f64[3]"),
    "noise": ("noise", "slow.py:slow", "--input", "x=f64[3]", "--time-budget", "60s"),
    "doctor": ("doctor", "slow.py"),
    "doctor and more": ("doctor", "--format", "html", "--perfetto", "p.json", "slow.py"),
}
ENDING = [signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", ENDING, ids=lambda one: one.name)
@pytest.mark.parametrize("name", COMMANDS)
def test_it_ends_a_command_and_leaves_no_folder(
    name: str, number: signal.Signals, tmp_path: Path
) -> None:
    with _begun(tmp_path, COMMANDS[name]) as process:
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == (-number if name.startswith("doctor") else 130), errors
    assert b"Traceback" not in errors
    assert [one.name for one in (tmp_path / "tmp").iterdir() if "coldwarm" in one.name] == []


def test_one_that_ignores_it_goes_on(tmp_path: Path) -> None:
    """``nohup`` starts a command so."""
    with _begun(tmp_path, COMMANDS["bench"], "signal.signal(signal.SIGHUP, signal.SIG_IGN)") as one:
        one.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert one.poll() is None
        one.send_signal(signal.SIGTERM)
        one.communicate(timeout=60)
    assert one.returncode == 130


def test_what_a_killed_one_has_left_the_next_removes(tmp_path: Path) -> None:
    for command in (COMMANDS["doctor"], COMMANDS["bench"]):
        (tmp_path / "begun").unlink(missing_ok=True)
        with _begun(tmp_path, command) as process:
            os.killpg(process.pid, signal.SIGKILL)  # the program too
            process.communicate(timeout=60)
    assert any((tmp_path / "tmp").glob("coldwarm-*"))
    (tmp_path / "quick.py").write_text("def f(x):\n    return x\n", encoding="utf-8")
    line = ("bench", "quick.py:f", "--input", "x=f64[3]", "--max-rounds", "1", "--warm-only")
    done = subprocess.run(
        [sys.executable, "-m", "coldwarm", *line, "--rounds", "1"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "tmp").glob("coldwarm-*")) == []


def _begun(folder: Path, command: tuple[str, ...], before: str = "pass") -> subprocess.Popen[bytes]:
    """Start a command, and wait until the user's function has begun."""
    (folder / "tmp").mkdir(exist_ok=True)
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    reset = "signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    starts = f"import os, signal, sys; {reset}; {before}; os.execv(sys.executable, sys.argv[1:])"
    line = [sys.executable, "-m", "coldwarm", *command]
    process = subprocess.Popen(
        [sys.executable, "-c", starts, *line],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    ends_s = time.monotonic() + 120
    while not (folder / "begun").exists() and process.poll() is None:
        assert time.monotonic() < ends_s
        time.sleep(0.05)
    return process
