"""The folder of a history: its runs, and an index of them that can be made anew at any time.

``runs`` has a folder for each run: a copy of its result, and beside it ``figures.json`` with its
figures. The index is a database of these, each figure over its runs, so that thousands of runs are
read at once; it is brought up to date whenever it is opened, and made anew where it is damaged. A
run is copied beside the others, and then put in its place in one step.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import secrets
import shutil
import sqlite3
import struct
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from msgspec.structs import replace

from coldwarm.contracts import codec
from coldwarm.contracts.history import HistoryFigure, HistoryRun
from coldwarm.contracts.result import Benchmarks
from coldwarm.errors import StorageError, UsageError
from coldwarm.stats.comparable import failure, setup
from coldwarm.stats.compared_figures import metrics
from coldwarm.stats.intervals import centre

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, Measured

    Floats = NDArray[np.float64]

_T = TypeVar("_T")
_RUNS, _FIGURES, _RESULT, _INDEX = "runs", "figures.json", "result", "index.sqlite"
_NODE_DIGITS = 4
_VERSION = 3
"""Of the index; another one is made anew."""
_TRUSTED = 0.9
"""Confidence of an interval below which it says nothing of its run's error."""
_NUMBERS = ("value", "ratio", "low", "high", "confidence")
_NAMED = ("machine", "case", "metric", "kind", "baseline", "setup")
_FIGURE = struct.Struct(f"<{1 + len(_NUMBERS)}d")
"""A figure in the index: the number of its run, and these."""
_PART = 256
"""Figures of a series that stand in one row of the index."""
_FRAMEWORKS = ("jax", "jaxlib", "torch", "numba", "llvmlite", "numpy", "scipy")
_GIB = 2**30
_STALE_S = 86400.0
"""After which a copy that nobody has finished is removed."""
_DIGITS = 12
_NOT_TOLD = "a machine that is not told"


class StoredRun(NamedTuple):
    """A run of a history, without its figures."""

    run_id: str
    started_at: str
    commit: str | None
    machine: str
    machine_name: str
    software: str
    """Versions by name, as JSON."""


@dataclass(frozen=True)
class Series:
    """A figure of one machine over its runs, oldest first."""

    machine: str
    case: str
    metric: str
    kind: MetricKind
    baseline: str | None
    setup: str
    runs: NDArray[np.int64]
    """Places of its runs among those of the history."""
    figures: NDArray[np.float64]
    """For each run the value, the ratio, its bounds and their confidence; NaN: there is none."""

    def figure(self, at: int) -> HistoryFigure:
        """Return the figure of a run, by its place in the series."""
        known: list[Any]
        known = [None if math.isnan(number) else number for number in self.figures[at].tolist()]
        return HistoryFigure(
            case=self.case,
            metric=self.metric,
            kind=self.kind,
            baseline=self.baseline,
            setup=self.setup,
            **dict(zip(_NUMBERS, known, strict=True)),
        )


@dataclass(frozen=True)
class History:
    """The runs of a history by date, and its figures over them."""

    runs: Sequence[StoredRun]
    series: Sequence[Series]

    def machines(self) -> dict[str, str]:
        """Return the names of the machines, by their hashes."""
        return {one.machine: one.machine_name for one in self.runs}


def add(
    folder: Path, found: Measured | Benchmarks, commit: str | None, node: str = ""
) -> HistoryRun | None:
    """Put a run into a history; ``None``: it is there already.

    Args:
        folder: The history, which is made where it is not there.
        found: The run, as it was read and computed again, or a file of another tool.
        commit: That of the program; ``None``: the one that the run names, if it does.
        node: The name of its machine, where others are built like it.

    Raises:
        UsageError: it is no whole run of one commit, or the history lies in it.
        StorageError: it cannot be written.
    """
    run = _run_of_tool(found, commit) if isinstance(found, Benchmarks) else _run_of(found, commit)
    if node:  # whose name is nobody else's business
        machine = _hash([run.machine, node])
        named = f"{run.machine_name}, node {machine[:_NODE_DIGITS]}"
        run = replace(run, machine=machine, machine_name=named)
    part = found.part if isinstance(found, Benchmarks) else None
    return put(folder, run, Path(found.path), part)


