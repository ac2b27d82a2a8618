"""Processes of a run that are killed from outside, at any moment; then the run is resumed."""

from __future__ import annotations

import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import psutil
from benchmarks.faults.scene import Fault

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from benchmarks.faults.scene import Scene

PLAN = (
    *("--backend", "numpy,honest", "--deterministic"),
    *("--rounds", "2", "--max-rounds", "2"),
)
LASTS_S = 6.0
"""About so long the plan takes undisturbed."""
VICTIMS = ("runner", "guard", "worker", "runner guard", "guard worker", "runner worker")
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
ENDED = {
    "SIGKILL": {-9},
    "SIGTERM": {130, -15},
    "SIGINT": {130, -2},
    "SIGHUP": {130, -1},
}
"""What the command may return where the runner got the signal; below 0: it had hardly begun."""


def faults(random_: random.Random) -> Iterator[Fault]:
    """Yield one fault for each set of victims, signal and some moments."""
    for victims in VICTIMS:
        for name in SIGNALS if victims == "runner" else ("SIGKILL", "SIGTERM"):
            for _ in range(5 if victims in {"runner", "worker"} else 3):
                at_s = random_.uniform(0.0, LASTS_S)
                act = partial(_kill, victims.split(), name, at_s)
                yield Fault("kill", f"{name} to {victims} after {at_s:.2f} s", act)


def _kill(victims: list[str], name: str, at_s: float, scene: Scene) -> None:
    process = scene.lab.start(*PLAN)
    with suppress(subprocess.TimeoutExpired):
        process.wait(at_s)
    over = process.poll() is not None
    for victim in [] if over else _processes(process.pid, victims):
        with suppress(psutil.Error):
            victim.send_signal(signal.Signals[name])
    killed = "runner" in victims and not over
    scene.judge(process, {*ENDED[name], 0} if killed else {0})
    scene.look_for_processes()
    before = scene.intact()
    journal = scene.lab.out / "journal.jsonl"
    begun = journal.exists() and b"\n" in journal.read_bytes()
    codes = {0} if begun else {0, 2}
    status = scene.command("run", *scene.lab.arguments(*PLAN, "--resume"), codes=codes)
    if status == 0:
        scene.count_lost(before)
        scene.command("validate", scene.lab.out, codes={0})


def _processes(runner: int, names: list[str]) -> list[psutil.Process]:
    """Return the processes of a run by role, the runner last: it would end the others."""
    found: list[psutil.Process] = []
    with suppress(psutil.Error):
        parent = psutil.Process(runner)
        for child in parent.children(recursive=True):
            with suppress(psutil.Error):
                line = " ".join(child.cmdline())
                role = "guard" if "guard.py" in line else "worker" if "worker" in line else ""
                if role in names:
                    found.append(child)
        if "runner" in names:
            found.append(parent)
    return found


def stopped(seconds: float, scene: Scene) -> None:
    """Stop the runner for a while, as a suspended machine does."""
    process = scene.lab.start(*PLAN)
    time.sleep(1.0)
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)
    scene.judge(process, {0})
