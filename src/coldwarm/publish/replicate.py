"""A snapshot measured again as a whole, and the report over it: run by run, case by case."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from coldwarm.contracts import codec
from coldwarm.contracts.base import WARM
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.run_journal import JOURNAL, read_header
from coldwarm.errors import ExitCode
from coldwarm.publish import asked, compare, environment, layout, opening
from coldwarm.publish.environment import code_requires, pinned
from coldwarm.publish.writing import replace_file
from coldwarm.runner import recompute
from coldwarm.runner.cases import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.result import Measured
    from coldwarm.contracts.snapshot import RebuiltEnvironment, Replication, SnapshotName


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


def command_line(python: str, options: Options, out_dir: Path, budget_s: float | None) -> list[str]:
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
    return recompute.read(out_dir)


REPORT = "replication_report.json"
RUNS = "runs"
_ENVIRONMENT = "environment"
_CODE = "code"


@dataclass(frozen=True)
class Request:
    """What is repeated, and how."""

    folder: Path
    """Of the snapshot, which holds."""
    name: SnapshotName
    signed_by: str | None
    runs: Mapping[str, Measured]
    """Of the snapshot, by the name of their folder."""
    out_dir: Path
    python: str | None = None
    as_it_is: bool = False
    with_wheel: bool = False
    keep_environment: bool = False
    noise: Sequence[NoiseReport] = ()
    budget_s: float | None = None
    """For each run; ``None``: the one that it had."""
    trusted: bool = False
    """Whether code of its maker may be installed and run."""


def repeat(request: Request, told: Callable[[str], None]) -> Replication:
    """Measure a snapshot again; write the report into the output directory, and return it.

    Raises:
        RefusedError: it cannot be repeated here.
        ContractError: what was measured does not hold.
        StorageError: the report cannot be written.
    """
    _refuse_content(request.out_dir)
    folders = {name: request.folder / layout.RESULTS / name for name in request.runs}
    options = {name: options_of(request.runs[name], path) for name, path in folders.items()}
    place = request.out_dir / _ENVIRONMENT
    own = any(one.own is not None for one in options.values())
    for line in _of_its_maker(request, own=own):
        told(line)
    if not request.trusted and (own or not request.as_it_is):
        raise RefusedError(because("not_trusted"))
    code = request.out_dir.absolute() / _CODE
    if own:
        lay_code(request.folder, request.runs, code)
    try:
        python, made = _environment(request, place, told)
        found = []
        for name, original in request.runs.items():
            out_dir = request.out_dir / RUNS / name
            told(f"measuring {name}, {len(original.cases)} cases")
            command = command_line(python, options[name], out_dir, request.budget_s)
            folder = code if options[name].own is not None else None
            replica = measure(command, out_dir, fresh=not request.as_it_is, folder=folder)
            found.append(compare.of_run(name, original, replica, request.noise))
    finally:
        if not request.keep_environment:
            shutil.rmtree(place, ignore_errors=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    report = compare.replication(request.name, request.signed_by, made, found, now)
    replace_file(request.out_dir / REPORT, codec.encode(report))
    return report


def _refuse_content(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise RefusedError(because("folder_not_empty", folder=str(folder)))


def _environment(
    request: Request, place: Path, told: Callable[[str], None]
) -> tuple[str, RebuiltEnvironment]:
    """Return the interpreter that measures, and what is known of its environment."""
    measured_by = _measured_by(request)
    if request.as_it_is:
        return sys.executable, environment.as_it_is(measured_by)
    versions = {
        run.environment.python.version
        for run in request.runs.values()
        if run.environment is not None
    }
    python = environment.interpreter(min(versions, default=""), request.python)
    contents = environment.Contents(
        packages=pinned(request.folder),
        harness=environment.harness_of(request.folder, measured_by, with_wheel=request.with_wheel),
        roots=_roots(request),
    )
    environment.refuse_unhashed(
        one for name, one in contents.packages.items() if name in contents.roots
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    return environment.build(contents, place, python, told)


def _measured_by(request: Request) -> set[str]:
    cases = [case for run in request.runs.values() for case in run.cases.values()]
    return {case.protocol.harness_sha256 for case in cases}


def _roots(request: Request) -> set[str]:
    """Return the distributions that are needed besides what coldwarm requires."""
    return environment.of_runs(request.runs.values()) | code_requires(request.folder)


def _of_its_maker(request: Request, *, own: bool) -> Iterator[str]:
    """Yield what of the snapshot's maker would be installed and run."""
    if not request.as_it_is:
        packages, names = pinned(request.folder), _roots(request)
        harness = environment.harness_of(
            request.folder, _measured_by(request), with_wheel=request.with_wheel
        )
        roots = [str(one) for name, one in sorted(packages.items()) if name in names]
        named = ", ".join((*roots, "what coldwarm requires, and what these require"))
        n_more = len(packages) - len(roots)
        yield f"from its lock, by hash: {named}: at most {n_more} more distributions"
        if harness.kind == "wheel_of_snapshot":
            yield f"from the snapshot, code of its maker: {layout.HARNESS}/{harness.name}"
    if own:
        start = f"{layout.CODE}/"
        paths = sorted(one.path for one in opening.entries(request.folder))
        files = ", ".join(one for one in paths if one.startswith(start))
        yield f"from the snapshot, code of its maker: {files}"
