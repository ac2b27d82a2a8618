"""Runs trials in rounds, writes each down as it ends, and goes on where it ended."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import neighbours
from benchmarks.trials import busy, journal, peers, tools, truth
from benchmarks.trials.settings import KINDS, Setting, plan
from benchmarks.trials.tools import Outcome, TrialFailedError

Run = Callable[[Setting, int, int], Outcome]
Who = tuple[dict[str, Any], dict[str, Any]]
"""The records of the build and of the machine."""

FAILURES = 3
"""So many failed trials in a row end the run."""
RUNS: Mapping[str, Callable[[str, int, int, Path], Outcome]] = {
    "coldwarm bench": tools.bench,
    "coldwarm run": tools.run,
    "pyperf": peers.pyperf,
    "pytest-benchmark": peers.pytest_benchmark,
    "hyperfine": peers.hyperfine,
}


@dataclass(frozen=True)
class Asked:
    """So many rounds of these, for so long at most."""

    settings: Sequence[Setting]
    count: int
    limit_s: float | None = None


def try_once(setting: Setting, a: int, b: int) -> Outcome:
    """Run one trial in a folder of its own.

    Raises:
        TrialFailedError: the tool came to no answer.
    """
    with tempfile.TemporaryDirectory() as folder:
        return RUNS[setting.tool](setting.kind, a, b, Path(folder))


def collect(
    file: Path,
    asked: Asked,
    who: Who,
    run: Run = try_once,
    quiet: Callable[[float], bool] = busy.wait_for_quiet,
) -> int:
    """Run what FILE lacks until the time is over; return 1 where too many failed.

    A trial that could last beyond the limit is not begun, nor any after it.

    Raises:
        MixedError: FILE holds trials of another build or machine.
    """
    lines = journal.begin(file, *who)
    end_s = time.monotonic() + (asked.limit_s or float("inf"))
    done, failures = 0, 0
    # What was thrown away is missing again: another pass makes it.
    while missing := plan(lines, asked.settings, asked.count):
        most_h = sum(setting.seconds for setting, _ in missing) / 3600
        print(f"{len(missing)} trials are missing: {most_h:.1f} h at most", flush=True)
        for setting, index in missing:
            end = end_s - setting.seconds
            if time.monotonic() > end or not quiet(end):
                print(f"the time is over; {len(missing)} trials were missing", flush=True)
                return 0
            line = _trial(setting, index, run)
            line |= {"build": who[0]["id"], "machine": who[1]["id"]}
            journal.append(file, line)
            lines.append(line)
            done += 1
            _tell(done, line)
            failures = failures + 1 if line["failed"] else 0
            if failures == FAILURES:
                return 1
    return 0


def check(file: Path, settings: Sequence[Setting], who: Who) -> int:
    """Measure the true ratios of these kinds that FILE lacks."""
    lines = journal.begin(file, *who)
    there = {(one["kind"], one["effect"]) for one in lines if one["record"] == "truth"}
    asked = {(one.kind, one.effect) for one in settings if one.effect} - there
    for kind, effect in sorted(asked):
        line = truth.measure(kind, effect)
        journal.append(file, {**line, "build": who[0]["id"], "machine": who[1]["id"]})
        made = KINDS[kind].more[effect] / KINDS[kind].base
        bounds = f"{line['low']:.4f} … {line['high']:.4f}"
        print(f"{kind}: {made:.4f} as made, {line['ratio']:.4f} ({bounds}) measured", flush=True)
    return 0


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
    }
    before = busy.Used.now()
    bursty = setting.neighbours == "bursty"
    with neighbours.bursty(index) if bursty else nullcontext():
        begin_s = time.perf_counter()
        try:
            outcome, failed = run(setting, a, b), None
        except TrialFailedError as error:
            outcome, failed = Outcome({}), str(error)
        took_s = time.perf_counter() - begin_s
    after = busy.Used.now()
    others = before.others(after)
    reason = "the machine was busy: others used more than a quarter of a processor"
    return {
        **line,
        "seconds": took_s,
        "failed": failed,
        "thrown_away": reason if others > busy.LIMIT else None,
        "others": others,
        "stolen": before.stolen(after),
        **vars(outcome),
    }


def _tell(place: int, line: dict[str, Any]) -> None:
    said = line["failed"] or ", ".join(f"{rule} {call}" for rule, call in line["calls"].items())
    gone = " THROWN AWAY" if line["thrown_away"] else ""
    bounds = f" ({line['low']:.4f} … {line['high']:.4f})" if line["low"] else ""
    where = f"{line['tool']} {line['kind']} {line['neighbours']}"
    figures = f"{line['ratio'] or 0:.4f}{bounds} n={line['rounds']} {line['seconds']:.1f} s"
    print(f"{place} {where}: {line['a']} → {line['b']}: {said} {figures}{gone}", flush=True)
