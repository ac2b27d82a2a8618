"""The folder of a history: its runs, and an index of them that can be made anew at any time.

``runs`` has a folder for each run: a copy of its result, and beside it ``figures.json`` with its
figures. The index is a database of these; it is brought up to date whenever it is opened, and made
anew where it is damaged. A run is copied beside the others, and then put in its place in one step.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import sqlite3
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldwarm.contracts import codec
from coldwarm.contracts.history import HistoryFigure, HistoryRow, HistoryRun
from coldwarm.errors import ContractError, StorageError, UsageError
from coldwarm.stats.compared_figures import metrics
from coldwarm.stats.intervals import centre

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, Measured

_RUNS, _FIGURES, _RESULT, _INDEX = "runs", "figures.json", "result", "index.sqlite"
_VERSION = 1
"""Of the index; another one is made anew."""
_TABLES = f"""
CREATE TABLE run (folder TEXT PRIMARY KEY, run_id TEXT, started_at TEXT, commit_of TEXT,
    machine TEXT, machine_name TEXT, software TEXT);
CREATE TABLE figure (folder TEXT, case_of TEXT, metric TEXT, kind TEXT, value REAL, baseline TEXT,
    ratio REAL, low REAL, high REAL, confidence REAL);
CREATE INDEX figures_of_run ON figure (folder);
PRAGMA user_version = {_VERSION};
"""
_FRAMEWORKS = ("jax", "jaxlib", "torch", "numba", "llvmlite", "numpy", "scipy")
_GIB = 2**30
_FIELDS = HistoryFigure.__struct_fields__


@dataclass(frozen=True)
class Series:
    """A figure of one machine over its runs, oldest first."""

    rows: Sequence[HistoryRow]
    software: Sequence[dict[str, str]]
    """Of each row's run."""


def add(folder: Path, measured: Measured, commit: str | None) -> HistoryRun | None:
    """Put a run into a history; ``None``: it is there already.

    Args:
        folder: The history, which is made where it is not there.
        measured: The run, as it was read and computed again.
        commit: That of the program; ``None``: the one that the run names, if it does.

    Raises:
        UsageError: it is no whole run.
        StorageError: it cannot be written.
    """
    run, source = run_of(measured, commit), Path(measured.path)
    name = f"{re.sub(r'[^0-9T]', '', run.started_at)[:15]}-{run.run_id[:8]}"
    target = folder / _RUNS / name
    if target.exists():
        return None
    made = folder / _RUNS / f".{secrets.token_hex(8)}"
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, made, ignore_errors=True)
        try:
            made.mkdir(parents=True)
            shutil.copytree(source, made / _RESULT, symlinks=True)
            (made / _FIGURES).write_bytes(codec.encode(run))
            for path in (made / _FIGURES, made):
                _keep(path)
            made.rename(target)
            _keep(target.parent)
        except (OSError, shutil.Error) as error:
            text = f"{folder} cannot be written: {error}; make room, or name another"
            raise StorageError(text) from None
    return run


def _keep(path: Path) -> None:
    """Have what was written on the disk before anything else is."""
    at = os.open(path, os.O_RDONLY)
    try:
        os.fsync(at)
    finally:
        os.close(at)


def run_of(measured: Measured, commit: str | None) -> HistoryRun:
    """Return the figures of a run.

    Raises:
        UsageError: it is no whole run.
    """
    suite, environment = measured.suite, measured.environment
    if suite is None or environment is None or not Path(measured.path).is_dir():
        raise UsageError(f"{measured.path} is no folder of a run; name one of `coldwarm run`")
    if not suite.complete:
        raise UsageError(f"{measured.path} is not finished; go on with `coldwarm run --resume`")
    revisions = {one.protocol.own.revision for one in measured.cases.values() if one.protocol.own}
    told = revisions.pop() if len(revisions) == 1 else None
    machine = _machine(environment)
    run = HistoryRun(
        run_id=suite.run_id,
        started_at=suite.started_at,
        commit=commit or told,
        machine=hashlib.sha256(json.dumps(machine).encode()).hexdigest()[:12],
        machine_name=", ".join(str(one) for one in machine if one),
        software=_software(environment),
        figures=[one for case in measured.cases.values() for one in _figures(case)],
    )
    return codec.without_secrets(run)


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


