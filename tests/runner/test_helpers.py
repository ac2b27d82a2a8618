"""Processes that a measured one has started, which are held and let run with it."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from coldwarm.clock import TIME
from coldwarm.runner import spawn
from coldwarm.runner.spawn import MeasuredProcess

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize(
    ("used_s", "steps"),
    [
        ([None], 0),  # no helper
        ([1.0, 1.2, 1.4, 1.4], 3),  # it starts, and is idle then
        ([1.0, None], 1),  # it ends
        ([float(n) for n in range(9)], 5),  # it goes on computing: the time is over
    ],
)
def test_helpers_are_waited_for_until_they_do_nothing(
    monkeypatch: pytest.MonkeyPatch, used_s: list[float | None], steps: int
) -> None:
    slept: list[float] = []
    clock = SimpleNamespace(perf_counter=lambda: sum(slept), sleep=slept.append)
    monkeypatch.setattr(spawn, "TIME", clock)
    monkeypatch.setattr(spawn, "_LONGEST_S", 4.5 * spawn._STEP_S)
    process, used = object.__new__(MeasuredProcess), iter(used_s)
    monkeypatch.setattr(MeasuredProcess, "_helpers_cpu_s", lambda _: next(used))
    process.let_helpers_start()
    assert len(slept) == steps


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    child = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    busy = "print('ready', flush=True)\nwhile True: pass"
    started = subprocess.Popen([sys.executable, "-c", child, busy], stdout=subprocess.PIPE)
    assert started.stdout is not None
    started.stdout.readline()
    yield started
    for one in psutil.Process(started.pid).children():
        one.kill()
    started.wait()
    started.stdout.close()


def test_the_time_of_helpers_is_known(parent: Any) -> None:
    process = object.__new__(MeasuredProcess)
    process.pid = parent.pid
    before_s = process._helpers_cpu_s()
    assert before_s is not None
    for _ in range(1000):
        if (process._helpers_cpu_s() or 0.0) > before_s:
            break
        TIME.sleep(0.01)
    else:
        pytest.fail("it computes all the time")
    process.pid = 2**22 + 1  # no process has so high a number
    assert process._helpers_cpu_s() is None
