"""A snapshot measured again in a fresh environment, and the report over it, case by case."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from coldwarm.contracts import codec
from coldwarm.contracts.base import WARM
from coldwarm.contracts.reasons import RefusedError, because
from coldwarm.contracts.run_journal import JOURNAL, read_header
from coldwarm.contracts.snapshot import (
    RebuiltEnvironment,
    Replication,
)
from coldwarm.errors import ExitCode
from coldwarm.publish import code, layout, lock, storage
from coldwarm.publish.storage import read_limited, replace_file
from coldwarm.runner import recompute
from coldwarm.runner.case_list import Options
from coldwarm.runner.harness import harness_sha256
from coldwarm.stats import repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.result import Measured
    from coldwarm.publish.content import Snapshot
    from coldwarm.publish.lock import Pinned


_TIMEOUT_S = 3600.0
_SHOWN_OF_ERROR = 300
_PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check")
_WHEELS = ("--no-deps", "--only-binary", ":all:", "--quiet")


def _find_interpreter(version: str, named: str | None) -> str:
    """Return an interpreter of a version of Python, such as ``3.11.9``: its first two numbers.

    Args:
        version: What the snapshot was measured with.
        named: The one that was asked for; ``None``: this one, or one that is on the path.

    Raises:
        RefusedError: there is none.
    """
    wanted = ".".join(version.split(".")[:2])
    if named is not None:
        return named
    if wanted == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    found = shutil.which(f"python{wanted}") if wanted.replace(".", "").isdecimal() else None
    if found is None:
        raise RefusedError(because("no_such_python", version=wanted))
    return found


class _ReplicaHarness(NamedTuple):
    """The coldwarm that measures again."""

    name: str
    """Name of its wheel."""
    data: bytes
    kind: Literal["same_sources", "wheel_of_snapshot"]


class _Ingredients(NamedTuple):
    """Ingredients of an environment."""

    packages: Mapping[str, Pinned]
    """The lock, by name."""
    harness: _ReplicaHarness
    roots: Collection[str]
    """Names that are needed besides what the harness requires."""


def _build_environment(
    contents: _Ingredients, folder: Path, python: str, tell: Callable[[str], None]
) -> tuple[str, RebuiltEnvironment]:
    """Make the environment of a snapshot in a folder; return its interpreter and what it is.

    Every file is fetched by its hash, and read, before any is installed.

    Args:
        contents: What it is made of.
        folder: Where the environment is to lie; not there yet.
        python: The interpreter that it is made with.
        tell: Is told what is being done, and the names of what is installed before it is.

    Raises:
        RefusedError: something cannot be installed.
    """
    packages, harness = contents.packages, contents.harness
    tell(f"making a virtual environment in {folder}")
    _run([python, "-m", "venv", str(folder)], "venv")
    inside = str(folder.absolute() / "bin" / "python")
    markers = json.loads(_run([inside, *_PIP, "inspect", "--local"], "pip inspect"))["environment"]
    place = folder / "wheels"
    first = {lock.Required(name) for name in contents.roots}
    first |= lock.required(harness.data, markers)
    chosen = lock.fetch_needed(
        first,
        packages,
        markers,
        place,
        lambda level: _pip(inside, folder, level, ["download", "--dest", str(place)]),
    )
    tell(
        f"installing {len(chosen)} of the {len(packages)} distributions of its lock, by their"
        f" hash: {', '.join(map(str, chosen))}"
    )
    _pip(inside, folder, chosen, ["install", "--no-index", "--find-links", str(place)])
    file = folder / harness.name
    file.write_bytes(harness.data)
    install = ("install", *_WHEELS, "--no-index", str(file))
    _run([inside, *_PIP, *install], harness.name)
    rebuilt = RebuiltEnvironment(
        kind="fresh", locked=True, installed=[*map(str, chosen)], harness=harness.kind
    )
    return inside, rebuilt


def _harness_of(snapshot: Path, measured_by: set[str], *, with_wheel: bool) -> _ReplicaHarness:
    """Return the coldwarm that measured a snapshot: these sources, or what was brought.

    Args:
        snapshot: The folder of the snapshot, which was verified.
        measured_by: Hashes of the sources that measured it.
        with_wheel: Whether the wheel in the snapshot may be run.

    Raises:
        RefusedError: they are not at hand, or may not be run.
    """
    if measured_by == {harness_sha256()}:
        return _ReplicaHarness(lock.OWN_WHEEL, lock.build_own_wheel(), "same_sources")
    brought = sorted((snapshot / layout.HARNESS).glob("*.whl"))
    if not brought:
        raise RefusedError(because("harness_not_here"))
    if not with_wheel:
        raise RefusedError(because("harness_is_code", file=brought[0].name))
    path = f"{layout.HARNESS}/{brought[0].name}"
    return _ReplicaHarness(brought[0].name, read_limited(snapshot, path), "wheel_of_snapshot")


def _pip(python: str, folder: Path, packages: Sequence[Pinned], command: list[str]) -> None:
    """Let pip fetch or install exactly these wheels, by their hashes."""
    if not packages:
        return
    file = folder / "requirements.txt"
    file.write_text("".join(f"{one.requirement}\n" for one in packages), encoding="utf-8")
    how = (*command, *_WHEELS, "--require-hashes", "-r", str(file))
    _run([python, *_PIP, *how], f"pip {command[0]}")


def _run(command: Sequence[str], named: str) -> bytes:
    """Run a program to its end; return what it printed.

    Raises:
        RefusedError: it failed; has the last line that it wrote.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(  # noqa: S603 - programs of this machine, from a list
            command, capture_output=True, check=False, timeout=_TIMEOUT_S, env=kept
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        text = f"{type(error).__name__}: {error}"[:_SHOWN_OF_ERROR]
        raise RefusedError(because("environment_failed", program=named, text=text)) from None
    if done.returncode:
        written = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
        errors = [one for one in written if one.startswith("ERROR")] or written or [""]
        text = errors[-1][:_SHOWN_OF_ERROR]
        raise RefusedError(because("environment_failed", program=named, text=text))
    return done.stdout


_DONE = {ExitCode.FINE, ExitCode.FAILED, ExitCode.NOTHING_VALID}
"""Exit codes of a run that has left a result."""
_DEFAULTS = ("COLDWARM_RUN_", "COLDWARM_BENCH_")
"""Beginnings of variables that hold defaults of options."""
_OF_ANOTHER = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "VIRTUAL_ENV"}
"""Variables that name the packages of another environment."""


