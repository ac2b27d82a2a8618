"""How much of the scatter between processes of one program shared processes and forks keep.

``python -m benchmarks.nested [--kinds jax torch] [--save]``. Two equal sides alternate by single
calls on one processor for half a second, which gives the median log-ratio of a pair. *Fresh* pairs
are two processes that have imported everything themselves. In *shared* processes both sides are
called, each from a module and an input of its own. *Forks* are shared processes too, nested in
several templates, which have imported the framework and nothing else: if those of one template
scatter as others do, and templates do not differ, they may stand for them.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import os
import random
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.trials.settings import HERE, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

RESULTS = Path(__file__).parent / "results" / "nested.json"
WARM = ("numpy", "threads", "jax", "torch", "numba")
TEMPLATES, FORKS, FRESH, SECONDS, WARM_UP, FEWEST = 6, 6, 24, 0.5, 60, 5
IMPORTS = {"numpy": "numpy", "threads": "numpy", "jax": "jax.numpy"}
"""What a template has imported, where it is not named as the kind."""


def made(kind: str, name: str) -> Callable[[], float]:
    """Return what makes one call of a kind's function and tells its seconds; warm."""
    import numpy as np

    one = KINDS[kind]
    function = getattr(loaded(kind, name), f"units_{one.base}")
    shape = [int(size) for size in one.shape.split(",")]
    kept = "f8" if one.framework == "numpy" else "f4"
    given: Any = np.random.default_rng(1).standard_normal(shape).astype(kept)
    wait: Callable[[Any], Any] = id
    if one.framework == "jax":
        import jax

        given, wait = jax.numpy.asarray(given), jax.block_until_ready
    elif one.framework == "torch":
        import torch

        given = torch.from_numpy(given)

    def call() -> float:
        begin = time.perf_counter()
        wait(function(given))
        return time.perf_counter() - begin

    for _ in range(WARM_UP):
        call()
    return call


def loaded(kind: str, name: str) -> Any:
    """Import a kind's file under a name."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / KINDS[kind].file)
        if spec is None or spec.loader is None:
            sys.exit(f"{KINDS[kind].file} is not there")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def alternated(sides: Sequence[Callable[[], float]], rng: random.Random) -> float:
    """Return the median log-ratio of calls of the first over those of the second."""
    found: list[float] = []
    ends = time.perf_counter() + SECONDS
    while time.perf_counter() < ends or len(found) < FEWEST:
        first = rng.randrange(2)
        took = {side: sides[side]() for side in (first, 1 - first)}
        found.append(math.log(took[0] / took[1]))
    return statistics.median(found)


def bind(kind: str, core: int) -> None:
    """Use one processor, but for what uses several threads."""
    if kind != "threads":
        os.sched_setaffinity(0, {core})


def serve(path: str, kind: str, core: str) -> None:
    """Call one side when asked, over a socket."""
    bind(kind, int(core))
    call = made(kind, "subject")
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    while link.recv(1):
        link.sendall(struct.pack("d", call()))


def share(kind: str, core: int, seed: int) -> None:
    """Call both sides in this process and print their log-ratio, and the seconds of all."""
    begin = time.perf_counter()
    bind(kind, core)
    rng = random.Random(seed)  # noqa: S311 - an order, not a secret
    ratio = alternated([made(kind, "one"), made(kind, "other")], rng)
    print(ratio, time.perf_counter() - begin, flush=True)


def fork(kind: str, seed: int) -> None:
    """Be a template: fork one process after the other that calls both sides."""
    importlib.import_module(IMPORTS.get(kind, kind))
    cores = sorted(os.sched_getaffinity(0))
    for k in range(FORKS):
        process = os.fork()
        if process == 0:
            share(kind, cores[k % len(cores)], seed + k)
            os._exit(0)
        os.waitpid(process, 0)


def asked(*words: object) -> list[list[float]]:
    """Return the numbers that a process of this program prints, line by line."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.nested", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def pair(kind: str, core: int, rng: random.Random) -> float:
    """Return the log-ratio of two fresh processes."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/line")
        listener.listen()
        words = [sys.executable, "-m", "benchmarks.nested", "serve", f"{folder}/line", kind]
        sides = [subprocess.Popen([*words, str(core)]) for _ in range(2)]
        links = [listener.accept()[0] for _ in sides]
        ratio = alternated([_caller(link) for link in links], rng)
        for link in links:
            link.close()
        for side in sides:
            side.wait()
    return ratio


def _caller(link: socket.socket) -> Callable[[], float]:
    def call() -> float:
        link.sendall(b"c")
        return float(struct.unpack("d", link.recv(8))[0])

    return call


def components(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the standard deviations between forks of a template, and between templates."""
    within = statistics.fmean(statistics.variance(group) for group in groups)
    n = statistics.fmean(map(len, groups))
    between = statistics.variance([statistics.fmean(group) for group in groups]) - within / n
    return math.sqrt(within), math.sqrt(max(0.0, between))


