"""Tries deceits and prints a table of them: ``python -m tests.deceit [--here] [NAME …]``.

Exits with 1 where a figure is silently wrong. ``--json FILE`` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.deceit.every import deceits
from tests.deceit.trying import Trial, attempt

FAILING = {"SILENTLY WRONG", "broken", "untried"}
WIDTH = 150


def main() -> int:
    """Try what was asked for and print a row for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.deceit", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of deceits; all without any")
    parser.add_argument("--here", action="store_true", help="in the process that has the function")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as well")
    parser.add_argument("--list", action="store_true", help="name them, and try none")
    asked = parser.parse_args()
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
        if asked.json:
            asked.json.write_text(json.dumps([row(one) for one in trials], indent=2) + "\n")
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(table(trials))
    return 1 if any(one.outcome in FAILING for one in trials) else 0


def row(trial: Trial) -> dict[str, object]:
    """Return a trial as plain values."""
    return {
        "name": trial.deceit.name,
        "figure": trial.deceit.figure,
        "truths": trial.truths,
        "published": trial.said.figure,
        "ratio": trial.ratio,
        "status": trial.said.status,
        "codes": sorted(trial.said.codes),
        "text": trial.said.text,
        "outcome": trial.outcome,
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