def _options_of(run: Measured, folder: Path) -> Options:
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
    why = code.recorded_request(options.asked()).why_not
    if why is None and not (folder.parents[1] / layout.CODE).is_dir():
        why = because("code_left_out")
    if why is not None:
        raise RefusedError(because("own_functions", why, case=case))


def _command_line(
    python: str, options: Options, out_dir: Path, budget_s: float | None, *, earlier: bool = False
) -> list[str]:
    """Return the command that measures by these options; each value stands with its name.

    ``earlier``: for a coldwarm whose options had ``_EARLIER`` names.
    """
    budget_s = budget_s or options.time_budget_s
    given: dict[str, object] = {
        "seed": options.seed,
        "rounds": options.min_runs,
        "max-rounds": options.max_runs,
        "timeout": f"{options.timeout_s}s",
        "out": out_dir.absolute(),
        "threads": options.threads,
        "time-budget": None if budget_s is None else f"{budget_s}s",
    }
    begin = [python, "-P", "-m", "coldwarm"]
    if options.own is not None:
        given["threshold"] = None if options.decide is None else f"{100 * options.decide:g}%"
        modes = set(options.cache_modes)
        flags = ["--warm-only"] * (modes == {WARM}) + ["--cold-only"] * (WARM not in modes)
        more = code.recorded_request(options.asked()).arguments()
        return [*begin, "bench", *flags, *_written(given, earlier=earlier), *more]
    given |= {
        "suite": options.suite,
        "precision": options.precision,
        "case": ",".join(options.cases),
        "backend": ",".join(options.backends),
        "cache-mode": ",".join(options.cache_modes),
    }
    flags = ["--deterministic"] if options.deterministic else []
    flags += ["--leave-out-private"] if options.leave_out_private else []
    return [*begin, "run", *flags, *_written(given, earlier=earlier)]


