"""Runs a program, and writes at its end what the frameworks themselves tell of compiling.

``python compiling_told.py OUT PROGRAM`` writes a JSON object: when the process began, and seconds
of compiling by framework; and when it has ended, into a file beside it. JAX tells them in its log,
Numba by its events, PyTorch in its table of phases. Of JAX and Numba, one compilation inside of
another is counted once.
"""

import atexit
import json
import logging
import os
import re
import runpy
import shlex
import sys
import time
from pathlib import Path
from typing import Any

OUT, PROGRAM = map(Path, sys.argv[1:])
TEXT = "".join(one.read_text(encoding="utf-8") for one in PROGRAM.parent.glob("*.py"))
FINISHED = re.compile(r"Finished .* in ([\d.]+) sec")
spans: dict[str, list[tuple[float, float]]] = {"jax": [], "numba": []}


class Told(logging.Handler):
    """Keeps from when to when JAX says that it has done something."""

    def emit(self, record: logging.LogRecord) -> None:
        """Take note of one line of the log."""
        found = FINISHED.match(record.getMessage())
        if found is not None:
            end_s = time.perf_counter()
            spans["jax"].append((end_s - float(found[1]), end_s))


def follow_jax() -> None:
    """Ask JAX to log what it compiles, and let nobody see it."""
    import jax

    jax.config.update("jax_log_compiles", True)  # noqa: FBT003 - as JAX has it
    for name in ("jax._src.dispatch", "jax._src.interpreters.pxla", "jax._src.compiler"):
        log = logging.getLogger(name)
        log.addHandler(Told())
        log.propagate = False


def follow_numba() -> None:
    """Listen to what Numba compiles."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc] # Numba has no types
        def __init__(self) -> None:
            self.begins: list[float] = []

        def on_start(self, _: object) -> None:
            self.begins.append(time.perf_counter())

        def on_end(self, _: object) -> None:
            spans["numba"].append((self.begins.pop(), time.perf_counter()))

    event.register("numba:compile", Listener())


def joined_s(parts: list[tuple[float, float]]) -> float:
    """Return the seconds in which at least one of the spans was open."""
    total = until = 0.0
    for begin_s, end_s in sorted(parts):
        total += max(0.0, end_s - max(begin_s, until))
        until = max(until, end_s)
    return total


def begun_s() -> float:
    """Return when the process began, in seconds since the machine did."""
    ticks = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
    return int(ticks) / os.sysconf("SC_CLK_TCK")


def watch_end() -> None:
    """Let another process write when this one is gone: its end of a pipe is closed then."""
    reads, writes = os.pipe()
    shell = f"cat; cut -d ' ' -f 1 /proc/uptime > {shlex.quote(str(OUT.with_suffix('.end')))}"
    # The writing end is kept open, and by this process alone.
    actions = [(os.POSIX_SPAWN_DUP2, reads, 0), (os.POSIX_SPAWN_CLOSE, writes)]
    os.posix_spawn("/bin/sh", ["sh", "-c", shell], {"PATH": os.defpath}, file_actions=actions)


def write() -> None:
    """Write what was told."""
    told = {name: joined_s(parts) for name, parts in spans.items()}
    torch: Any = sys.modules.get("torch._dynamo.utils")
    told["torch"] = torch.calculate_time_spent()["total_wall_time"] if torch else 0.0
    document = {"begun_s": begun_s(), "compiling_s": told}
    OUT.write_text(json.dumps(document), encoding="utf-8")


watch_end()
if "jax" in TEXT:
    follow_jax()
if "numba" in TEXT:
    follow_numba()
atexit.register(write)
sys.argv = [str(PROGRAM)]
sys.path[0] = str(PROGRAM.resolve().parent)
runpy.run_path(str(PROGRAM), run_name="__main__")