def measure(kind: str, rng: random.Random) -> dict[str, Any]:
    """Return the figures of a kind: standard deviations of log-ratios, and seconds of a pair."""
    cores = sorted(os.sched_getaffinity(0))
    groups: list[list[float]] = []
    fresh: list[float] = []
    shared: list[float] = []
    seconds: dict[str, list[float]] = {"fresh": [], "shared": [], "forks": []}
    for _ in range(TEMPLATES):
        forks = asked("fork", kind, rng.randrange(10**6))
        groups.append([ratio for ratio, _ in forks])
        seconds["forks"] += [took for _, took in forks]
        for k in range(FRESH // TEMPLATES):
            core = cores[k % len(cores)]
            begin = time.perf_counter()
            fresh.append(pair(kind, core, rng))
            middle = time.perf_counter()
            shared.append(asked("share", kind, core, rng.randrange(10**6))[0][0])
            seconds["fresh"].append(middle - begin)
            seconds["shared"].append(time.perf_counter() - middle)
    within, between = components(groups)
    return {
        "kind": kind,
        "fresh": statistics.stdev(fresh),
        "shared": statistics.stdev(shared),
        "forks": within,
        "templates": between,
        "seconds": {name: statistics.median(took) for name, took in seconds.items()},
        "ratios": {"forks": groups, "fresh": fresh, "shared": shared},
    }


SPREADS = {
    "fresh": "two processes",
    "shared": "in one process",
    "forks": "in a fork of one template",
    "templates": "between templates",
}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what was found as a table of Markdown, with how often each was measured."""
    ratios = rows[0]["ratios"]
    n = {**{name: len(ratios[name]) for name in ("fresh", "shared")}, "templates": TEMPLATES}
    n["forks"] = sum(map(len, ratios["forks"]))
    heads = [f"{title} ({n[name]})" for name, title in SPREADS.items()]
    lines = [["of two equal sides", *heads, "seconds: two, one, fork"]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        took = row["seconds"]
        cells = [f"{100 * row[name]:.1f} %" for name in SPREADS]
        seconds = ", ".join(f"{took[name]:.1f}" for name in ("fresh", "shared", "forks"))
        lines.append([row["kind"], *cells, seconds])
    return (
        "Two equal sides of the [trials](/explanation/trials.md) alternate by single calls for half"
        " a second, and each pair gives a ratio. The table has the standard deviations of the"
        " ratios, with their numbers in parentheses. What both sides have in common in one process"
        " is not in their ratio; what lies between templates, their forks do not show.\n\n"
        + "\n".join(f"| {' | '.join(line)} |" for line in lines)
    )


def main() -> int:
    """Measure, print a row for each kind and return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nested", description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=WARM, default=WARM)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    asked = parser.parse_args()
    rng = random.Random(7)  # noqa: S311 - an order, not a secret
    rows = []
    for kind in asked.kinds:
        row = measure(kind, rng)
        rows.append(row)
        shown = (f"{k} {100 * row[k]:.2f} %" for k in SPREADS)
        took = (f"{name} {value:.2f} s" for name, value in row["seconds"].items())
        print(kind, *shown, *took, sep=" · ", flush=True)
    if asked.save:
        RESULTS.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", path, kind, core]:
            serve(path, kind, core)
        case ["fork", kind, seed]:
            fork(kind, int(seed))
        case ["share", kind, core, seed]:
            share(kind, int(core), int(seed))
        case _:
            sys.exit(main())
