"""One trial with coldwarm, by its command as a user would, and what it then says of B.

A tool says that B is ``faster``, ``slower``, the ``same``, or that it is ``undecided``. Where a
tool has several rules to judge by, each rule's answer to the same measurement is kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.trials.settings import HERE, KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

Call = Literal["faster", "slower", "same", "undecided"]

SCRIPTS = Path(sysconfig.get_path("scripts"))
BUDGET_S = {False: 18, True: 58}
"""Given to coldwarm for warm calls, and for starts (``True``). The whole command may take a
second more: what has begun is ended."""
METRICS = ("warm.call_s", "cold_process_cold_cache.ttfr_s")
"""What coldwarm judges in a trial: the one of these that was measured."""


class TrialFailedError(Exception):
    """A tool came to no answer; the text says how it ended."""


@dataclass(frozen=True)
class Outcome:
    """What a tool says of B: by each of its rules, and the ratio B over A that it found.

    ``low`` and ``high`` are its interval, ``confidence`` what it states of that, and ``rounds``
    the number of processes on the side with fewer.
    """

    calls: dict[str, Call]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    rounds: int | None = None


def bench(name: str, a: int, b: int, folder: Path) -> Outcome:
    """Compare both with ``coldwarm bench``."""
    kind = KINDS[name]
    file = HERE / kind.file
    targets = [f"{side}={file}:units_{units}" for side, units in (("A", a), ("B", b))]
    regime = "--cold-only" if kind.cold else "--warm-only"
    options = ["--input", kind.given, regime, "--time-budget", f"{BUDGET_S[kind.cold]}s", "--json"]
    done = ask([str(SCRIPTS / "coldwarm"), "bench", *targets, *options], folder)
    return read_bench(done.stdout, done.returncode)


def read_bench(text: str, code: int) -> Outcome:
    """Read what ``coldwarm bench --json`` printed about one pair of candidates.

    Raises:
        TrialFailedError: it measured nothing that can be compared.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        raise TrialFailedError(f"coldwarm bench exited with {code} without a report") from None
    compared = [verdict["comparison"] for verdict in found["verdicts"]]
    summaries = [
        {"warm.call_s": one["call"], METRICS[1]: one["ttfr"].get("cold_process_cold_cache")}
        for one in found["candidates"]
    ]
    return _judged("coldwarm bench", compared, summaries)


def run(name: str, a: int, b: int, folder: Path) -> Outcome:
    """Compare both with ``coldwarm run``, as two backends of a plug-in."""
    kind = KINDS[name]
    metric = METRICS[kind.cold]
    mode = "cold_process_cold_cache" if kind.cold else "warm_process"
    options = ["--case", "trial_1024_f64", "--cache-mode", mode]
    options += ["--time-budget", f"{BUDGET_S[kind.cold]}s", "--out", str(folder / "out")]
    variables = {"TRIAL_FILE": str(HERE / kind.file), "TRIAL_A": str(a), "TRIAL_B": str(b)}
    variables["PYTHONPATH"] = str(HERE / "plugin")
    ask(
        [str(SCRIPTS / "coldwarm"), "run", "--suite", "full", *options, "--json"], folder, variables
    )
    cases = [
        json.loads((folder / f"out/cases/trial_{side}_trial_1024_f64.json").read_text("utf-8"))
        for side in ("a", "b")
    ]
    return read_cases(metric, kind, cases)


def read_cases(metric: str, kind: Kind, cases: list[dict[str, Any]]) -> Outcome:
    """Read the files of the two cases that a run left.

    Raises:
        TrialFailedError: it measured nothing that can be compared.
    """
    summaries = [{metric: _figure(kind, case)} for case in cases]
    return _judged("coldwarm run", cases[1]["comparisons"], summaries)


def _figure(kind: Kind, case: Mapping[str, Any]) -> dict[str, Any] | None:
    if kind.cold:
        found = [one["seconds"] for one in case["cold"]]
        return found[0]["ttfr"] if found else None
    return case["warm"]["call_s"] if case["warm"] else None


def _judged(who: str, compared: list[dict[str, Any]], summaries: list[dict[str, Any]]) -> Outcome:
    judged = [one for one in compared if one["metric"] in METRICS]
    if len(judged) != 1:
        names = ", ".join(one["metric"] for one in compared)
        raise TrialFailedError(f"{who} compared {names or 'nothing'}")
    (one,) = judged
    figures = [summary.get(one["metric"]) for summary in summaries]
    rounds = min(figure["n_processes"] if figure else 0 for figure in figures)
    bounds = (one["ratio"], one["low"], one["high"], one["confidence"])
    return Outcome({"verdict": one["verdict"]}, *bounds, rounds)


def ask(
    command: list[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    codes: tuple[int, ...] = (0,),
) -> subprocess.CompletedProcess[str]:
    """Run a command of a tool.

    Raises:
        TrialFailedError: it ended with another code, or printed nothing.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(variables or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    # A tool that breaks may end as one that found a difference, but then it prints no answer.
    if done.returncode not in codes or not done.stdout.strip():
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise TrialFailedError(f"{' '.join(command)} exited with {done.returncode}: {said}")
    return done
