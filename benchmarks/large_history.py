"""A history of very many runs: how long its index, its commands and its page take.

``python -m benchmarks.large_history [--runs N] [--figures N] [--save]`` writes the figures of so
many made-up runs, as ``coldwarm history add`` writes them beside their results, of one machine,
with a step in every tenth figure. Then each command runs as a process of its own: the first one
makes the index.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from coldwarm.contracts import codec
from coldwarm.contracts.history import HistoryFigure, HistoryRun

RESULTS = Path(__file__).parent / "results" / "large_history.json"
SCATTER, STEP, EVERY = 0.0075, 0.05, 10
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
COMMANDS = {
    "index made anew": ("query", "--newest", "1", "--format", "json"),
    "query": ("query",),
    "query of one figure, all of it as CSV": ("query", "--case", "case 99", "--format", "csv"),
    "query of one figure, all of it as JSON": ("query", "--case", "case 99", "--format", "json"),
    "check": ("check",),
    "report": ("report",),
}


def write(folder: Path, n_runs: int, n_figures: int) -> None:
    """Write the runs of a history."""
    rng = np.random.default_rng(1)
    levels = rng.normal(0.0, 1.0, n_figures)
    for place in range(n_runs):
        stepped = STEP * (place > n_runs // 2) * (np.arange(n_figures) % EVERY == 0)
        values = np.exp(levels + SCATTER * rng.normal(size=n_figures) + stepped)
        began = BEGIN + timedelta(hours=place)
        run = HistoryRun(
            run_id=f"{place:032x}",
            started_at=began.isoformat(timespec="seconds"),
            commit=f"{place:040x}",
            machine="0" * 12,
            machine_name="a machine",
            software={"jax": "0.10" if place < n_runs // 2 else "0.12"},
            figures=[_figure(number, float(value)) for number, value in enumerate(values)],
        )
        path = folder / "runs" / f"{began:%Y%m%dT%H%M%S}-{place:08x}"
        path.mkdir(parents=True)
        (path / "figures.json").write_bytes(codec.encode(run))


def _figure(number: int, value: float) -> HistoryFigure:
    return HistoryFigure(
        case=f"case {number}",
        metric="warm.call_s",
        kind="warm",
        value=value,
        baseline="numpy",
        ratio=value,
        low=value * math.exp(-2 * SCATTER),
        high=value * math.exp(2 * SCATTER),
        confidence=0.97,
    )


def timed(folder: Path, page: Path, words: tuple[str, ...]) -> float:
    """Return the seconds of a command, with the start of its process."""
    command, *others = words
    more = ["--out", str(page)] if command == "report" else []
    line = [sys.executable, "-m", "coldwarm", "history", command, str(folder), *others, *more]
    begin_s = time.perf_counter()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin_s


def main() -> None:
    """Make a history, time the commands, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--figures", type=int, default=100)
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, page = Path(name) / "history", Path(name) / "history.html"
        write(folder, asked.runs, asked.figures)
        line = [sys.executable, "-m", "coldwarm", "--version"]
        begin_s = time.perf_counter()
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        start_s = time.perf_counter() - begin_s
        found = {one: timed(folder, page, words) for one, words in COMMANDS.items()}
        page_bytes = page.stat().st_size
        index_bytes = (folder / "index.sqlite").stat().st_size
    table = Table("command", "seconds")
    for one, seconds in {"start of the command alone": start_s, **found}.items():
        table.add_row(one, f"{seconds:.2f}")
    Console().print(table, f"page: {page_bytes / 2**20:.1f} MiB")
    if asked.save:
        record = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "runs": asked.runs,
            "figures": asked.figures,
            "start_s": start_s,
            "seconds": found,
            "page_bytes": page_bytes,
            "index_bytes": index_bytes,
        }
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