def _figures(case: CaseResult) -> Iterator[HistoryFigure]:
    """Yield what a case measured; nothing where its answer is wrong."""
    judged = {one.metric: one for one in case.comparisons}
    for (metric, kind), side in metrics(case).items():
        value = centre(list(side.values.values()))
        found = judged.get(metric)
        if found is None or found.ratio is None:
            yield HistoryFigure(case=case.case, metric=metric, kind=kind, value=value)
            continue
        yield HistoryFigure(
            case=case.case,
            metric=metric,
            kind=kind,
            value=value,
            baseline=found.baseline,
            ratio=found.ratio,
            low=found.low or None,
            high=found.high or None,
            confidence=found.confidence,
        )


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
    return sorted(one for one in (folder / _RUNS).glob("[!.]*") if one.is_dir())


def series(folder: Path) -> list[Series]:
    """Return the figures of a history, each over its runs.

    Raises:
        UsageError: it is none.
        ContractError: the figures of a run are damaged.
    """
    if not (folder / _RUNS).is_dir():
        text = f"{folder} is no history; make one with `coldwarm history add RESULT --to {folder}`"
        raise UsageError(text)
    with closing(_index(folder)) as index:
        runs = {
            key: (run_id, started_at, commit, machine, json.loads(software))
            for key, run_id, started_at, commit, machine, software in index.execute(
                "SELECT folder, run_id, started_at, commit_of, machine, software FROM run"
            )
        }
        found: dict[tuple[str, ...], list[tuple[HistoryRow, dict[str, str]]]] = {}
        columns = "folder, case_of, metric, kind, value, baseline, ratio, low, high, confidence"
        query = f"SELECT {columns} FROM figure ORDER BY folder"  # noqa: S608 - names of columns
        for key, *values in index.execute(query):
            run_id, started_at, commit, machine, software = runs[key]
            figure = HistoryFigure(**dict(zip(_FIELDS, values, strict=True)))
            row = HistoryRow(
                run_id=run_id, started_at=started_at, commit=commit, machine=machine, figure=figure
            )
            place = machine, figure.case, figure.metric, figure.baseline or ""
            found.setdefault(place, []).append((row, software))
    return [
        Series([row for row, _ in rows], [software for _, software in rows])
        for rows in found.values()
    ]


def machines(folder: Path) -> dict[str, str]:
    """Return the names of a history's machines, by their hashes."""
    with closing(_index(folder)) as index:
        return dict(index.execute("SELECT machine, machine_name FROM run"))


def _index(folder: Path) -> sqlite3.Connection:
    """Return the index, up to date; in memory where none can be kept in the folder.

    Raises:
        ContractError: the figures of a run are damaged.
    """
    path = folder / _INDEX
    for _ in range(2):
        with suppress(sqlite3.Error):
            return _brought_up(sqlite3.connect(path), folder)
        with suppress(OSError):
            path.unlink()  # damaged: it is made anew
    return _brought_up(sqlite3.connect(":memory:"), folder)


def _brought_up(index: sqlite3.Connection, folder: Path) -> sqlite3.Connection:
    """Bring an index up to date with the runs that are there.

    Raises:
        ContractError: the figures of a run are damaged.
        sqlite3.Error: it is damaged, or cannot be written.
    """
    try:
        with index:
            (version,) = index.execute("PRAGMA user_version").fetchone()
            if version != _VERSION:
                for table in ("run", "figure"):
                    index.execute(f"DROP TABLE IF EXISTS {table}")
                index.executescript(_TABLES)
            there = {one.name: one for one in _runs(folder)}
            known = {name for (name,) in index.execute("SELECT folder FROM run")}
            for name in known - there.keys():
                for table in ("run", "figure"):
                    index.execute(f"DELETE FROM {table} WHERE folder = ?", (name,))  # noqa: S608
            for name in sorted(there.keys() - known):
                _insert(index, name, codec.load_as(HistoryRun, there[name] / _FIGURES))
    except (sqlite3.Error, ContractError):
        index.close()
        raise
    return index


def _insert(index: sqlite3.Connection, folder: str, run: HistoryRun) -> None:
    told = (folder, run.run_id, run.started_at, run.commit, run.machine, run.machine_name)
    index.execute("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?)", (*told, json.dumps(run.software)))
    index.executemany(
        "INSERT INTO figure VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(folder, *(getattr(one, name) for name in _FIELDS)) for one in run.figures],
    )
