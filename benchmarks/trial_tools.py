"""One trial with each tool, run by its command as a user would, and what the tool then says.

A tool measures A and B, and says of B that it is ``faster``, ``slower``, the ``same``, or that it
is ``undecided``. Where a tool has several rules to judge by, each rule's answer to the same
measurement is kept.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Call = Literal["faster", "slower", "same", "undecided"]
Side = Literal["base", "more"]

HERE = Path(__file__).resolve().parent / "trial"
SCRIPTS = Path(sysconfig.get_path("scripts"))
FAIL_ON = "slower:2%,faster:2%"
RULES = ("min:5%", "mean:5%", "min:2%", "mean:2%")
"""Of pytest-benchmark: the 5 % of its documentation, and coldwarm's own threshold."""


WARM_S, COLD_S, JAX_S = 15, 60, 120
"""Time budgets of coldwarm, for a whole trial."""
METRICS = ("warm.call_s", "cold_process_cold_cache.ttfr_s")
"""What coldwarm judges in a trial: the one of these that was measured."""


class TrialFailedError(Exception):
    """A tool came to no answer; the text says how it ended."""


@dataclass(frozen=True)
class Outcome:
    """What a tool says of B: by each of its rules, and the ratio B over A it found."""

    calls: dict[str, Call]
    ratio: float | None
    low: float | None = None
    high: float | None = None


def run_coldwarm(a: Side, b: Side, folder: Path) -> Outcome:
    """Measure warm calls of both in turns with ``coldwarm bench``."""
    options = ["--input", "x=f64[8192]", "--warm-only", "--time-budget", f"{WARM_S}s"]
    return _bench("subject.py", a, b, options, folder)


def run_start(a: Side, b: Side, folder: Path) -> Outcome:
    """Compare cold starts of known cost."""
    options = ["--input", "x=f64[64]", "--cold-only", "--time-budget", f"{COLD_S}s"]
    return _bench("start.py", a, b, options, folder)


def run_start_jax(a: Side, b: Side, folder: Path) -> Outcome:
    """Compare cold starts that compile with JAX."""
    options = ["--input", "x=f32[64]", "--cold-only", "--time-budget", f"{JAX_S}s"]
    return _bench("start_jax.py", a, b, options, folder)


def run_pyperf(a: Side, b: Side, folder: Path) -> Outcome:
    """Measure one after the other as its scripts do by default, then ``compare_to``."""
    files = [folder / "a.json", folder / "b.json"]
    for side, file in zip((a, b), files, strict=True):
        script = [sys.executable, str(HERE / "with_pyperf.py"), "--subject", side]
        _ask([*script, "-o", str(file)], folder)
    compare = [sys.executable, "-m", "pyperf", "compare_to", *map(str, files)]
    return read_pyperf(_ask(compare, folder).stdout, *map(_pyperf_mean, files))


def run_pytest_benchmark(a: Side, b: Side, folder: Path) -> Outcome:
    """Save a run of A, then run B with ``--benchmark-compare-fail``."""
    # This project's own settings are not the user's.
    test = [sys.executable, "-m", "pytest", "-c", os.devnull, "-p", "no:cacheprovider"]
    test += [str(HERE / "test_subject.py"), "--benchmark-only"]
    test += [f"--benchmark-storage=file://{folder}"]
    _ask([*test, "--benchmark-save=a"], folder, {"SUBJECT": a})
    # All rules after one option: given more than once, its last use alone counts.
    judge = ["--benchmark-compare-fail", *RULES]
    command = [*test, "--benchmark-save=b", "--benchmark-compare=0001", *judge]
    done = _ask(command, folder, {"SUBJECT": b}, codes=(0, 1))
    means = [_saved_mean(folder, name) for name in ("0001_a", "0002_b")]
    return read_pytest_benchmark(done.returncode, done.stderr, *means)


RUNS: Mapping[tuple[str, str], Callable[[Side, Side, Path], Outcome]] = {
    ("coldwarm", "warm"): run_coldwarm,
    ("pyperf", "warm"): run_pyperf,
    ("pytest-benchmark", "warm"): run_pytest_benchmark,
    ("coldwarm", "cold"): run_start,
    ("coldwarm", "jax"): run_start_jax,
}
"""How a tool is asked about a subject: warm calls, starts of known cost, starts with JAX."""
ONE_SIDED = ("pytest-benchmark",)
"""They call B slower or pass it, and never call it faster."""


def read_coldwarm(text: str, code: int) -> Outcome:
    """Read what ``coldwarm bench --json`` printed about one pair of candidates.

    Raises:
        TrialFailedError: it measured nothing that can be compared.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        raise TrialFailedError(f"coldwarm bench exited with {code} without a report") from None
    compared = [verdict["comparison"] for verdict in found["verdicts"]]
    judged = [one for one in compared if one["metric"] in METRICS]
    if len(judged) != 1:
        names = ", ".join(one["metric"] for one in compared)
        raise TrialFailedError(f"coldwarm bench compared {names or 'nothing'}")
    (one,) = judged
    failed: Call = "same" if code == 0 else one["verdict"]
    calls: dict[str, Call] = {"verdict": one["verdict"], "--fail-on 2%": failed}
    return Outcome(calls, one["ratio"], one["low"], one["high"])


def read_pyperf(text: str, mean_a: float, mean_b: float) -> Outcome:
    """Read what ``pyperf compare_to`` printed about one benchmark.

    Raises:
        TrialFailedError: it printed something else.
    """
    ratio = mean_b / mean_a
    if "hidden because not significant" in text or ": no change" in text:
        return Outcome({"compare_to": "same"}, ratio)
    found = re.search(r": [0-9.]+x (faster|slower)", text)
    if found is None:
        raise TrialFailedError(f"pyperf compare_to said: {text.strip()}")
    call: Call = "faster" if found[1] == "faster" else "slower"
    return Outcome({"compare_to": call}, ratio)


def read_pytest_benchmark(code: int, text: str, mean_a: float, mean_b: float) -> Outcome:
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
    calls: dict[str, Call] = {rule: "slower" if rule in failed else "same" for rule in RULES}
    return Outcome(calls, mean_b / mean_a)


def _bench(file: str, a: Side, b: Side, options: list[str], folder: Path) -> Outcome:
    targets = [f"{name}={HERE / file}:{side}" for name, side in (("A", a), ("B", b))]
    command = [str(SCRIPTS / "coldwarm"), "bench", *targets, *options]
    done = _ask([*command, "--fail-on", FAIL_ON, "--json"], folder, codes=(0, 1))
    return read_coldwarm(done.stdout, done.returncode)


def _ask(
    command: list[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    codes: tuple[int, ...] = (0,),
) -> subprocess.CompletedProcess[str]:
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


def _pyperf_mean(file: Path) -> float:
    import pyperf

    return float(pyperf.Benchmark.load(str(file)).mean())


def _saved_mean(folder: Path, name: str) -> float:
    (file,) = folder.glob(f"*/{name}.json")
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return float(document["benchmarks"][0]["stats"]["mean"])
