"""A history that is being added to when the process is killed, or the disk is full."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.history.test_history import made, series, told
from tests.started import coldwarm

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def files(folder: Path, n: int) -> list[Path]:
    """Write files of pytest-benchmark, one of each day."""
    written = []
    for place in range(n):
        data = [0.001 + 1e-6 * (k % 5) + 1e-6 * (place % 3) for k in range(50)]
        document = {
            "machine_info": {"cpu": {"brand_raw": "a processor"}},
            "commit_info": {"id": f"{place:040x}"},
            "benchmarks": [{"fullname": f"test_{k}", "stats": {"data": data}} for k in range(30)],
            "datetime": f"2026-01-{place + 1:02}T12:00:00+00:00",
        }
        written.append(folder / f"{place}.json")
        written[-1].write_text(json.dumps(document), encoding="utf-8")
    return written


def add(
    results: list[Path], folder: Path, python: Sequence[str] = (sys.executable,)
) -> subprocess.Popen[str]:
    line = [*python, "-m", "coldwarm", "history", "add", *map(str, results)]
    return subprocess.Popen(
        [*line, "--to", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def whole(folder: Path) -> set[str]:
    """Return the commits of the runs that are there, each with all of its figures."""
    found: dict[str, int] = {}
    for one in told("query", folder)["rows"]:
        found[one["commit"]] = found.get(one["commit"], 0) + 1
    assert set(found.values()) <= {30}, "a run without some of its figures"
    return set(found)


@pytest.mark.slow
def test_a_killed_addition_leaves_whole_runs_and_goes_on(tmp_path: Path) -> None:
    results, folder = files(tmp_path, 20), tmp_path / "history"
    ended = add(results[:1], folder)
    ended.communicate()
    before = whole(folder)
    n_killed = 0
    for step in range(12):
        running = add(results, folder)
        time.sleep(0.25 + 0.06 * step)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        n_killed += running.returncode == -signal.SIGKILL
        now = whole(folder)
        assert before <= now, "what was there is there"
        before = now
    assert n_killed
    last = add(results, folder)
    _, err = last.communicate()
    assert last.returncode == 0, err
    assert len(whole(folder)) == len(results)
    assert coldwarm("history", "check", folder).returncode == 0


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Python that takes another one's place, with files of so many bytes at most."""


def limited(n_bytes: int) -> list[str]:
    return [sys.executable, "-c", LIMITED, str(n_bytes)]


@pytest.mark.parametrize("n_bytes", [0, 1000, 9000])
def test_a_full_disk_is_told_in_one_line(tmp_path: Path, n_bytes: int) -> None:
    results, folder = files(tmp_path, 3), tmp_path / "history"
    first = add(results[:2], folder)
    first.communicate()
    assert first.returncode == 0
    before = whole(folder)
    running = add(results, folder, limited(n_bytes))
    _, err = running.communicate()
    assert (running.returncode, len(err.splitlines())) == (3, 1), err
    assert "cannot be written" in err
    assert whole(folder) == before
    names = [one.name for one in (folder / "runs").iterdir()]
    assert not [one for one in names if one.startswith(".")], "what was begun is removed"


def test_a_history_without_room_for_an_index_is_read(tmp_path: Path) -> None:
    folder = made(tmp_path / "history", series(40, 0.1, 30))
    line = [*limited(0), "-m", "coldwarm", "history", "check", str(folder), "--format", "json"]
    done = subprocess.run(
        line,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(json.loads(done.stdout)["changes"]) == 1
