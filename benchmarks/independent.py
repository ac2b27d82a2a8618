"""Against a script of its own: the same program, timed by a few lines that know no coldwarm.

``python -m benchmarks.independent [CASE …] [--rounds N] [--save]`` measures ten programs, the
built-in ones and a user's own, with the command and with ``scripts/alone.py``. In each round every
program has a turn of either, in an order drawn anew; the ratio of the two in a round is one value,
and its interval is that of the median over the rounds. A ratio *agrees* where it is at most 5 %
from 1; where it is further off, but not beyond what the interval allows, the machine was too noisy
to tell (*unclear*), else it is *apart*, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from benchmarks import interleaved
from rich.console import Console
from rich.table import Table

from coldwarm import __version__
from coldwarm.stats.intervals import CONFIDENCE, paired

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
LOGISTIC = HERE.parent / "examples" / "logistic"
WORKLOADS = HERE.parent / "src" / "coldwarm" / "workloads"
RESULTS = HERE / "results" / "independent.json"
ROUNDS, BOUND, WIDTH = 8, 0.05, 110
ONCE = ("--rounds", "1", "--max-rounds", "1")
MODES = ("--cache-mode", "cold_process_cold_cache", "--cache-mode", "warm_process")
FIGURES = ("first result", "warm call")
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
EMPTY_CACHES = {
    "JAX_COMPILATION_CACHE_DIR": "jax",
    "NUMBA_CACHE_DIR": "numba",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
}
"""Folders of a script's own, so that it finds caches as empty as a measured process does."""
Times = tuple[float, float]
"""Seconds to a first result, and of a warm call."""


@dataclass(frozen=True)
class Case:
    """A program, as the command is asked for it, and as the script is."""

    name: str
    command: tuple[str, ...]
    script: tuple[str, ...]


def _built_in(case: str, framework: str, workload: str, size: str, dtype: str) -> Case:
    file = str(WORKLOADS / f"{workload}.py")
    return Case(case, ("run", "--case", case, *MODES), ("workload", file, framework, size, dtype))


def _function(name: str, file: Path, function: str, **inputs: str) -> Case:
    asked = [part for key, what in inputs.items() for part in ("--input", f"{key}={what}")]
    plain = [f"{key}={what.replace('[', ':').rstrip(']')}" for key, what in inputs.items()]
    return Case(
        name, ("bench", f"{file}:{function}", *asked), ("function", str(file), function, *plain)
    )


def _factory(name: str) -> Case:
    file = SCRIPTS / f"{name}.py"
    return Case(name, ("bench", f"{file}:make"), ("factory", str(file), "make"))


CASES = (
    _built_in(
        "numpy_elementwise_chain_1000000_f64", "numpy", "elementwise_chain", "1000000", "float64"
    ),
    _built_in("jax_jit_cpu_nbody_256_f32", "jax", "nbody", "256", "float32"),
    _built_in("numba_nbody_256_f64", "numba", "nbody", "256", "float64"),
    _function("fit_numpy", LOGISTIC / "fit_numpy.py", "fit", x="f32[2000,20]", y="f32[2000]"),
    _function("fit_jax", LOGISTIC / "fit_jax.py", "fit", x="f32[2000,20]", y="f32[2000]"),
    _factory("factory_numpy"),
    _factory("factory_jax"),
    _factory("lazy_jax"),
    _function("lazy_scipy", SCRIPTS / "lazy_scipy.py", "smoothed"),
    _function("temporaries", SCRIPTS / "temporaries.py", "misfit"),
)


