"""The harness's own figures, as the committed run of the benchmarks gave them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from _generate.rst import heading, table

if TYPE_CHECKING:
    from pathlib import Path

_COLUMNS = ("", "what", "measured", "against", "figure", "bound", "verdict")


def pages(package: Path) -> dict[str, str]:
    """Return the page of the figures in ``benchmarks/results/harness.json``."""
    results = package.parent.parent / "benchmarks" / "results" / "harness.json"
    run = json.loads(results.read_text(encoding="utf-8"))
    text = (
        heading("Harness figures", label="harness-figures")
        + "What ``make bench ARGS=--save`` found; :doc:`/explanation/harness` says what each figure"
        + " means.\n\n"
        + f"Measured {run['date']} with coldwarm {run['coldwarm']}, Python {run['python']}, on\n"
        + f"{run['processors']} processors, {run['platform']}; load before:\n"
        + f"{run['load_1m']:.2f}.\n\n"
        + table(_COLUMNS, map(_row, run["rows"]))
    )
    return {"index": text}


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    noise = f" ± {row['noise']:.2g}" if row["noise"] else ""
    return (
        row["group"],
        row["what"],
        row["measured"],
        row["against"],
        f"{row['figure']:.3g}{noise} {row['unit']}".strip(),
        f"≤ {row['bound']:.3g} {row['unit']}".strip(),
        row["verdict"],
    )