def put(
    folder: Path, run: HistoryRun, source: Path, part: bytes | None = None
) -> HistoryRun | None:
    """Put a run and its result into a history; ``None``: it is there already.

    Args:
        folder: The history.
        run: The run.
        source: Its result, a folder or a file.
        part: What of the file is copied; ``None``: all of it.

    Raises:
        UsageError: the history lies in the result.
        StorageError: it cannot be written.
    """
    began = datetime.fromisoformat(run.started_at)
    if folder.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{folder} lies in {source}; name another folder for the history")
    target = folder / _RUNS / f"{began:%Y%m%dT%H%M%S}-{run.run_id[:8]}"
    if target.exists():
        return None
    made = folder / _RUNS / f".{secrets.token_hex(8)}"
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, made, ignore_errors=True)
        try:
            _copy(source, made / _RESULT, part)
            (made / _FIGURES).write_bytes(codec.encode(run))
            for place, _, names in os.walk(made):
                for name in (*names, "."):
                    _keep(Path(place, name))
            made.rename(target)
            _keep(target.parent)
        except (OSError, shutil.Error) as error:
            if target.exists():  # another process has put it there
                return None
            text = f"{folder} cannot be written: {error}; make room, or name another"
            raise StorageError(text) from None
    _remove_stale(folder / _RUNS)
    return run