@dataclass(frozen=True)
class Agreement:
    """One figure of a case by both, in seconds, round by round."""

    case: str
    figure: str
    coldwarm_s: list[float]
    script_s: list[float]

    @property
    def ratios(self) -> list[float]:
        """What the command says over what the script says, of each round."""
        pairs = zip(self.coldwarm_s, self.script_s, strict=True)
        return [measured / alone for measured, alone in pairs]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return median(self.ratios)

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval of the median, at 95 %; the ratio itself from a single round."""
        if len(self.ratios) == 1:
            return self.ratio, self.ratio
        found = paired(self.ratios, CONFIDENCE)
        return found.low, found.high

    @property
    def verdict(self) -> Literal["agrees", "unclear", "apart"]:
        """Whether both say the same, as far as the interval tells."""
        if abs(self.ratio - 1) <= BOUND:
            return "agrees"
        low, high = self.bounds
        return "unclear" if low <= 1 + BOUND and high >= 1 - BOUND else "apart"

    def document(self) -> dict[str, object]:
        """Return it as plain values."""
        low, high = self.bounds
        return {
            **vars(self),
            "ratio": self.ratio,
            "low": low,
            "high": high,
            "verdict": self.verdict,
        }


def by_coldwarm(case: Case) -> Times:
    """Measure a case once with the command, and return what it publishes.

    Raises:
        SystemExit: it published nothing; what it said is shown.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "coldwarm", *case.command, *ONCE]
        done = _ran([*command, "--format", "json", "--out", f"{folder}/out"], {})
        (file,) = Path(folder, "out", "cases").glob("*.json")
        found: dict[str, Any] = json.loads(file.read_bytes())
    cold = [one for one in found["cold"] if one["cache_mode"] == "cold_process_cold_cache"]
    warm = found["warm"] and found["warm"]["call_s"]
    if not cold or "ttfr" not in cold[0]["seconds"] or not warm:
        sys.exit(f"coldwarm {' '.join(case.command)} published no figure: {done.stderr}")
    return cold[0]["seconds"]["ttfr"]["median"], warm["median"]


def by_script(case: Case) -> Times:
    """Run a case once with the script, its caches empty."""
    with tempfile.TemporaryDirectory() as folder:
        caches = {name: f"{folder}/{place}" for name, place in EMPTY_CACHES.items()}
        done = _ran([sys.executable, str(SCRIPTS / "alone.py"), *case.script], caches)
    first_s, warm_s = map(float, done.stdout.split())
    return first_s, warm_s


def _ran(command: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **THREADS, "JAX_PLATFORMS": "cpu", **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done


def measure(cases: tuple[Case, ...] = CASES, rounds: int = ROUNDS) -> list[Agreement]:
    """Measure all cases by both, in turns."""
    turns: dict[str, Callable[[], Times]] = {}
    for case in cases:
        turns[f"{case.name} measured"] = partial(by_coldwarm, case)
        turns[f"{case.name} alone"] = partial(by_script, case)
    found = interleaved.measure(turns, rounds)
    return [
        Agreement(
            case.name,
            figure,
            [times[place] for times in found[f"{case.name} measured"]],
            [times[place] for times in found[f"{case.name} alone"]],
        )
        for case in cases
        for place, figure in enumerate(FIGURES)
    ]


def table(found: list[Agreement]) -> Table:
    """Return a row for each case and figure."""
    made = Table(title="Against a script of its own", title_justify="left", box=None)
    for heading in ("program", "", "coldwarm", "script", "ratio", "95 % interval", ""):
        made.add_column(heading, justify="left" if heading in {"program", ""} else "right")
    for one in found:
        low, high = one.bounds
        times = [f"{1e3 * median(series):.4g} ms" for series in (one.coldwarm_s, one.script_s)]
        interval = f"{low:.3f} … {high:.3f}"
        name = one.case if one.figure == FIGURES[0] else ""
        made.add_row(name, one.figure, *times, f"{one.ratio:.3f}", interval, one.verdict)
    return made


def save(found: list[Agreement]) -> None:
    """Write the figures, and where they were measured."""
    document = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "coldwarm": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "rows": [one.document() for one in found],
    }
    RESULTS.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Measure, print the table, and return 1 where the two are apart."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.independent", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(names)}")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="turns of each; one more is thrown away"
    )
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name} as well")
    asked = parser.parse_args()
    unknown = sorted(set(asked.cases) - set(names))
    if unknown:
        parser.error(f"no program is called {unknown[0]!r}; known: {', '.join(names)}")
    chosen = tuple(case for case in CASES if not asked.cases or case.name in asked.cases)
    found = measure(chosen, asked.rounds)
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    console.print(table(found))
    if asked.save:
        save(found)
    return 1 if any(one.verdict == "apart" for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
