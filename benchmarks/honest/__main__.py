"""Measures them with ``coldwarm bench``, and writes what it said of each.

``python -m benchmarks.honest`` measures all and writes ``benchmarks/results/honest.json``; with
words, those whose name has one of them, and prints alone.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).parent
CASES = HERE / "cases"
RESULT = HERE.parent / "results" / "honest.json"
QUICK = ("--warm-only", "--rounds", "1", "--max-rounds", "1", "--time-budget", "3m")
AT_ONCE = 4
"""No figure is read, so they may disturb each other; a busy machine is the harder case."""
ACCUSING = {
    "answers_differ",
    "arguments_changed",
    "answers_kept",
    "compiled_blocks",
    "every_call_compiled",
    "faster_than_inspected",
    "second_call_compiled",
    "uncounted",
    "correctness_gate",
}
"""Codes of what a function does that it should not, which none of these does."""
DRAWS = {("torch", "module")}
"""Whose answers do differ, as they draw random numbers without a seed: that is no accusation."""


@dataclass(frozen=True)
class Honest:
    """One function, or several that do one job, and with which options."""

    library: str
    name: str
    targets: tuple[str, ...]
    options: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)


def _functions(path: Path) -> list[str]:
    """Return the functions of a file that are called without arguments."""
    body = ast.parse(path.read_text("utf-8")).body
    found = [one for one in body if isinstance(one, ast.FunctionDef)]
    return [one.name for one in found if not one.args.args and one.name[0] != "_"]


def _of_files() -> list[Honest]:
    files = [path for path in sorted(CASES.glob("of_*.py")) if path.stem != "of_pairs"]
    return [
        Honest(path.stem.removeprefix("of_"), name, (f"{path}:{name}",))
        for path in files
        for name in _functions(path)
    ]


def _of_pairs() -> list[Honest]:
    path = CASES / "of_pairs.py"
    pairs = (
        *(("array", other) for other in ("listed", "numpy_scalars", "shorter", "row")),
        *(("matrix", other) for other in ("list_of_lists", "tuple_of_rows")),
        ("scalar", "one_element"),
        ("residuals", "residuals_in_float32"),
        ("units", "units_in_float32"),
        ("counts", "counts_in_a_list"),
        ("truths_in_a_list", "truths"),
        ("listed", "array"),
    )
    return [
        Honest("pairs", f"{one} and {other}", (f"{path}:{one}", f"{path}:{other}"))
        for one, other in pairs
    ]


def _of_settings() -> list[Honest]:
    numpy, jax, numba = (CASES / f"of_{name}.py" for name in ("numpy", "jax", "numba"))
    package = CASES / "of_package" / "model.py"
    settings = {
        "one thread": (f"{numpy}:decomposition", "--env", "OMP_NUM_THREADS=1"),
        "threads of BLAS": (f"{numpy}:eigen", "--env", "OPENBLAS_NUM_THREADS=2"),
        "threads of Numba": (f"{numba}:on_threads", "--env", "NUMBA_NUM_THREADS=2"),
        "--threads": (f"{numpy}:wave", "--threads", "1"),
        "64 bits of JAX": (f"{jax}:of_numpy", "--env", "JAX_ENABLE_X64=1"),
        "JAX on the CPU": (f"{jax}:of_an_array", "--env", "JAX_PLATFORMS=cpu"),
        "hash seed": (f"{numpy}:histogram", "--env", "PYTHONHASHSEED=0"),
        "warnings": (f"{numpy}:histogram", "--env", "PYTHONWARNINGS=ignore"),
        "time zone": (f"{CASES / 'of_pandas.py'}:resampled", "--env", "TZ=UTC"),
        "relative import": (f"{package}:scaled",),
        "relative import of a module": (f"{package}:shifted",),
        "another seed": (f"{numpy}:drawn_with_a_seed", "--seed", "5"),
    }
    return [Honest("settings", name, given[:1], given[1:]) for name, given in settings.items()]


def cases() -> list[Honest]:
    """Return all."""
    return [*_of_files(), *_of_pairs(), *_of_settings()]


def measured(one: Honest, folder: Path) -> dict[str, Any]:
    """Measure one; return what was said of it: ``fine``, ``refused`` or ``accused``."""
    out = folder / "out"
    command = [sys.executable, "-m", "coldwarm", "bench", *one.targets, *QUICK, *one.options]
    variables = {k: v for k, v in os.environ.items() if not k.startswith("COLDWARM")}
    done = subprocess.run(
        [*command, "--json", "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        env={**variables, **one.variables},
        cwd=folder,
    )
    said = " ".join(done.stderr.split())[-400:]
    if not (out / "suite.json").is_file():
        return {"judged": "refused", "exit_code": done.returncode, "codes": [], "said": said}
    codes: Counter[str] = Counter()
    for path in sorted((out / "cases").glob("*.json")):
        case = msgspec.json.decode(path.read_bytes())
        if case["status"] == "failed":
            codes[case["reason"]["code"]] += 1
        found = [*case["limitations"], *(caution["reason"] for caution in case["warnings"])]
        codes.update(reason["code"] for reason in found)
    drawn = {"answers_differ"} if (one.library, one.name) in DRAWS else set()
    accusing = sorted(ACCUSING & codes.keys() - drawn)
    judged = "accused" if accusing else "fine" if done.returncode == 0 else "refused"
    return {
        "judged": judged,
        "exit_code": done.returncode,
        "codes": accusing,
        "said": said if judged != "fine" else "",
    }


def told(one: Honest) -> dict[str, Any]:
    """Measure one in a folder of its own, and say at once what was said of it."""
    with tempfile.TemporaryDirectory() as folder:
        said = measured(one, Path(folder))
    print(one.library, one.name, said["judged"], *said["codes"], said["said"], flush=True)
    return {"library": one.library, "name": one.name, **said}


def main(words: list[str]) -> int:
    """Measure, print, and write where all were measured."""
    chosen = [
        one
        for one in cases()
        if not words or any(word in f"{one.library}:{one.name}" for word in words)
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(told, chosen))
    counts = Counter(one["judged"] for one in found)
    print(dict(counts))
    if not words:
        short = {"said", "exit_code"}
        told_of = [
            {k: v for k, v in one.items() if one["judged"] != "fine" or k not in short}
            for one in found
        ]
        text = json.dumps({"counts": counts, "cases": told_of}, indent=1)
        RESULT.write_text(f"{text}\n", "utf-8")
    return 0 if set(counts) <= {"fine"} else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