def _copy(source: Path, target: Path, part: bytes | None) -> None:
    target.parent.mkdir(parents=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
        return
    target.mkdir()
    if part is None:
        shutil.copy2(source, target)
    else:
        (target / source.with_suffix(".json").name).write_bytes(part)


def _keep(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk before anything else is."""
    if path.is_symlink():
        return
    at = os.open(path, os.O_RDONLY)
    try:
        os.fsync(at)
    finally:
        os.close(at)


def _remove_stale(folder: Path) -> None:
    """Remove copies that were begun and never put in their place."""
    for one in folder.glob(".*"):
        with suppress(OSError):  # another process has removed it, or put it in its place
            if time.time() - one.lstat().st_mtime > _STALE_S:
                shutil.rmtree(one, ignore_errors=True)


def _run_of(measured: Measured, commit: str | None) -> HistoryRun:
    """Return the figures of a run.

    Raises:
        UsageError: it is no whole run of one commit.
    """
    suite, environment = measured.suite, measured.environment
    if suite is None or environment is None or not Path(measured.path).is_dir():
        raise UsageError(f"{measured.path} is no folder of a run; name one of `coldwarm run`")
    if not suite.complete:
        raise UsageError(f"{measured.path} is not finished; go on with `coldwarm run --resume`")
    owns = [one.protocol.own for one in measured.cases.values() if one.protocol.own]
    revisions = {own.revision for own in owns}
    if len(revisions) > 1:
        text = f"{measured.path} has two commits side by side; add results of one commit"
        raise UsageError(text)
    return run_at(
        environment,
        run_id=suite.run_id,
        started_at=_date(suite.started_at, measured.path),
        commit=commit or next(iter(revisions), None),
        figures=[*figures(list(measured.cases.values()))],
    )


def run_at(
    environment: Environment,
    *,
    run_id: str,
    started_at: str,
    commit: str | None,
    figures: list[HistoryFigure],
) -> HistoryRun:
    """Return a run on a machine, with nothing private in it."""
    machine = _machine(environment)
    run = HistoryRun(
        run_id=run_id,
        started_at=started_at,
        commit=commit,
        machine=machine_of(environment),
        machine_name=", ".join(str(one) for one in machine if one),
        software=_software(environment),
        figures=figures,
    )
    return codec.without_secrets(run)


def _run_of_tool(found: Benchmarks, commit: str | None) -> HistoryRun:
    """Return the figures of a file of another tool, which have no baseline.

    Raises:
        UsageError: it does not tell when it was measured.
    """
    if found.started_at is None:
        raise UsageError(f"{found.path} does not tell when it was measured; add it with --date")
    # Suites are measured by jobs of their own, and each has its newest runs.
    machine = found.cpu or (f"the machine of {found.suite}" if found.suite else _NOT_TOLD)
    figures = [
        HistoryFigure(
            case=name,
            metric="elsewhere.memory_bytes" if one.kind == "memory" else "elsewhere.time_s",
            kind=one.kind,
            value=centre(one.processes),
        )
        for name, one in found.benchmarks.items()
    ]
    run = HistoryRun(
        run_id=found.run_id or hashlib.sha256(Path(found.path).read_bytes()).hexdigest()[:32],
        started_at=_date(found.started_at, found.path),
        commit=commit or found.commit,
        machine=_hash(machine),
        machine_name=machine,
        software={"measured by": found.tool or "coldwarm"},
        figures=figures,
    )
    return codec.without_secrets(run)


def _date(text: str, path: str) -> str:
    """Return a date in UTC; one without a zone is taken to be so.

    Raises:
        UsageError: it is none.
    """
    try:
        return utc(text)
    except ValueError:
        raise UsageError(
            f"{path} says that it was measured at {text!r}, which is no date"
        ) from None


def utc(text: str) -> str:
    """Return a date in UTC; one without a zone is taken to be so.

    Raises:
        ValueError: it is none.
    """
    found = datetime.fromisoformat(text)
    zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
    try:
        return zoned.astimezone(UTC).isoformat(timespec="seconds")
    except OverflowError as error:  # in the first year, or the last one
        raise ValueError(str(error)) from None


def _hash(value: object) -> str:
    told = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()[:_DIGITS]


def machine_of(environment: Environment) -> str:
    """Return the hash of a machine, as its runs have it."""
    return _hash(_machine(environment))


def _machine(environment: Environment) -> list[str]:
    """Return what tells a machine from others: nothing that a restart changes."""
    cpu, system = environment.cpu, environment.system
    memory = "" if system.ram_bytes is None else f"{round(system.ram_bytes / _GIB)} GiB"
    gpus = [one.model for one in environment.gpus or ()]
    cores = f"{cpu.usable_cores or cpu.logical_cores or 0} processors"
    return [cpu.model or cpu.architecture, cores, memory, system.virtualization or "", *gpus]


def _software(environment: Environment) -> dict[str, str]:
    installed = {name.lower(): version for name, version in environment.distributions.items()}
    known = {name: installed[name] for name in _FRAMEWORKS if name in installed}
    own = {"python": environment.python.version, "kernel": environment.system.kernel}
    return {**known, **own, "coldwarm": environment.harness.version}


def figures(cases: Sequence[CaseResult]) -> Iterator[HistoryFigure]:
    """Yield what cases measured; nothing of one that failed, or whose answer is wrong."""
    valid = [case for case in cases if failure(case) is None]
    values = {
        case.case: {key: centre(list(side.values.values())) for key, side in metrics(case).items()}
        for case in valid
    }
    n_of = Counter(case.group for case in valid)
    references = {case.group: case.case for case in valid if case.baseline and n_of[case.group] > 1}
    for case in valid:
        reference = references.get(case.group)
        judged = {one.metric: one for one in case.comparisons}
        for (metric, kind), value in values[case.case].items():
            figure = HistoryFigure(
                case=case.case, metric=metric, kind=kind, value=value, setup=_setup(case)
            )
            theirs = values[reference].get((metric, kind), 0.0) if reference else 0.0
            if reference is None or kind == "memory" or not theirs:
                yield figure
            elif reference == case.case:
                yield replace(figure, baseline=reference)
            else:
                yield _held_against(figure, reference, value / theirs, judged.get(metric))


def _setup(case: CaseResult) -> str:
    """Return a hash of what figures of one name have in common, on whichever machine.

    Which processors were used is left out: other machines have others, and how many there are is
    part of what tells machines apart.
    """
    return _hash({name: value for name, value in setup(case).items() if name != "affinity"})


def _held_against(
    figure: HistoryFigure, reference: str, ratio: float, found: Comparison | None
) -> HistoryFigure:
    """Return a figure with its ratio, and the interval where one was computed."""
    if found is None or found.ratio is None:
        return replace(figure, baseline=reference, ratio=ratio)
    bounds = {"low": found.low or None, "high": found.high or None}
    told = {"ratio": found.ratio, "confidence": found.confidence, **bounds}
    return replace(figure, baseline=reference, **told)


def errors_of(low: Floats, high: Floats, confidence: Floats) -> Floats:
    """Return the standard errors of ratios' logarithms; 0: the run does not tell."""
    surely = (confidence >= _TRUSTED) & (confidence < 1) & (low > 0) & (high > 0)
    bounds = np.where(surely, high, 1.0), np.where(surely, low, 1.0)
    known, places = np.unique(np.where(surely, confidence, _TRUSTED), return_inverse=True)
    # Standard errors from the middle to a bound.
    away = np.array([-NormalDist().inv_cdf((1 - one) / 2) for one in known.tolist()])
    errors: Floats = (np.log(bounds[0]) - np.log(bounds[1])) / (2 * away[places])
    return errors


def prune(folder: Path, keep: int) -> int:
    """Remove the results of all but the newest runs, and leave their figures; return how many.

    Raises:
        StorageError: one cannot be removed.
    """
    removed = 0
    for run in _runs(folder)[: -keep or None]:
        if (run / _RESULT).is_dir():
            try:
                shutil.rmtree(run / _RESULT)
            except OSError as error:
                raise StorageError(f"{run} cannot be removed: {error}") from None
            removed += 1
    return removed


def _runs(folder: Path) -> list[Path]:
    """Return the folders of runs by date."""
    with os.scandir(folder / _RUNS) as entries:
        names = sorted(one.name for one in entries if not one.name.startswith(".") and one.is_dir())
    return [folder / _RUNS / name for name in names]


def history(folder: Path, case: str = "") -> History:
    """Return the figures of a history, each over its runs; only of cases with ``case`` in the name.

    Raises:
        UsageError: it is none.
        ContractError: the figures of a run are damaged.
    """
    if not (folder / _RUNS).is_dir():
        text = f"{folder} is no history; make one with `coldwarm history add RESULT --to {folder}`"
        raise UsageError(text)
    return _asked(folder, lambda index: _read(index, case))


def _read(index: sqlite3.Connection, case: str) -> History:
    found = index.execute(f"SELECT number, {_OF_RUN} FROM run ORDER BY folder").fetchall()  # noqa: S608 - names of columns
    runs = [StoredRun(*told) for _, *told in found]
    numbers = np.array([number for number, *_ in found], dtype=np.int64)
    place_of = np.full(numbers.max(initial=0) + 1, -1)
    place_of[numbers] = np.arange(len(runs))
    parts = 'SELECT series, figures FROM part JOIN series ON number = series WHERE instr("case", ?)'
    blobs: dict[int, list[bytes]] = {}
    for number, blob in index.execute(f"{parts} ORDER BY series, place", (case,)):
        blobs.setdefault(number, []).append(blob)
    named = {number: told for number, *told in index.execute(f"SELECT number, {_KEY} FROM series")}  # noqa: S608 - likewise
    return History(
        runs, [_series(named[number], b"".join(one), place_of) for number, one in blobs.items()]
    )


def _series(named: Sequence[Any], figures: bytes, place_of: NDArray[np.int64]) -> Series:
    table = np.frombuffer(figures, dtype="<f8").reshape(-1, _FIGURE.size // 8)
    runs = place_of[table[:, 0].astype(np.int64)]
    if np.any(runs < 0):
        raise IndexError("a figure is of no run")
    order = np.argsort(runs, kind="stable")
    told = dict(zip(_NAMED, named, strict=True))
    told["baseline"] = told["baseline"] or None
    return Series(**told, runs=runs[order], figures=table[order, 1:])


def _asked(folder: Path, ask: Callable[[sqlite3.Connection], _T]) -> _T:
    """Ask the index, brought up to date; one that is damaged is made anew.

    Where none can be kept in the folder, or another process holds it, it is made in memory.

    Raises:
        ContractError: the figures of a run are damaged.
    """
    path = folder / _INDEX
    for place in (path, path, ":memory:"):
        try:
            with closing(sqlite3.connect(place)) as index:
                _bring_up(index, folder)
                found = ask(index)  # before another process can make it anew
                index.execute("COMMIT")
                return found
        except (sqlite3.OperationalError, sqlite3.IntegrityError):
            continue
        except (sqlite3.DatabaseError, ValueError, KeyError, IndexError):
            for name in (path, path.with_name(f"{_INDEX}-journal")):
                with suppress(OSError):
                    name.unlink()
    raise StorageError(f"{path} cannot be read, and no index can be made in memory")


_KEY = 'machine, "case", metric, kind, baseline, setup'
_OF_FOLDER = "folder TEXT UNIQUE, mtime INTEGER, size INTEGER"
_OF_RUN = "run_id, started_at, commit_of, machine, machine_name, software"
_TABLES = {
    "run": f"number INTEGER PRIMARY KEY, {_OF_FOLDER}, {_OF_RUN}",
    "series": f"number INTEGER PRIMARY KEY, {_KEY}, UNIQUE ({_KEY})",
    "part": "series INTEGER, place INTEGER, figures BLOB, PRIMARY KEY (series, place)",
}


def _bring_up(index: sqlite3.Connection, folder: Path) -> None:
    """Bring an index up to date with the runs that are there, in a transaction that stays open.

    It is made anew where a run is gone, or has other figures than before.

    Raises:
        ContractError: the figures of a run are damaged.
        sqlite3.Error: it is damaged, is held by another process, or cannot be written.
    """
    index.isolation_level = None
    index.execute("BEGIN IMMEDIATE")
    (version,) = index.execute("PRAGMA user_version").fetchone()
    there = {one.name: _stamp(one / _FIGURES) for one in _runs(folder)}
    known: dict[str, _Stamp] = {}
    if version == _VERSION:
        stamps = index.execute("SELECT folder, mtime, size FROM run")
        known = {name: _Stamp(*told) for name, *told in stamps}
    if version != _VERSION or known.items() - there.items():
        known = {}
        for table, columns in _TABLES.items():
            index.execute(f"DROP TABLE IF EXISTS {table}")
            index.execute(f"CREATE TABLE {table} ({columns})")
        index.execute(f"PRAGMA user_version = {_VERSION}")
    added: dict[tuple[str, ...], bytearray] = {}
    for name in sorted(there.keys() - known.keys()):
        run = codec.load_as(HistoryRun, folder / _RUNS / name / _FIGURES)
        _insert(index, (name, *there[name]), run, added)
    for key, figures in added.items():
        _append(index, key, figures)


class _Stamp(NamedTuple):
    """By which a file that was written anew is known."""

    mtime_ns: int
    size: int


def _stamp(path: Path) -> _Stamp:
    """Return the stamp of a file; zeros: it cannot be had, and whoever reads the file says so."""
    try:
        found = path.stat()
    except OSError:
        return _Stamp(0, 0)
    return _Stamp(found.st_mtime_ns, found.st_size)


def _insert(
    index: sqlite3.Connection,
    of_folder: tuple[str, int, int],
    run: HistoryRun,
    added: dict[tuple[str, ...], bytearray],
) -> None:
    """Insert a run, and put its figures to those that are added to their series."""
    row = (*of_folder, run.run_id, run.started_at, run.commit, run.machine, run.machine_name)
    made = index.execute(
        "INSERT INTO run VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, json.dumps(run.software))
    )
    for one in run.figures:
        key = run.machine, one.case, one.metric, one.kind, one.baseline or "", one.setup
        told = (one.value, one.ratio, one.low, one.high, one.confidence)
        numbers = (math.nan if number is None else number for number in told)
        added.setdefault(key, bytearray()).extend(_FIGURE.pack(made.lastrowid, *numbers))


def _append(index: sqlite3.Connection, key: tuple[str, ...], figures: bytearray) -> None:
    """Put figures behind those of a series, in parts of which only the last one is written anew."""
    index.execute("INSERT OR IGNORE INTO series VALUES (NULL, ?, ?, ?, ?, ?, ?)", key)
    query = f"SELECT number FROM series WHERE ({_KEY}) = (?, ?, ?, ?, ?, ?)"  # noqa: S608 - likewise
    (series,) = index.execute(query, key).fetchone()
    last = "SELECT place, figures FROM part WHERE series = ? ORDER BY place DESC LIMIT 1"
    place, held = index.execute(last, (series,)).fetchone() or (0, b"")
    whole = bytes(held + figures)
    length = _PART * _FIGURE.size
    for at in range(0, len(whole), length):
        row = series, place + at // length, whole[at : at + length]
        index.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?)", row)
