"""The runs of a snapshot, measured again by the options that they were measured with."""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts.base import WARM
from coldwarm.contracts.files.journal import JOURNAL, read_header
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ExitCode
from coldwarm.publish import asked, layout, opening
from coldwarm.runner.schedule.options import Options
from coldwarm.runner.stored import reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coldwarm.contracts.measured import Measured

_DONE = {ExitCode.FINE, ExitCode.FAILED, ExitCode.NOTHING_VALID}
"""What a run may end with and have left a result."""
_OF_ANOTHER = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "VIRTUAL_ENV"}
"""Variables that name the packages of another environment."""


def options_of(run: Measured, folder: Path) -> Options:
    """Return the options of a run that lies in a folder.

    Raises:
        RefusedError: they are not recorded, or it is of functions that are not in a snapshot.
    """
    path = folder / JOURNAL
    header = read_header(path) if path.is_file() else None
    if header is None:
        raise RefusedError(because("no_options", folder=str(folder)))
    try:
        options = Options.recorded(header.options)
    except msgspec.ValidationError:
        raise RefusedError(because("no_options", folder=str(folder))) from None
    own = next((one.case for one in run.cases.values() if one.protocol.own is not None), None)
    if own is not None:
        _refuse_without_code(own, options, folder)
    return options


def _refuse_without_code(case: str, options: Options, folder: Path) -> None:
    """Refuse functions that cannot be called here: they are not there, or not asked for so."""
    why = asked.of_options(options.asked()).why_not
    if why is None and not (folder.parents[1] / layout.CODE).is_dir():
        why = because("code_left_out")
    if why is not None:
        raise RefusedError(because("own_functions", why, case=case))


def command(python: str, options: Options, out_dir: Path, budget_s: float | None) -> list[str]:
    """Return the command that measures by these options; each value stands with its name."""
    budget_s = budget_s or options.time_budget_s
    given: dict[str, object] = {
        "seed": options.seed,
        "min-runs": options.min_runs,
        "max-runs": options.max_runs,
        "timeout": f"{options.timeout_s}s",
        "out-dir": out_dir.absolute(),
        "threads": options.threads,
        "time-budget": None if budget_s is None else f"{budget_s}s",
    }
    begin = [python, "-P", "-m", "coldwarm"]
    if options.own is not None:
        given["threshold"] = None if options.decide is None else f"{100 * options.decide:g}%"
        modes = set(options.cache_modes)
        flags = ["--warm-only"] * (modes == {WARM}) + ["--cold-only"] * (WARM not in modes)
        more = asked.of_options(options.asked()).arguments()
        return [*begin, "bench", *flags, *_written(given), *more]
    given |= {
        "suite": options.suite,
        "precision": options.precision,
        "case": ",".join(options.cases),
        "backend": ",".join(options.backends),
        "cache-mode": ",".join(options.cache_modes),
    }
    flags = ["--deterministic"] if options.deterministic else []
    flags += ["--leave-out-private"] if options.leave_out_private else []
    return [*begin, "run", *flags, *_written(given)]


def _written(given: Mapping[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in given.items() if value not in {None, ""}]


def lay_code(snapshot: Path, runs: Mapping[str, Measured], target: Path) -> list[str]:
    """Lay the functions of a snapshot into a folder of their own; return their paths.

    Raises:
        RefusedError: a function's file is not the one that was measured.
    """
    start = f"{layout.CODE}/"
    files = [one.path for one in opening.entries(snapshot) if one.path.startswith(start)]
    hashes = set()
    for path in files:
        data = opening.read_limited(snapshot, path)
        hashes.add(hashlib.sha256(data).hexdigest())
        file = target / path.removeprefix(start)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    for run in runs.values():
        for case in run.cases.values():
            if case.protocol.own is not None and case.protocol.workload_sha256 not in hashes:
                raise RefusedError(because("code_differs", case=case.case))
    return files


def measure(
    arguments: list[str], out_dir: Path, *, fresh: bool, folder: Path | None = None
) -> Measured:
    """Run a command that measures into a folder, showing its own progress; return the result.

    ``folder``: where it runs; ``None``: beside the result. ``fresh``: what the variables of Python
    name here is no part of its environment.

    Raises:
        RefusedError: it left no result.
        ContractError: what it left does not hold.
    """
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    kept = {
        name: value for name, value in os.environ.items() if not (fresh and name in _OF_ANOTHER)
    }
    done = subprocess.run(  # noqa: S603 - this program, from a list
        arguments, stdout=subprocess.DEVNULL, check=False, env=kept, cwd=folder or out_dir.parent
    )
    if done.returncode not in _DONE or not (out_dir / "suite.json").is_file():
        raise RefusedError(because("rerun_failed", status=str(done.returncode)))
    return reading.read(out_dir)
