"""How often changes are called in histories that others have published, by three detectors.

``python -m benchmarks.published_histories [--otava PYTHON] [--save]`` reads
``published_histories.json.gz``: two hundred series of six projects, as the files of
github-action-benchmark have them, with their sources. What truly changed there nobody knows. So
each series is also put into a random order, in which nothing changes any more: each change that is
called is false. And a step is planted into that: it is to be told by the third run that has it.

The detectors are that of ``coldwarm history``, ``asv.step_detect``, and apache-otava's with its
defaults, in an interpreter that has it: ``uvx --from apache-otava python``.
``--save`` writes ``results/published_histories.json``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from coldwarm.stats.change_points import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Lists = Sequence[Sequence[float]]
    Detector = Callable[[Lists], list[list[int]]]

HERE = Path(__file__).parent
DATA = HERE / "published_histories.json.gz"
RESULTS = HERE / "results" / "published_histories.json"
LONGEST = 60
STEPS = (0.05, 0.1, 0.2, 0.5)
WITHIN = 3
OTAVA = """
import json, sys
from otava.analysis import compute_change_points
found = [compute_change_points(one)[0] for one in json.load(sys.stdin)]
json.dump([[int(point.index) for point in one] for one in found], sys.stdout)
"""


class Published(NamedTuple):
    """A series as it was published: seconds or the like, oldest first."""

    project: str
    name: str
    values: list[float]


def series() -> list[Published]:
    """Return the newest runs of each published series."""
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        found = json.load(file)
    return [
        Published(project["project"], name, values[-LONGEST:])
        for project in found
        for name, values in project["series"].items()
    ]


def by_coldwarm(given: Lists) -> list[list[int]]:
    """Return the places of changes, as ``coldwarm history check`` finds them."""
    return [[one.at for one in changes([math.log(v) for v in values])] for values in given]


def by_asv(given: Lists) -> list[list[int]]:
    """Return the places of changes, as ``asv publish`` finds them."""
    from asv.step_detect import detect_steps

    return [[step[0] for step in detect_steps(list(values))[1:]] for values in given]


def by_otava(python: Sequence[str]) -> Detector:
    """Return what finds changes with apache-otava, in another interpreter."""

    def detect(given: Lists) -> list[list[int]]:
        done = subprocess.run(
            [*python, "-c", OTAVA],
            input=json.dumps([list(one) for one in given]),
            capture_output=True,
            text=True,
            check=True,
        )
        found: list[list[int]] = json.loads(done.stdout)
        return found

    return detect


def shuffled(published: Sequence[Published], rng: np.random.Generator) -> list[list[float]]:
    """Return each series in a random order."""
    return [rng.permutation(one.values).tolist() for one in published]


def with_step(
    given: Lists, step: float, rng: np.random.Generator
) -> tuple[list[list[float]], list[int]]:
    """Return series that end with the third run that has a step, and where it begins."""
    made, places = [], []
    for one in given:
        at = int(rng.integers(len(one) // 2, len(one) - WITHIN))
        made.append([v * (1 + step) if place >= at else v for place, v in enumerate(one)][: at + 3])
        places.append(at)
    return made, places


def judged(detect: Detector, published: Sequence[Published]) -> dict[str, Any]:
    """Return what a detector calls."""
    points = sum(len(one.values) for one in published)
    rng = np.random.default_rng(1)
    random = shuffled(published, rng)
    told = {}
    for step in STEPS:
        made, places = with_step(random, step, rng)
        found = detect(made)
        hit = [
            any(abs(n - at) <= WITHIN for n in one) for one, at in zip(found, places, strict=True)
        ]
        told[f"{step}"] = sum(hit) / len(hit)
    return {
        "points": points,
        "called": sum(map(len, detect([one.values for one in published]))),
        "false": sum(map(len, detect(random))),
        "told": told,
    }


def main() -> int:
    """Judge all series by each detector, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.published_histories", description=__doc__
    )
    parser.add_argument("--otava", metavar="PYTHON", help="an interpreter that has apache-otava")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    given = parser.parse_args()
    published = series()
    detectors: dict[str, Detector] = {"coldwarm": by_coldwarm, "asv": by_asv}
    if given.otava:
        detectors["apache-otava"] = by_otava(given.otava.split())
    rows = {name: judged(detect, published) for name, detect in detectors.items()}
    table = Table("", "called", "false, in random order", *(f"{step:.0%} told" for step in STEPS))
    for name, row in rows.items():
        shares = (f"{share:.0%}" for share in row["told"].values())
        per = 1000 * row["false"] / row["points"]
        false = f"{row['false']} ({per:.1f} of 1,000 runs)"
        table.add_row(name, f"{row['called']}", false, *shares)
    projects = sorted({one.project for one in published})
    Console(width=120).print(f"{len(published)} series of {', '.join(projects)}", table)
    if given.save:
        document = {"series": len(published), "projects": projects, "rows": rows}
        RESULTS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
