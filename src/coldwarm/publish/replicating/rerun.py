"""The runs of a snapshot, measured again by the options that they were measured with."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts.files.journal import JOURNAL, read_header
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.errors import ExitCode
from coldwarm.runner.schedule.options import Options
from coldwarm.runner.stored import reading

if TYPE_CHECKING:
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
    own = next((one.case for one in run.cases.values() if one.protocol.own is not None), None)
    if own is not None:
        raise RefusedError(because("own_functions", case=own))
    path = folder / JOURNAL
    header = read_header(path) if path.is_file() else None
    if header is None:
        raise RefusedError(because("no_options", folder=str(folder)))
    try:
        return Options.recorded(header.options)
    except msgspec.ValidationError:
        raise RefusedError(because("no_options", folder=str(folder))) from None


def command(python: str, options: Options, out_dir: Path, budget_s: float | None) -> list[str]:
    """Return the command that measures by these options; each value stands with its name."""
    given = {
        "suite": options.suite,
        "seed": options.seed,
        "precision": options.precision,
        "min-runs": options.min_runs,
        "max-runs": options.max_runs,
        "timeout": f"{options.timeout_s}s",
        "out-dir": out_dir.absolute(),
    }
    budget_s = budget_s or options.time_budget_s
    optional = {
        "threads": options.threads,
        "time-budget": None if budget_s is None else f"{budget_s}s",
        "case": ",".join(options.cases),
        "backend": ",".join(options.backends),
        "cache-mode": ",".join(options.cache_modes),
    }
    given |= {name: value for name, value in optional.items() if value}
    flags = ["--deterministic"] if options.deterministic else []
    flags += ["--leave-out-private"] if options.leave_out_private else []
    values = [f"--{name}={value}" for name, value in given.items()]
    return [python, "-P", "-m", "coldwarm", "run", *flags, *values]


def measure(arguments: list[str], out_dir: Path, *, fresh: bool) -> Measured:
    """Run a command that measures into a folder, showing its own progress; return the result.

    ``fresh``: what the variables of Python name here is no part of its environment.

    Raises:
        RefusedError: it left no result.
        ContractError: what it left does not hold.
    """
    out_dir.parent.mkdir(parents=True, exist_ok=True)
    kept = {
        name: value for name, value in os.environ.items() if not (fresh and name in _OF_ANOTHER)
    }
    done = subprocess.run(  # noqa: S603 - this program, from a list
        arguments, stdout=subprocess.DEVNULL, check=False, env=kept, cwd=out_dir.parent
    )
    if done.returncode not in _DONE or not (out_dir / "suite.json").is_file():
        raise RefusedError(because("rerun_failed", status=str(done.returncode)))
    return reading.read(out_dir)
