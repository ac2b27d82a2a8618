"""What a worker of Dask's costs a bench that it carries, and one that runs beside it.

``python -m benchmarks.worker_cost [--rounds N] [--save]`` runs the same small bench in turns at
three places: *alone*, as a process with no worker on the machine, *beside* a worker that has
nothing to do, and *on* the worker, as ``history measure`` sends it. Each place's figures are held
against those alone, round by round. Both candidates of the bench are one function, so that their
ratio has to be 1 at each place.
"""

from __future__ import annotations

import argparse
import json
import math
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import interleaved
from rich.console import Console
from rich.table import Table

from coldwarm.errors import UsageError
from coldwarm.history import executors, remote, store
from coldwarm.publish.archive import unpack
from coldwarm.runner import recompute
from coldwarm.stats.intervals import CONFIDENCE, paired

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.history.executors import Carrier

RESULTS = Path(__file__).parent / "results" / "worker_cost.json"
FUNCTIONS = """
import numpy as np

def one():
    return work, (np.arange(50_000.0),)

def other():
    return work, (np.arange(50_000.0),)

def work(x):
    return np.sqrt(x * x + 1.0).sum()
"""
FILES = {"same.py": FUNCTIONS.encode()}
BENCH = ["bench", "same.py:one", "same.py:other", "--rounds", "6", "--max-rounds", "6"]
FIGURES = {"warm call": "warm.call_s", "first result": "cold_process_cold_cache.ttfr_s"}
WITHIN_S = 60.0
SETTLED_S = 2.0
"""Seconds after which a worker that was started has loaded what it needs."""

Seen = dict[str, float]
"""Seconds by figure, and the ratio of both candidates."""


@contextmanager
def worker() -> Iterator[Carrier]:
    """Have a scheduler and a worker, started as their makers start them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    programs = {
        "dask_scheduler": ["--host", "127.0.0.1", "--port", f"{port}", "--no-dashboard"],
        "dask_worker": [address, "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard"],
    }
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for name, options in programs.items():
            line = [sys.executable, "-m", f"distributed.cli.{name}", *options]
            quiet = subprocess.DEVNULL
            process = subprocess.Popen(line, cwd=folder, stdout=quiet, stderr=quiet)
            stack.enter_context(process)
            stack.callback(process.terminate)
        carrier = joined(address)
        stack.callback(carrier.close)
        time.sleep(SETTLED_S)
        yield carrier


def joined(address: str) -> Carrier:
    """Return what carries to the worker, as soon as that is there.

    Raises:
        UsageError: it does not come.
    """
    ends_s = time.monotonic() + WITHIN_S
    while True:
        try:
            return executors.opened(f"dask:{address}", 1)
        except UsageError:
            if time.monotonic() > ends_s:
                raise
            time.sleep(0.2)


def alone() -> Seen:
    """Return what a bench sees with no worker there."""
    return seen(remote.run(BENCH, FILES, None))


def beside() -> Seen:
    """Return what a bench sees beside a worker that has nothing to do."""
    with worker():
        return alone()


def on() -> Seen:
    """Return what a bench sees on a worker."""
    with worker() as carrier:
        (machine,) = carrier.machines()
        sent = carrier.submit(machine, remote.run, BENCH, FILES, None)
        while not sent.done():
            time.sleep(0.5)
        return seen(sent.result())


def seen(answer: remote.MachineAnswer) -> Seen:
    """Return the figures of a bench.

    Raises:
        SystemExit: it has none.
    """
    if not answer.archive:
        raise SystemExit(answer.failure)
    with tempfile.TemporaryDirectory() as folder:
        packed, out = Path(folder) / "packed", Path(folder) / "out"
        packed.write_bytes(answer.archive)
        out.mkdir()
        unpack(packed, out)
        cases = [*recompute.read_whole(out / remote.RESULT).cases.values()]
    found = {(one.case, one.metric): one.value for one in store.figures(cases)}
    told = {name: found["one", metric] for name, metric in FIGURES.items()}
    warm = FIGURES["warm call"]
    return {**told, "both candidates": found["other", warm] / found["one", warm]}


def held(place: str, figure: str, ours: list[float], theirs: list[float]) -> dict[str, Any]:
    """Return the ratio of a figure at a place to that alone, with its interval."""
    logs = [math.log(a / b) for a, b in zip(ours, theirs, strict=True)]
    ratio = paired(logs, CONFIDENCE)
    bounded = math.isfinite(ratio.low)
    return {
        "place": place,
        "figure": figure,
        "value_s": None if figure == "both candidates" else median(ours),
        "ratio": math.exp(ratio.middle),
        "low": math.exp(ratio.low) if bounded else None,
        "high": math.exp(ratio.high) if bounded else None,
    }


def main() -> None:
    """Run all benches, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    places = {"alone": alone, "beside": beside, "on": on}
    found = interleaved.measure(places, asked.rounds)
    columns = {
        place: {name: [one[name] for one in every] for name in every[0]}
        for place, every in found.items()
    }
    ones = [1.0] * asked.rounds
    rows = [
        held(place, name, ours, ones if name == "both candidates" else columns["alone"][name])
        for place, every in columns.items()
        for name, ours in every.items()
    ]
    table = Table("place", "figure", "value", "ratio", "95 % interval")
    for one in rows:
        value = "" if one["value_s"] is None else f"{1000 * one['value_s']:.4g} ms"
        bounds = "too few" if one["low"] is None else f"{one['low']:.4f} to {one['high']:.4f}"
        table.add_row(one["place"], one["figure"], value, f"{one['ratio']:.4f}", bounds)
    Console().print(table)
    if asked.save:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        record = {"at": at, "rounds": asked.rounds, "rows": rows}
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
