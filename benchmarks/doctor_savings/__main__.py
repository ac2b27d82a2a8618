"""Estimated savings against measured ones: ``python -m benchmarks.doctor_savings [NAME …]``.

Each folder of ``pairs/`` holds a program with one fault and the same program without it. In each
round the faulty one runs under the doctor, and both run by themselves, in an order drawn anew. The
estimate is the median of what the doctor said, the saving the median of the rounds' differences.

Where other work takes the processors, the seconds of two runs cannot be compared. With ``--clock
processor`` all are taken in seconds of processor time, the doctor's too.

With ``--save`` the figures go to ``benchmarks/results/doctor_savings.json``. Exits with 1 where
fewer than ten estimates are within 25 % of what was saved.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchmarks import interleaved
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from coldwarm import __version__
from coldwarm.doctor import watch
from coldwarm.doctor.findings_document import in_words
from coldwarm.stats.intervals import paired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.contracts.doctor import Finding

HERE = Path(__file__).resolve().parent
IN_PROCESSOR_TIME = HERE / "in_processor_time.py"
RESULTS = HERE.parent / "results" / "doctor_savings.json"
PATTERNS = {
    "static_rate": "varying-static-arg",
    "jit_in_loop": "jit-in-loop",
    "lambda_per_call": "fresh-callable",
    "scan_with_lambda": "fresh-callable",
    "ragged_batches": "shape-change",
    "growing_array": "growing-array-concat",
    "two_dtypes": "dtype-change",
    "weak_type": "weak-type-flip",
    "tree_grows": "tree-change",
    "precision_setting": "context-change",
    "unrolled_loop": "python-loop-unrolled",
    "list_of_numbers": "list-argument",
    "host_reads": "host-sync-in-loop",
    "eager_loop": "no-jit-hot-loop",
    "large_constant": "large-constant-capture",
    "numba_layouts": "numba-signatures",
    "numba_functions": "numba-signatures",
    "numba_tuples": "numba-signatures",
    "numba_factory": "fresh-callable",
    "numba_in_loop": "jit-in-loop",
    "torch_axis": "torch-changing-scalar",
    "torch_counter": "torch-changing-scalar",
    "torch_lengths": "shape-change",
    "torch_last_batch": "shape-change",
    "torch_dtypes": "dtype-change",
}
"""The fault of each pair."""
CACHES = ("NUMBA_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR")
VERSIONS = """
import platform
from importlib.metadata import PackageNotFoundError, version
print(platform.python_version())
for name in ("jax", "torch", "numba"):
    try:
        print(f"{name}-{version(name)}")
    except PackageNotFoundError:
        pass
"""
WITHIN = 0.25
FEWEST = 10
CONFIDENCE = 0.95
Clock = Literal["wall", "processor"]


@dataclass(frozen=True)
class Saving:
    """One pair."""

    name: str
    pattern: str
    before_s: list[float]
    after_s: list[float]
    estimated_s: float | None
    """``None``: the doctor gives no estimate."""
    how: str
    """How it was estimated, or why it was not."""
    measured_s: float
    low_s: float
    high_s: float

    @property
    def ratio(self) -> float | None:
        """What was estimated over what was measured."""
        return self.estimated_s / self.measured_s if self.estimated_s is not None else None

    @property
    def agrees(self) -> bool | None:
        """Whether the two are within 25 %; ``None``: there is no estimate."""
        return None if self.ratio is None else abs(self.ratio - 1) <= WITHIN


def measure(name: str, python: str, rounds: int, clock: Clock) -> Saving:
    """Measure one pair.

    Raises:
        SystemExit: the doctor does not name the fault, or a program failed.
    """
    folder = HERE / "pairs" / name
    said: list[Finding] = []
    runs: dict[str, Callable[[], float]] = {
        "doctor": lambda: _estimate(folder / "before.py", PATTERNS[name], python, clock, said),
        "before": lambda: _run(folder / "before.py", python, clock),
        "after": lambda: _run(folder / "after.py", python, clock),
    }
    found = interleaved.measure(runs, rounds, discard=0)
    saved = [b - a for b, a in zip(found["before"], found["after"], strict=True)]
    estimates = [one.saving_s for one in said if one.saving_s is not None]
    centre = paired(saved, CONFIDENCE)
    return Saving(
        name=name,
        pattern=PATTERNS[name],
        before_s=found["before"],
        after_s=found["after"],
        estimated_s=statistics.median(estimates) if len(estimates) == len(said) else None,
        how=said[-1].estimate,
        measured_s=statistics.median(saved),
        low_s=centre.low,
        high_s=centre.high,
    )


@contextmanager
def _variables() -> Iterator[dict[str, str]]:
    """Give the environment of one process, whose caches are empty."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: f"{folder}/{name}" for name in CACHES}
        yield {**kept, "JAX_PLATFORMS": "cpu", **caches}


