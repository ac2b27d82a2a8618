"""What a run leaves where it is killed with its guard: no process, and no file for long."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.faults.lab import Lab, collect, wait_for
from tests.faults.plans import ONE, PLAN, until

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import Popen

COLD = ("--cache-mode", "cold_process_cold_cache")


def daemons(bench: Lab) -> list[int]:
    """Return the processes that a candidate has started in a session of their own."""
    path = bench.path / "daemon"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def alive(numbers: list[int]) -> list[int]:
    return [number for number in numbers if _is_alive(number)]


def _is_alive(number: int) -> bool:
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:  # noqa: PTH123 - one call
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill_both(bench: Lab, process: Popen[str]) -> None:
    """Kill a run and its guard, which is to do nothing in between."""
    guard = next(int(line.split()[0]) for line in bench.alive() if "guard.py" in line)
    os.kill(guard, signal.SIGSTOP)
    process.kill()
    os.kill(guard, signal.SIGKILL)
    collect(process)


@pytest.fixture
def folder(bench: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for temporary files of this test's own."""
    path = bench.path / "t"
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    return path


def test_a_process_without_environment_group_or_session_is_ended(bench: Lab) -> None:
    assert bench.run("--backend", "start_daemon", *COLD).code == 0
    assert len(daemons(bench)) == 1
    wait_for(lambda: not alive(daemons(bench)), bench.alive)


def test_no_worker_outlives_a_run_that_is_killed_with_its_guard(bench: Lab) -> None:
    process = bench.start(*PLAN)
    until(bench, process, 2)
    # Both candidates stay, and one of them is stopped.
    wait_for(lambda: len(bench.workers()) == 2, bench.alive)
    kill_both(bench, process)
    wait_for(lambda: not bench.workers(), bench.alive)


def test_what_a_killed_run_has_left_is_swept_at_the_next_start(bench: Lab, folder: Path) -> None:
    """Folders, links, and processes that nothing connects with it, but nobody else's."""
    (folder / "coldwarm-mine").mkdir()
    (folder / "coldwarm-mine" / "thesis.tex").write_text("years of work")
    (folder / "coldwarm-link").symlink_to(bench.path)
    process = bench.start("--backend", "start_daemon_and_hang", *COLD)
    wait_for(lambda: bool(daemons(bench)), bench.alive)
    kill_both(bench, process)
    wait_for(lambda: not bench.workers(), bench.alive)
    [first] = alive(daemons(bench))
    left = set(folder.iterdir())
    assert len(left) == 3

    living = bench.start("--backend", "hang_stubbornly", *COLD, "--out", bench.path / "other")
    wait_for(lambda: any("sleep 3600" in line for line in bench.alive()), bench.alive)
    assert not alive([first])
    [its] = set(folder.iterdir()) - left
    assert bench.run(*ONE, "--out", bench.path / "third").code == 0
    assert set(folder.iterdir()) == {folder / "coldwarm-mine", folder / "coldwarm-link", its}
    assert len(bench.workers()) == 1, "the one that lives goes on"
    living.send_signal(signal.SIGINT)
    assert collect(living).code == 130
    assert set(folder.iterdir()) == {folder / "coldwarm-mine", folder / "coldwarm-link"}
    assert (folder / "coldwarm-mine" / "thesis.tex").exists()
