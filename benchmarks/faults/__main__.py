"""Faults and hostile artifacts: ``python -m benchmarks.faults [KIND …] [--seed N] [--save]``.

Each fault runs real commands in a folder of its own, in a process that inherits whatever they
leave behind. The table counts, for each kind, what must be 0: finished observations lost,
processes left, commands that hang, tracebacks, exit codes that are not the ones documented,
outputs with control characters, and files that a command changed that only reads. With ``--save``
it is also written to ``benchmarks/results/faults.json``, every fault by its name. Exits with 1
where anything is not 0.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.faults import arguments, artifacts, candidates, kills, storage
from benchmarks.faults.scene import OTHER, Fault, Found, NotTriedError, Scene
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table
from tests.faults.lab import PLUGIN, Lab, install

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESULTS = Path(__file__).resolve().parent.parent / "results" / "faults.json"
BASE = (
    *("--backend", "numpy,honest", "--deterministic"),
    *("--rounds", "2", "--max-rounds", "2"),
)
"""The run that artifacts are made of."""
COLUMNS = {
    "observations_lost": "lost",
    "processes_left": "left",
    "hangs": "hangs",
    "tracebacks": "traces",
    "wrong_codes": "codes",
    "raw_output": "raw",
    "files_changed": "edits",
}
PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Bring about the faults asked for, print the table, and return 1 where one shows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="such as artifact or kill")
    parser.add_argument("--seed", type=int, default=0, help="of everything that is drawn")
    parser.add_argument("--named", default="", help="only faults with this in their names")
    parser.add_argument("--jobs", type=int, default=2, help="faults at the same time")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    given = parser.parse_args()
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="coldwarm-faults-") as folder:
        finished = _finished(Path(folder))
        catalogue = _catalogue(given.seed, finished)
        chosen = [
            number
            for number, fault in enumerate(catalogue)
            if (not given.kinds or fault.kind in given.kinds) and given.named in fault.name
        ]
        if not chosen:
            parser.error(f"there is no such fault; kinds: {sorted({f.kind for f in catalogue})}")
        found = _all(chosen, given.seed, finished, given.jobs)
    faults = [catalogue[number] for number in chosen]
    Console(width=max(80, Console().width)).print(table(faults, found))
    for fault, one in zip(faults, found, strict=True):
        if not one.faultless():
            wrong = {name: getattr(one, name) for name in COLUMNS if getattr(one, name)}
            sys.stdout.write(f"{fault.kind}: {fault.name}: {wrong}\n")
    sys.stdout.write(f"{len(faults)} faults in {time.monotonic() - began_s:.0f} s\n")
    if given.save:
        rows = [
            {"kind": fault.kind, "name": fault.name, **vars(one)}
            for fault, one in zip(faults, found, strict=True)
        ]
        RESULTS.write_text(json.dumps({"seed": given.seed, "faults": rows}, indent=1) + "\n")
    return 0 if all(one.faultless() for one in found) else 1


def table(faults: Sequence[Fault], found: Sequence[Found]) -> Table:
    """Return the counts of each kind as a table."""
    made = Table(
        title="Faults and hostile artifacts",
        title_justify="left",
        box=box.SIMPLE,
        padding=(0, 0, 0, 0),
        collapse_padding=True,
    )
    made.add_column("kind")
    for heading in ("n", "runs", *COLUMNS.values(), "skip"):
        made.add_column(heading, justify="right")
    for kind in (*dict.fromkeys(fault.kind for fault in faults), None):
        rows = [
            one
            for fault, one in zip(faults, found, strict=True)
            if kind is None or fault.kind == kind
        ]
        if kind is None:
            made.add_section()
        cells = [len(rows), sum(one.commands for one in rows)]
        cells += [sum(_count(getattr(one, name)) for one in rows) for name in COLUMNS]
        cells.append(sum(one.not_tried is not None for one in rows))
        made.add_row(kind or "all", *map(str, cells))
    return made


def _count(value: int | list[str]) -> int:
    return value if isinstance(value, int) else len(value)


def _all(chosen: Iterable[int], seed: int, finished: Path, jobs: int) -> list[Found]:
    """Bring about faults in several processes, each of which inherits what is left."""
    with ProcessPoolExecutor(jobs, initializer=_inherit) as pool:
        futures = {pool.submit(_one, number, seed, finished): number for number in chosen}
        done = track(as_completed(futures), "faults", len(futures), console=Console(stderr=True))
        found = {futures[future]: future.result() for future in done}
    return [found[number] for number in sorted(found)]


def _inherit() -> None:
    """Make this process the parent of every descendant whose own parents are gone."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


@cache
def _catalogue(seed: int, finished: Path) -> list[Fault]:
    draw = random.Random(seed)  # noqa: S311 - not for secrets
    return [
        *candidates.faults(draw),
        *kills.faults(draw),
        *storage.faults(draw),
        *artifacts.faults(draw, finished),
        *arguments.faults(draw),
    ]


def _one(number: int, seed: int, finished: Path) -> Found:
    """Bring one fault about."""
    fault = _catalogue(seed, finished)[number]
    path = Path(tempfile.mkdtemp(prefix="coldwarm-fault-"))
    scene = Scene(Lab(path, [finished.parent / "site"]), finished)
    try:
        fault.act(scene)
    except NotTriedError as error:
        scene.found.not_tried = str(error)
    finally:
        scene.look_for_processes()
        with suppress(OSError):
            shutil.rmtree(path)
    return scene.found


def _finished(folder: Path) -> Path:
    """Return a finished run of two cheap candidates."""
    sys.path.insert(0, str(PLUGIN))
    try:
        classes: dict[str, str] = import_module("faulty_backend").CLASSES
    finally:
        sys.path.remove(str(PLUGIN))
    backends = {name: f"faulty_backend:{kind}" for name, kind in classes.items()}
    points = {
        "coldwarm.backends": backends,
        "coldwarm.workloads": {"small": "faulty_workload", "no_reference": "faulty_reference"},
    }
    lab = Lab(folder, [install(folder / "site", "coldwarm_faults", points)])
    for name in (OTHER, "finished"):
        done = lab.run(*BASE)
        if done.code:
            sys.exit(f"the run that the artifacts are made of failed: {done.err}")
        lab.out.rename(folder / name)
    return folder / "finished"


if __name__ == "__main__":
    sys.exit(main())
