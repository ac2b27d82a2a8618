"""A/A and A/B trials: how often does a tool call a difference that is none, or miss one?

``python -m benchmarks.trials --count 100 --out FILE`` runs them, ``--table`` prints the table of
what FILE holds. A trial measures A and B with one tool, as a user would with its commands and its
defaults, and keeps what the tool says of B.

**Kinds.** In ``aa`` both sides are the NumPy function of about 0.3 ms in ``trial/subject.py``. In
``ab`` one side, drawn anew each time, does 5 % more work; pytest-benchmark, which calls nothing
faster, always has it on side B. ``cold_aa`` and ``cold_ab`` are about cold starts that burn a known
amount of work (``trial/start.py``), ``jax_aa`` and ``jax_ab`` about starts that compile with JAX
(``trial/start_jax.py``); in ``_ab`` one side has 10 % more to do before its first result. Only
coldwarm measures these.

**Tools.** *coldwarm*: ``bench A B`` within 15 s for warm calls, with its own threshold of 2 %.
*pyperf*: its script for A, then for B, without options, then ``pyperf compare_to`` without options.
*pytest-benchmark*: a saved run of A, then one of B with ``--benchmark-compare-fail``; four rules
judge the same measurement: ``min`` and ``mean`` as in its documentation, at 5 % and at 2 %.

**Neighbours.** ``none``: the machine as it is. ``bursty``: beside the whole trial a process pinned
to each core computes and moves memory in bursts (``neighbours.py``).

**Order.** Trials go in rounds: one of everything asked for, in an order drawn anew, so that drift
of the machine falls on all alike. Each is written down as it ends, and what is there counts: the
same command goes on after an interruption. A trial whose tool comes to no answer is written down
as failed; three in a row end the run.

**Errors.** A trial is wrong where ``faster`` or ``slower`` is said of two equal sides, and where
the side with more work is not called slower; ``undecided`` is no error between equal sides. The
interval of the share of wrong trials is Clopper and Pearson's, exact at 95 %.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import neighbours, trial_table
from benchmarks.trial_tools import RUNS, Outcome, Side, TrialFailedError
from rich.console import Console

from coldwarm.runner.machine import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Run = Callable[["Setting", Side, Side], Outcome]

TOOLS = ("coldwarm", "pyperf", "pytest-benchmark")
KINDS = ("aa", "ab", "cold_aa", "cold_ab", "jax_aa", "jax_ab")
NEIGHBOURS = ("none", "bursty")
ONE_SIDED = ("pytest-benchmark",)
"""They say ``slower`` or pass, and never call B faster."""
FAILURES = 3
"""So many failed trials in a row end the run."""
WIDTH = 140
"""Of the table where it goes to a file, in characters."""


@dataclass(frozen=True)
class Setting:
    """What is tried: everything but the number of the trial."""

    tool: str
    kind: str
    neighbours: str

    @property
    def about(self) -> str:
        """``warm`` calls, ``cold`` starts of known cost, or starts with ``jax``."""
        return self.kind.rpartition("_")[0] or "warm"

    @property
    def possible(self) -> bool:
        """Whether the tool can be asked that."""
        return (self.tool, self.about) in RUNS

    def sides(self, index: int) -> tuple[Side, Side]:
        """Return A and B of the trial of this number."""
        if self.kind.endswith("aa"):
            return "base", "base"
        drawn = random.Random(f"{self} {index}").random()  # noqa: S311 - a side, not a secret
        if self.tool in ONE_SIDED or drawn < 0.5:
            return "base", "more"
        return "more", "base"


def main() -> int:
    """Run what is missing, or print the table."""
    given = _parser().parse_args()
    if given.table:
        rows = trial_table.rows(read(given.out))
        console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
        console.print(trial_table.table(rows))
        return 0
    settings = [
        setting
        for tool in given.tool or TOOLS
        for kind in given.kind or ("aa", "ab")
        for beside in given.neighbours or NEIGHBOURS
        if (setting := Setting(tool, kind, beside)).possible
    ]
    if not settings:
        sys.exit("none of these tools can be tried so: cold starts are measured by coldwarm alone")
    return collect(given.out, settings, given.count, try_once)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trials")
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FILE", help="one JSON line for each trial")
    add("--table", action="store_true", help="print what FILE holds, and run nothing")
    add("--tool", nargs="+", choices=TOOLS, help="default: all")
    add("--kind", nargs="+", choices=KINDS, help="default: aa ab")
    add("--neighbours", nargs="+", choices=NEIGHBOURS, help="default: both")
    add("--count", type=int, default=100, help="of each, those in FILE included; default: 100")
    return parser


def collect(file: Path, settings: Sequence[Setting], count: int, run: Run) -> int:
    """Run what FILE lacks, and write each trial to it; return 1 where too many failed."""
    before = read(file)
    machine = _machine()
    if machine not in [line for line in before if line["record"] == "machine"]:
        _append(file, machine)
    missing = plan(before, settings, count)
    failures = 0
    for done, (setting, index) in enumerate(missing, start=1):
        line = _trial(setting, index, run)
        _append(file, {**line, "machine": machine["id"]})
        _tell(f"{done}/{len(missing)}", line)
        failures = failures + 1 if line["failed"] else 0
        if failures == FAILURES:
            return 1
    return 0


def plan(
    lines: Iterable[dict[str, Any]], settings: Iterable[Setting], count: int
) -> list[tuple[Setting, int]]:
    """Return the trials that are missing, in rounds of random order.

    Failed ones are not repeated: that would hide how often a tool fails.
    """
    seen = {
        (Setting(line["tool"], line["kind"], line["neighbours"]), line["index"])
        for line in lines
        if line["record"] == "trial"
    }
    found: list[tuple[Setting, int]] = []
    for index in range(count):
        left = sorted((one for one in settings if (one, index) not in seen), key=str)
        random.Random(index).shuffle(left)  # noqa: S311 - an order, not a secret
        found += [(one, index) for one in left]
    return found


def read(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a file; a last one that was cut off is left out, and mended."""
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        file.write_text(whole, encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def try_once(setting: Setting, a: Side, b: Side) -> Outcome:
    """Run one trial in a folder of its own.

    Raises:
        TrialFailedError: the tool came to no answer.
    """
    with tempfile.TemporaryDirectory() as folder:
        return RUNS[setting.tool, setting.about](a, b, Path(folder))


def _trial(setting: Setting, index: int, run: Run) -> dict[str, Any]:
    a, b = setting.sides(index)
    line: dict[str, Any] = {
        "record": "trial",
        **vars(setting),
        "index": index,
        "a": a,
        "b": b,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_1m": os.getloadavg()[0],
        "version": metadata.version(setting.tool),
    }
    bursty = setting.neighbours == "bursty"
    with neighbours.bursty(index) if bursty else nullcontext():
        begin_s = time.perf_counter()
        try:
            outcome, failed = run(setting, a, b), None
        except TrialFailedError as error:
            outcome, failed = Outcome({}, None), str(error)
        seconds = time.perf_counter() - begin_s
    return {**line, "seconds": seconds, "failed": failed, **vars(outcome)}


def _machine() -> dict[str, Any]:
    """Describe where trials run, with an identity that they refer to."""
    here = environment.collect()
    facts = {
        "cpu": here.cpu.model,
        "cores": here.cpu.usable_cores,
        "virtualization": here.system.virtualization,
        "platform": here.platform,
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "coldwarm_commit": here.harness.git_commit,
    }
    text = json.dumps(facts, sort_keys=True)
    return {"record": "machine", "id": hashlib.sha256(text.encode()).hexdigest()[:12], **facts}


def _append(file: Path, line: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as journal:
        journal.write(json.dumps(line, ensure_ascii=False) + "\n")


def _tell(place: str, line: dict[str, Any]) -> None:
    said = line["failed"] or ", ".join(f"{rule} {call}" for rule, call in line["calls"].items())
    where = f"{line['tool']} {line['kind']} {line['neighbours']}"
    print(f"{place} {where}: {line['a']} → {line['b']}: {said} ({line['seconds']:.1f} s)")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
