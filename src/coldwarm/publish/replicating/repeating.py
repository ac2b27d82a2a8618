"""A snapshot measured again as a whole: its environment, its runs, and the report over them."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from coldwarm.contracts.files import codec
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.publish import layout, opening
from coldwarm.publish.replicating import agreeing, environment, needed, rerun
from coldwarm.publish.replicating.locked import code_requires, pinned
from coldwarm.publish.writing import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.checked import RebuiltEnvironment, Replication
    from coldwarm.contracts.measured import Measured
    from coldwarm.contracts.noise import NoiseReport
    from coldwarm.contracts.snapshot import SnapshotName

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
    options = {name: rerun.options_of(request.runs[name], path) for name, path in folders.items()}
    place = request.out_dir / _ENVIRONMENT
    own = any(one.own is not None for one in options.values())
    for line in _of_its_maker(request, own=own):
        told(line)
    if not request.trusted and (own or not request.as_it_is):
        raise RefusedError(because("not_trusted"))
    code = request.out_dir.absolute() / _CODE
    if own:
        rerun.lay_code(request.folder, request.runs, code)
    try:
        python, made = _environment(request, place, told)
        found = []
        for name, original in request.runs.items():
            out_dir = request.out_dir / RUNS / name
            told(f"measuring {name}, {len(original.cases)} cases")
            command = rerun.command(python, options[name], out_dir, request.budget_s)
            folder = code if options[name].own is not None else None
            replica = rerun.measure(command, out_dir, fresh=not request.as_it_is, folder=folder)
            found.append(agreeing.of_run(name, original, replica, request.noise))
    finally:
        if not request.keep_environment:
            shutil.rmtree(place, ignore_errors=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    report = agreeing.report(request.name, request.signed_by, made, found, now)
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
    needed.refuse_unhashed(one for name, one in contents.packages.items() if name in contents.roots)
    place.parent.mkdir(parents=True, exist_ok=True)
    return environment.build(contents, place, python, told)


def _measured_by(request: Request) -> set[str]:
    cases = [case for run in request.runs.values() for case in run.cases.values()]
    return {case.protocol.harness_sha256 for case in cases}


def _roots(request: Request) -> set[str]:
    """Return the distributions that are needed besides what coldwarm requires."""
    return needed.of_runs(request.runs.values()) | code_requires(request.folder)


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
