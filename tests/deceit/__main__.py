"""Tries deceits and prints a table of them: ``python -m tests.deceit [--here] [NAME …]``.

Exits with 1 where a figure is silently wrong. ``--save`` writes the table of the
reference.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.deceit.every import by_kind, deceits
from tests.deceit.trying import Trial, attempt

from coldwarm.report.units import duration

FAILING = {"SILENTLY WRONG", "broken", "untried"}
WIDTH = 150
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "deceit.json"
FIGURES = {
    "first": "first result",
    "filled": "filled caches",
    "process": "from the start",
    "warm": "warm call",
    "compiles": "programs compiled",
}


def main() -> int:
    """Try what was asked for and print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.deceit", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of deceits; all without any")
    parser.add_argument("--here", action="store_true", help="in the process that has the function")
    parser.add_argument("--save", action="store_true", help=f"all of them: write {RESULTS.name}")
    parser.add_argument("--list", action="store_true", help="name them, and try none")
    asked = parser.parse_args()
    if asked.save and asked.names:
        parser.error("--save is for all of them: name none")
    chosen = [one for one in deceits() if not asked.names or one.name in asked.names]
    if asked.list:
        sys.stdout.writelines(f"{one.name:42} {one.figure:9} {one.hides}\n" for one in chosen)
        return 0
    trials = []
    for deceit in chosen:
        if (asked.here and not deceit.here) or not all(map(find_spec, deceit.needs)):
            continue
        with tempfile.TemporaryDirectory(prefix="deceit-") as folder:
            trials.append(attempt(deceit, Path(folder).resolve(), here=asked.here))
        sys.stderr.write(f"{deceit.name}: {trials[-1].outcome}\n")
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(table(trials))
    if asked.save:
        save([row(one) for one in trials], "process" if asked.here else "command")
    return 1 if any(one.outcome in FAILING for one in trials) else 0


def save(rows: list[dict[str, object]], where: str) -> None:
    """Write what was tried by the command, or in the process that has the function."""
    found = json.loads(RESULTS.read_text("utf-8"))
    found[where] = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "rows": rows}
    RESULTS.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")


def row(trial: Trial) -> dict[str, object]:
    """Return a trial as the table of the reference has it."""
    kind = next(kind for kind, of in by_kind().items() if trial.deceit in of)
    shown = "{:.0f}".format if trial.deceit.figure == "compiles" else duration
    figure = trial.said.figure
    return {
        "kind": kind.replace("_", " "),
        "name": trial.deceit.name,
        "figure": FIGURES[trial.deceit.figure],
        "true": shown(trial.true),
        "published": None if figure is None else shown(figure),
        "outcome": trial.outcome,
        "codes": sorted(trial.said.codes & set(trial.deceit.said)),
    }


def table(trials: list[Trial]) -> Table:
    """Return the trials as a table."""
    made = Table(title="Functions that hide their cost", title_justify="left", box=None)
    for heading in ("name", "figure", "true", "published", "ratio", "", "what was said"):
        right = heading in {"true", "published", "ratio"}
        made.add_column(heading, justify="right" if right else "left")
    for one in trials:
        counts = one.deceit.figure == "compiles"
        shown = "{:.0f}".format if counts else lambda seconds: f"{seconds * 1e3:.3g} ms"
        published = "–" if one.said.figure is None else shown(one.said.figure)
        ratio = "–" if one.ratio is None else f"{one.ratio:.2f}"
        named = sorted(one.said.codes & set(one.deceit.said))
        said = " ".join(named) if named or one.said.figure is not None else one.said.text
        cells = (one.deceit.name, one.deceit.figure, shown(one.true), published, ratio)
        made.add_row(*cells, one.outcome, said)
    return made


if __name__ == "__main__":
    sys.exit(main())
