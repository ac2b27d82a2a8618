"""Runs a program before and after a change in turns, each in a fresh process, to its end."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.caches import files, modes
from coldwarm.caches import jax as jax_cache
from coldwarm.runner.doctor.starting import environment
from coldwarm.runner.process import guarded, isolation, temporary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from coldwarm.contracts.doctor import CachesAs
    from coldwarm.runner.doctor.earlier import Side

SIDES = ("before", "after")
_OWNERS = ("jax", "inductor", "numba", "cuda", "extensions")
"""The caches of compiled programs, as ``coldwarm.caches`` names them."""


class TimeOverError(Exception):
    """The time for all runs is over; the one that was running was ended."""


@dataclass(frozen=True)
class Run:
    """One process."""

    seconds: float
    """From its start to its end."""
    status: int
    stdout: bytes
    stderr: bytes


@dataclass
class Turns:
    """What is run in turns."""

    python: str
    sides: Mapping[str, Side]
    caches: CachesAs
    work: Path
    end_s: float = math.inf
    """When the time for all runs is over, on the clock that their lengths are from."""

    def watched(self, name: str, journal: Path) -> Run:
        """Run one side with the recorder inside, and with empty caches of its own."""
        folder = self.work / f"{name}-watched"
        return self._run(self.sides[name], environment(journal, self._variables(name, folder)))

    def rounds(self, number: int) -> Iterator[dict[str, Run]]:
        """Run both sides so often, each first in every other round; give each round as it ends.

        A round in which a process failed is the last one.

        Raises:
            TimeOverError: the time is over in the middle of a round.
        """
        if self.caches == "filled":
            for name, side in self.sides.items():
                self._run(side, self._variables(name, self.work / name))
        for at in range(number):
            order = SIDES if at % 2 == 0 else SIDES[::-1]
            found = {name: self._one(name, at) for name in order}
            yield found
            if any(run.status for run in found.values()):
                break

    def _one(self, name: str, at: int) -> Run:
        folder = self.work / (name if self.caches == "filled" else f"{name}-{at}")
        return self._run(self.sides[name], self._variables(name, folder))

    def _variables(self, name: str, folder: Path) -> dict[str, str]:
        """Return the variables of a process whose caches on disk lie in a folder."""
        variables = {**os.environ, **moved(folder, os.environ)}
        variables.update(isolation.lay(os.environ, temporary.plain(folder) / files.OWNER))
        search = [str(path) for path in self.sides[name].search]
        if search:
            known = variables.get("PYTHONPATH")
            variables["PYTHONPATH"] = os.pathsep.join([*search, *([known] if known else [])])
        return variables

    def _run(self, side: Side, variables: Mapping[str, str]) -> Run:
        """Run a side to its end; what it writes goes to files, which no reader slows down."""
        paths = [self.work / name for name in ("stdout", "stderr")]
        with paths[0].open("wb") as out, paths[1].open("wb") as err:
            begin_s = time.perf_counter()
            status = self._ended(
                lambda: subprocess.Popen(
                    [self.python, *side.command],
                    cwd=side.folder,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    process_group=0,
                )
            )
            seconds = time.perf_counter() - begin_s
        return Run(seconds, status, *(path.read_bytes() for path in paths))

    def _ended(self, start: Callable[[], subprocess.Popen[bytes]]) -> int:
        """Return how a process ended; whatever ends the waiting ends it and its children."""
        process = None
        try:
            with guarded.starting():
                process = start()
            left_s = self.end_s - time.perf_counter()
            return process.wait(None if math.isinf(left_s) else max(left_s, 0))
        except BaseException as error:
            if process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise TimeOverError from None
            raise


def moved(folder: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that move the caches of compiled programs into a folder.

    That of JAX only where ``base`` has one: without a folder JAX keeps nothing on disk. Nothing
    else is set: what a cache keeps is for the program, and its user, to say.
    """
    folder.mkdir(parents=True, exist_ok=True)
    root = temporary.plain(folder)
    found: dict[str, str] = {}
    for name in _OWNERS:
        place = root / name
        place.mkdir(exist_ok=True)
        asked = modes.variables(modes.owner(name), place, "framework_default")
        places = {key: value for key, value in asked.items() if value.startswith(str(place))}
        if name != jax_cache.OWNER or any(base.get(key) for key in places):
            found.update(places)
    return found
