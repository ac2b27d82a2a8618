"""The harness measured, as one table: ``python -m benchmarks [GROUP …] [--save]``.

With ``--save`` the figures are also written to ``benchmarks/results/harness.json``. Exits with 1
where a figure misses its bound by more than its noise.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import accuracy, interference, overhead, share, startup
from rich.console import Console
from rich.table import Table

from coldwarm import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.rows import Row

GROUPS = {
    "accuracy": accuracy.measure,
    "share": share.measure,
    "overhead": overhead.measure,
    "startup": startup.measure,
    "interference": interference.measure,
}
COLOURS = {"ok": "green", "undecided": "yellow", "missed": "bold red"}
WIDTH = 120
"""Of the table where it goes to a file, in characters."""
RESULTS = Path(__file__).resolve().parent / "results" / "harness.json"


def main() -> int:
    """Measure what was asked for, print the table, and return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    given = parser.parse_args()
    unknown = sorted(set(given.groups) - set(GROUPS))
    if unknown:
        parser.error(f"no group is called {unknown[0]!r}; known: {', '.join(GROUPS)}")
    rows: list[Row] = []
    status = Console(stderr=True)
    for name in given.groups or GROUPS:
        with status.status(f"measuring {name} …"):
            rows += GROUPS[name]()
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(table(rows))
    if given.save:
        save_rows(rows, RESULTS)
    return 1 if any(row.verdict == "missed" for row in rows) else 0


def table(rows: Iterable[Row]) -> Table:
    """Return the rows as a table."""
    made = Table(title="The harness measured", title_justify="left")
    for name in ("", "what", "measured", "against"):
        made.add_column(name)
    made.add_column("figure", justify="right")
    made.add_column("bound", justify="right")
    made.add_column("")
    group = ""
    for row in rows:
        if group and row.group != group:
            made.add_section()
        noise = f" ± {row.noise:.2g}" if row.noise else ""
        made.add_row(
            row.group if row.group != group else "",
            row.what,
            row.measured,
            row.against,
            f"{row.figure:.3g}{noise} {row.unit}".strip(),
            f"≤ {row.bound:.3g} {row.unit}".strip(),
            f"[{COLOURS[row.verdict]}]{row.verdict}[/]",
        )
        group = row.group
    return made


def save_rows(rows: Iterable[Row], file: Path, **more: str) -> None:
    """Write the rows, and where they were measured."""
    document = {
        **more,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "coldwarm": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "load_1m": os.getloadavg()[0],
        "rows": [row.document() for row in rows],
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
