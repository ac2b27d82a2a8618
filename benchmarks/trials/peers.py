"""One trial with another tool, by the commands of its documentation, and what it then says of B.

*pyperf*: its script for A, then for B, without options; then ``pyperf compare_to``, once as it is,
once with ``--min-speed 2``. *pytest-benchmark*: a saved run of A, then one of B that is compared
with it; four rules judge that: ``min`` and ``mean``, at the 5 % of its documentation and at
coldwarm's 2 %. *hyperfine*: both programs after three warm-ups; three rules: its summary, which
always names one as faster; the same where the ± that it prints there excludes 1; and Welch's test
on its times, as ``scripts/welch_ttest.py`` of its repository makes it.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from benchmarks.trials.settings import HERE, KINDS
from benchmarks.trials.tools import Call, Outcome, TrialFailedError, ask

if TYPE_CHECKING:
    from pathlib import Path

COMPARE = {"compare_to": (), "compare_to --min-speed 2": ("--min-speed", "2")}
RULES = ("min:5%", "mean:5%", "min:2%", "mean:2%")
LIMITS = {
    "verdict": 0.02,
    "compare_to --min-speed 2": 0.02,
    **{rule: float(rule[-2]) / 100 for rule in RULES},
}
"""The difference from which a rule calls one; the others call any."""
SIGNIFICANT = 0.05
"""The p value of ``welch_ttest.py``."""


def pyperf(name: str, a: int, b: int, folder: Path) -> Outcome:
    """Measure one after the other as its scripts do by default, then compare."""
    files = [folder / "a.json", folder / "b.json"]
    for units, file in zip((a, b), files, strict=True):
        script = [sys.executable, str(HERE / "with_pyperf.py"), "--units", str(units)]
        ask([*script, "--kind", name, "--shape", KINDS[name].shape, "-o", str(file)], folder)
    compare = [sys.executable, "-m", "pyperf", "compare_to", *map(str, files)]
    calls = {
        rule: read_pyperf(ask([*compare, *options], folder).stdout)
        for rule, options in COMPARE.items()
    }
    mean_a, mean_b = map(_pyperf_mean, files)
    return Outcome(calls, mean_b / mean_a)


def read_pyperf(text: str) -> Call:
    """Read what ``pyperf compare_to`` printed about one benchmark.

    Raises:
        TrialFailedError: it printed something else.
    """
    if "hidden because not significant" in text or ": no change" in text:
        return "same"
    found = re.search(r": [0-9.]+x (faster|slower)", text)
    if found is None:
        raise TrialFailedError(f"pyperf compare_to said: {text.strip()}")
    return "faster" if found[1] == "faster" else "slower"


def _pyperf_mean(file: Path) -> float:
    import pyperf

    return float(pyperf.Benchmark.load(str(file)).mean())


def pytest_benchmark(name: str, a: int, b: int, folder: Path) -> Outcome:
    """Save a run of A, then run B with ``--benchmark-compare-fail``."""
    # This project's own settings are not the user's.
    test = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider"]
    test += [str(HERE / "test_work.py"), "--benchmark-only", f"--benchmark-storage=file://{folder}"]
    told = {"KIND": name, "SHAPE": KINDS[name].shape}
    ask([*test, "--benchmark-save=a"], folder, {**told, "UNITS": str(a)})
    # All rules after one option: given more than once, its last use alone counts.
    judge = ["--benchmark-compare=0001", "--benchmark-compare-fail", *RULES]
    sides = {**told, "UNITS": str(b)}
    done = ask([*test, "--benchmark-save=b", *judge], folder, sides, codes=(0, 1))
    mean_a, mean_b = (_saved_mean(folder, saved) for saved in ("0001_a", "0002_b"))
    return Outcome(read_pytest_benchmark(done.returncode, done.stderr), mean_b / mean_a)


def read_pytest_benchmark(code: int, text: str) -> dict[str, Call]:
    """Read how pytest ended, and by which rules it failed.

    Raises:
        TrialFailedError: it failed, but not for a regression.
    """
    failed = {
        f"{field}:{float(limit):g}%"
        for field, limit in re.findall(
            r"Field '(\w+)' has failed PercentageRegressionCheck: [0-9.]+ > ([0-9.]+)", text
        )
    }
    if (code != 0) != bool(failed) or not failed <= set(RULES):
        raise TrialFailedError(f"pytest exited with {code}, failed rules: {sorted(failed)}")
    return {rule: "slower" if rule in failed else "same" for rule in RULES}


def _saved_mean(folder: Path, name: str) -> float:
    (file,) = folder.glob(f"*/{name}.json")
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return float(document["benchmarks"][0]["stats"]["mean"])


def hyperfine(name: str, a: int, b: int, folder: Path) -> Outcome:
    """Compare both as programs."""
    file = HERE / KINDS[name].file
    programs = [f"{sys.executable} {file} {units}" for units in (a, b)]
    saved = folder / "both.json"
    ask(["hyperfine", "--warmup", "3", "--export-json", str(saved), *programs], folder)
    return read_hyperfine(json.loads(saved.read_text(encoding="utf-8")))


def read_hyperfine(document: dict[str, Any]) -> Outcome:
    """Read what hyperfine exported about two programs."""
    from scipy import stats

    a, b = document["results"]
    ratio = b["mean"] / a["mean"]
    call: Call = "slower" if ratio > 1 else "faster"
    # As its summary has it: the slower over the faster.
    relative = max(ratio, 1 / ratio)
    error = relative * math.hypot(a["stddev"] / a["mean"], b["stddev"] / b["mean"])
    p_value = stats.ttest_ind(a["times"], b["times"], equal_var=False).pvalue
    return Outcome(
        {
            "summary": call,
            "summary, ± excludes 1": call if relative - error > 1 else "same",
            "welch_ttest.py": call if p_value < SIGNIFICANT else "same",
        },
        ratio,
        rounds=min(len(a["times"]), len(b["times"])),
    )