def _processor_s() -> float:
    """Return the processor time of all processes that were started and have ended, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run(
    file: Path, python: str, clock: Clock, *arguments: str, journal: Path | None = None
) -> float:
    """Return the seconds of a whole process, which the doctor may watch."""
    read = time.perf_counter if clock == "wall" else _processor_s
    with _variables() as variables:
        given = variables if journal is None else watch.environment(journal, variables)
        command = [python, str(file), *arguments]
        begin_s = read()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=given)
        seconds = read() - begin_s
    if done.returncode:
        raise SystemExit(f"{file}: {done.stderr.strip().splitlines()[-1]}")
    return seconds


def _estimate(file: Path, pattern: str, python: str, clock: Clock, said: list[Finding]) -> float:
    """Add what the doctor says of the fault; return the seconds of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder)
        if clock == "wall":
            seconds = _run(file, python, clock, journal=journal)
        else:
            seconds = _run(IN_PROCESSOR_TIME, python, clock, folder, str(file))
        found = in_words(watch.report(watch.read(journal), None, "")).findings
    named = [one for one in found if one.pattern == pattern]
    if not named:
        raise SystemExit(f"{file}: the doctor names no {pattern}")
    savings = [one.saving_s for one in named if one.saving_s is not None]
    # One fault may be named at each line that leads to it.
    whole = sum(savings) if len(savings) == len(named) else None
    said.append(replace(named[0], saving_s=whole))
    return seconds


def table(savings: Sequence[Saving]) -> Table:
    """Return the figures side by side."""
    found = Table(box=None, header_style="bold")
    for name in ("pair", "finding", "of", "estimated", "saved", "95 %", "ratio", "how estimated"):
        found.add_column(name, justify="left" if name in {"pair", "finding"} else "right")
    for one in savings:
        style = {True: "green", False: "red", None: "dim"}[one.agrees]
        found.add_row(
            one.name,
            one.pattern,
            f"{statistics.median(one.before_s):.2f} s",
            "none" if one.estimated_s is None else f"{one.estimated_s:.2f} s",
            f"{one.measured_s:.2f} s",
            f"{one.low_s:.2f} to {one.high_s:.2f}",
            "" if one.ratio is None else f"{one.ratio:.2f}",
            one.how,
            style=style,
        )
    return found


def _save(savings: Sequence[Saving], python: str, rounds: int, clock: Clock) -> None:
    """Write the figures down; those of pairs that were not measured now stay as they are."""
    asked = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True, check=True)
    version, *found = asked.stdout.split()
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"pairs": []}
    how = {
        "python": version,
        "versions": found,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": rounds,
        "clock": clock,
    }
    told = {one["name"]: one for one in known["pairs"]}
    told |= {one.name: {**asdict(one), "ratio": one.ratio, **how} for one in savings}
    record = {
        "coldwarm": __version__,
        "pairs": [told[name] for name in PATTERNS if name in told],
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Measure all pairs, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *PATTERNS])
    parser.add_argument("--rounds", type=int, default=3, help="Two at least.")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall")
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    savings = []
    for name in asked.names or PATTERNS:
        savings.append(measure(name, asked.python, asked.rounds, asked.clock))
        console.print(table(savings[-1:]))
        sys.stdout.flush()
        if asked.save:
            _save(savings[-1:], asked.python, asked.rounds, asked.clock)
    console.print(table(savings))
    agreeing = sum(one.agrees is True for one in savings)
    return 0 if asked.names or agreeing >= FEWEST else 1


if __name__ == "__main__":
    sys.exit(main())
