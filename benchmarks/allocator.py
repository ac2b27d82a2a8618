"""What a process did before decides what a NumPy call takes, until its allocator keeps memory.

``python -m benchmarks.allocator`` calls the same training step in processes that differ only in
which modules of the standard library they load after making their inputs, once as they are and
once with the allocator taught to keep what is freed. Each figure is the median of a
process for one call, beside the pages that the kernel had to clear for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

CALL = Path(__file__).with_name("allocator_call.py")
LOADED = ((), ("json",), ("decimal",), ("statistics",), ("json", "statistics"), ("asyncio",))
WIDTH = 80


def process(how: str, *modules: str) -> tuple[float, float]:
    """Return the seconds and the page faults of a call in a process that loads these modules."""
    command = [sys.executable, str(CALL), how, *modules]
    variables = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    call_s, faults = map(float, done.stdout.split())
    return call_s, faults


def main() -> None:
    """Print a row for each set of modules."""
    table = Table(title="mlp_train_step 128 f32, NumPy, one call", title_justify="left", box=None)
    table.add_column("loaded besides", no_wrap=True)
    for heading in ("as it is", "page faults", "memory kept", "page faults"):
        table.add_column(heading, justify="right")
    for modules in LOADED:
        cells = []
        for how in ("as-is", "kept"):
            call_s, faults = process(how, *modules)
            cells += [f"{call_s * 1e3:.3f} ms", f"{faults:.0f}"]
        table.add_row(", ".join(modules) or "nothing", *cells)
    Console(width=WIDTH).print(table)


if __name__ == "__main__":
    main()
