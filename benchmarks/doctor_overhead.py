"""What a program's steps cost under the doctor, beside the same program without it.

    python -m benchmarks.doctor_overhead [--python PYTHON] [--save]

Two processes run the same steps, block by block in turn, one of them under the doctor, so that
both see the same machine; a fresh pair for each of several rounds, so that neither is lucky with
its memory. Beside each figure stands its bound; the exit code is 1 where one is missed. Calls are
watched from Python 3.12 on: give such an interpreter, with JAX.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.__main__ import save_rows, table
from benchmarks.rows import Row
from rich.console import Console

from coldwarm.doctor import watch

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP = "doctor"
STEPS = Path(__file__).with_name("scripts") / "doctor_steps.py"
RESULTS = Path(__file__).resolve().parent / "results" / "doctor_overhead.json"
ROUNDS, BLOCKS = 6, 40
LONG, SHORT = 60, 4000
"""Steps of a block."""
CALLS = 1_000_000
MOST_SHARE, MOST_CALL_US, MOST_MB = 3.0, 10.0, 50.0


class Child:
    """A process that runs steps when it is told to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        """Wait until it is ready."""
        self._process = process
        self._answer()

    def ask(self, line: str) -> float:
        """Return the answer to a line."""
        assert self._process.stdin is not None
        print(line, file=self._process.stdin, flush=True)
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"a process ended with {self._process.wait()}")
        return answer


@contextmanager
def child(python: str, kind: str, journal: Path | None) -> Iterator[Child]:
    """Start a process; ``journal``: under the doctor."""
    base = {**os.environ, "JAX_PLATFORMS": "cpu"}
    process = subprocess.Popen(
        [python, str(STEPS), kind],
        env=watch.environment(journal, base) if journal else base,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Child(process)
    finally:
        process.communicate()


def paired(python: str, kind: str, n_steps: int) -> tuple[list[float], list[float]]:
    """Return nanoseconds of a step, without and with, one of each for each round."""
    without, under = [], []
    for number in range(ROUNDS):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            plain = stack.enter_context(child(python, kind, None))
            watched = stack.enter_context(child(python, kind, folder / "journal"))
            blocks: tuple[list[float], list[float]] = [], []
            for block in range(BLOCKS):
                pair = list(zip((plain, watched), blocks, strict=True))
                for one, taken in pair if (block + number) % 2 else pair[::-1]:
                    taken.append(one.ask(str(n_steps)))
        without.append(statistics.median(blocks[0]))
        under.append(statistics.median(blocks[1]))
    return without, under


def memory(python: str) -> tuple[float, float, float]:
    """Return bytes that a million calls take without and with, and of what is written."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"
        held = []
        for one in (None, journal):
            with child(python, "short", one) as process:
                process.ask(str(CALLS))
                held.append(process.ask("memory"))
        written = sum(file.stat().st_blocks * 512 for file in journal.iterdir())
    return held[0], held[1], written


def measure(python: str) -> list[Row]:
    """Return the rows of the table."""
    without, under = paired(python, "long", LONG)
    shares = [(b / a - 1) * 100 for a, b in zip(without, under, strict=True)]
    n_steps = ROUNDS * BLOCKS * LONG
    rows = [
        Row(
            GROUP,
            f"a step under the doctor, {n_steps:,} steps",
            f"{statistics.median(under) / 1e6:.3f} ms",
            f"{statistics.median(without) / 1e6:.3f} ms",
            statistics.median(shares),
            MOST_SHARE,
            "%",
            noise=_noise(shares),
            series={"without_ns": without, "under_ns": under},
        )
    ]
    without, under = paired(python, "short", SHORT)
    extra = [(b - a) / 1e3 for a, b in zip(without, under, strict=True)]
    rows.append(
        Row(
            GROUP,
            f"a jitted call that hardly computes, {ROUNDS * BLOCKS * SHORT:,} calls",
            f"{statistics.median(under) / 1e3:.2f} us",
            f"{statistics.median(without) / 1e3:.2f} us",
            statistics.median(extra),
            MOST_CALL_US,
            "us",
            noise=_noise(extra),
            series={"without_ns": without, "under_ns": under},
        )
    )
    plain, watched, written = memory(python)
    rows.append(
        Row(
            GROUP,
            "memory of a process with a million calls",
            f"{watched / 1e6:.1f} MB, and {written / 1e6:.1f} MB of journal",
            f"{plain / 1e6:.1f} MB",
            (watched - plain) / 1e6,
            MOST_MB,
            "MB",
        )
    )
    return rows


def _noise(figures: list[float]) -> float:
    """Return half of the range in which the middle of such rounds lies."""
    return 2 * statistics.stdev(figures) / math.sqrt(len(figures))


def main() -> int:
    """Measure, print the table, and return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.doctor_overhead", description=__doc__
    )
    parser.add_argument("--python", default=sys.executable, help="the interpreter that is watched")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    given = parser.parse_args()
    rows = measure(given.python)
    Console(width=120).print(table(rows))
    if given.save:
        command = [
            given.python,
            "-c",
            "import jax, platform; print(jax.__version__, platform.python_version())",
        ]
        jax, python = subprocess.check_output(command, text=True).split()
        save_rows(rows, RESULTS, jax=jax, watched_python=python)
    return 1 if any(row.verdict == "missed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
