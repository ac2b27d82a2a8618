"""Candidates that misbehave in their own process, each in a run beside an honest one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.faults.scene import Fault
from tests.faults.test_candidates import COLD, FAILED, FINE, WARM, WARNED

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from benchmarks.faults.scene import Scene

HONEST = "numpy"
SLOW = ("hang", "close_pipes", "leave_thread")
"""Not in the tests' tables, because only time shows them."""


def faults(random_: random.Random) -> Iterator[Fault]:
    """Yield a fault for each candidate that misbehaves."""
    names = sorted({*FAILED, *WARNED, *FINE} - {HONEST})
    random_.shuffle(names)
    for name in names:
        code = 3 if name in FAILED else 0
        yield Fault("candidate", name, partial(_run, name, code))


def _run(name: str, code: int, scene: Scene) -> None:
    arguments = ("--backend", f"{HONEST},{name}", "--timeout", "3s", "--max-rounds", "1")
    modes = ("--cache-mode", f"{COLD},{WARM}")
    scene.command("run", *scene.lab.arguments(*arguments, *modes), codes={code})
    scene.look_for_processes()
    seen = scene.intact()
    honest = [one for one in seen.values() if one["case"].startswith(f"{HONEST}_")]
    if not honest:
        scene.found.observations_lost += 1
    scene.count_lost(seen)
    scene.command("validate", scene.lab.out, codes={0})