_EARLIER = {"rounds": "min-runs", "max-rounds": "max-runs", "out": "out-dir"}
"""By the names of options, those in snapshots that bring an earlier coldwarm."""


def _written(given: Mapping[str, object], *, earlier: bool) -> list[str]:
    names = _EARLIER if earlier else {}
    return [
        f"--{names.get(name, name)}={value}"
        for name, value in given.items()
        if value not in {None, ""}
    ]


def _is_earlier(python: str) -> bool:
    """Say whether the coldwarm of an environment has the earlier names of options."""
    command = [python, "-P", "-m", "coldwarm", "run", "--help"]
    return b"--min-runs" in _run(command, "coldwarm run --help")


def _files_of_code(snapshot: Path) -> list[str]:
    start = f"{layout.CODE}/"
    return [one.path for one in storage.list_files(snapshot) if one.path.startswith(start)]


def _lay_code(snapshot: Path, runs: Mapping[str, Measured], target: Path) -> list[str]:
    """Lay the functions of a snapshot into a folder of their own; return their paths.

    Raises:
        RefusedError: a function's file is not the one that was measured.
    """
    files = _files_of_code(snapshot)
    hashes = set()
    for path in files:
        data = storage.read_limited(snapshot, path)
        hashes.add(hashlib.sha256(data).hexdigest())
        file = target / path.removeprefix(f"{layout.CODE}/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    for run in runs.values():
        for case in run.cases.values():
            if case.protocol.own is not None and case.protocol.workload_sha256 not in hashes:
                raise RefusedError(because("code_differs", case=case.case))
    return files


def _measure(
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
        name: value
        for name, value in os.environ.items()
        if not (fresh and name in _OF_ANOTHER) and not name.startswith(_DEFAULTS)
    }
    # Nor has the file of a project a say in what is repeated.
    kept["COLDWARM_CONFIG"] = os.devnull
    done = subprocess.run(  # noqa: S603 - this program, from a list
        arguments, stdout=subprocess.DEVNULL, check=False, env=kept, cwd=folder or out_dir.parent
    )
    if done.returncode not in _DONE or not (out_dir / "suite.json").is_file():
        raise RefusedError(because("rerun_failed", status=str(done.returncode)))
    return recompute.read(out_dir)


REPORT = "replication_report.json"
RUNS = "runs"


@dataclass(frozen=True)
class ReplicationRequest:
    """Request of a repetition."""

    snapshot: Snapshot
    out_dir: Path
    python: str | None = None
    as_it_is: bool = False
    with_wheel: bool = False
    keep_environment: bool = False
    noise: Sequence[NoiseReport] = ()
    budget_s: float | None = None
    """For each run; ``None``: the one that it had."""
    trust: bool = False
    """Whether code of its maker may be installed and run, though nothing says who that is."""


def repeat(request: ReplicationRequest, tell: Callable[[str], None]) -> Replication:
    """Measure a snapshot again; write the report into the output directory, and return it.

    Raises:
        RefusedError: it cannot be repeated here.
        ContractError: what was measured does not hold.
        StorageError: the report cannot be written.
    """
    _refuse_content(request.out_dir)
    snapshot = request.snapshot
    folders = {name: snapshot.folder / layout.RESULTS / name for name in snapshot.runs}
    options = {name: _options_of(snapshot.runs[name], path) for name, path in folders.items()}
    own = any(one.own is not None for one in options.values())
    ingredients = None if request.as_it_is else _ingredients(request)
    for line in _of_its_maker(snapshot.folder, ingredients, own=own):
        tell(line)
    trusted = request.trust or snapshot.signed_by or snapshot.identity
    if not trusted and (own or ingredients is not None):
        raise RefusedError(because("not_trusted"))
    place, functions = request.out_dir / "environment", request.out_dir.absolute() / "code"
    if own:
        _lay_code(snapshot.folder, snapshot.runs, functions)
    try:
        python, made = _environment(request, ingredients, place, tell)
        found = []
        brought = ingredients is not None and ingredients.harness.kind == "wheel_of_snapshot"
        earlier = brought and _is_earlier(python)
        for name, original in snapshot.runs.items():
            out_dir = request.out_dir / RUNS / name
            tell(f"measuring {name}, {len(original.cases)} cases")
            command = _command_line(
                python, options[name], out_dir, request.budget_s, earlier=earlier
            )
            folder = functions if options[name].own is not None else None
            replica = _measure(command, out_dir, fresh=not request.as_it_is, folder=folder)
            found.append(repeated.compare_run(name, original, replica, request.noise))
    finally:
        if not request.keep_environment:
            shutil.rmtree(place, ignore_errors=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    report = repeated.report(snapshot.name, snapshot.signed_by, made, found, now)
    replace_file(request.out_dir / REPORT, codec.encode(report))
    return report


def _refuse_content(folder: Path) -> None:
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise RefusedError(because("folder_not_empty", folder=str(folder)))


def _ingredients(request: ReplicationRequest) -> _Ingredients:
    """Return what the environment is made of that measures."""
    snapshot = request.snapshot
    roots = lock.required_by_runs(snapshot.runs.values()) | lock.code_requires(snapshot.folder)
    return _Ingredients(
        packages=lock.read_pins(snapshot.folder),
        harness=_harness_of(snapshot.folder, _measured_by(snapshot), with_wheel=request.with_wheel),
        roots=roots,
    )


def _measured_by(snapshot: Snapshot) -> set[str]:
    cases = [case for run in snapshot.runs.values() for case in run.cases.values()]
    return {case.protocol.harness_sha256 for case in cases}


def _of_its_maker(folder: Path, ingredients: _Ingredients | None, *, own: bool) -> Iterator[str]:
    """Yield what of the snapshot's maker would be installed and run."""
    if ingredients is not None:
        packages, names, harness = ingredients.packages, ingredients.roots, ingredients.harness
        roots = [str(one) for name, one in sorted(packages.items()) if name in names]
        named = ", ".join((*roots, "what coldwarm requires, and what these require"))
        n_more = len(packages) - len(roots)
        yield f"from its lock, by hash: {named}: at most {n_more} more distributions"
        if harness.kind == "wheel_of_snapshot":
            yield f"from the snapshot, code of its maker: {layout.HARNESS}/{harness.name}"
    if own:
        files = ", ".join(sorted(_files_of_code(folder)))
        yield f"from the snapshot, code of its maker: {files}"


def _environment(
    request: ReplicationRequest,
    ingredients: _Ingredients | None,
    place: Path,
    tell: Callable[[str], None],
) -> tuple[str, RebuiltEnvironment]:
    """Return the interpreter that measures, and what is known of its environment."""
    runs = request.snapshot.runs.values()
    if ingredients is None:
        same = _measured_by(request.snapshot) == {harness_sha256()}
        harness: Literal["same_sources", "other_sources"] = (
            "same_sources" if same else "other_sources"
        )
        return sys.executable, RebuiltEnvironment(kind="as_it_is", locked=False, harness=harness)
    versions = {run.environment.python.version for run in runs if run.environment is not None}
    python = _find_interpreter(min(versions, default=""), request.python)
    packages, roots = ingredients.packages, ingredients.roots
    lock.refuse_unhashed(one for name, one in packages.items() if name in roots)
    place.parent.mkdir(parents=True, exist_ok=True)
    return _build_environment(ingredients, place, python, tell)
