"""Results of asv (airspeed velocity): a folder that ``asv publish`` and ``asv compare`` read.

A file of it is read too: the benchmarks of one commit, each set of parameters by itself.

Asv keeps results by commit and machine. A benchmark's samples are the medians of its processes,
which are independent of each other as asv's own test takes them to be. Two commits of one bench are
one benchmark there, named after the function.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from datetime import datetime
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from coldwarm.contracts.base import CACHE_MODES, WARM
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.integrations import figures
from coldwarm.integrations.formats import DocumentPart, Reader, Writer, plain
from coldwarm.stats.intervals import by_range, median_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.reasons import Reason
    from coldwarm.integrations.figures import Commit, Exported, Figure
    from coldwarm.integrations.formats import Opened

_LIST = "benchmarks.json"
_CONFIDENCE = 0.99
"""Confidence of the interval that asv keeps beside a result."""
_COLUMNS = [
    "result",
    "params",
    "version",
    "started_at",
    "duration",
    "stats_ci_99_a",
    "stats_ci_99_b",
    "stats_q_25",
    "stats_q_75",
    "stats_number",
    "stats_repeat",
    "samples",
]
_RESULTS_VERSION, _LIST_VERSION, _MACHINE_VERSION = 2, 2, 1
_KINDS = {"s": ("time", "seconds"), "bytes": ("peakmemory", "bytes")}


def _why_not(figure: Figure) -> str | None:
    """Leave out what is the same function of the same commit once more."""
    repeated = figure.case.control_of is not None
    return "it is another candidate once more, as a control" if repeated else None


def _files(made: Exported) -> dict[str, bytes]:
    """Return the files below the folder of results.

    ``commits`` of what is exported must have every case.
    """
    machine, names = _machine_name(made), _names(made)
    listed = {names[one.name]: _listed(one, names[one.name]) for one in made.figures}
    about = {**_machine(made, machine), "version": _MACHINE_VERSION}
    written = {
        f"{machine}/machine.json": figures.json_bytes(about),
        _LIST: figures.json_bytes({**listed, "version": _LIST_VERSION}),
    }
    for commit in dict.fromkeys(made.commits[one.case.case] for one in made.figures):
        seen = [one for one in made.figures if made.commits[one.case.case] == commit]
        rows = {names[one.name]: _row(one, listed[names[one.name]]["version"]) for one in seen}
        document = {**_surroundings(made, machine, commit, seen), "results": rows}
        place = f"{machine}/{commit.sha[:8]}-{document['env_name']}.json"
        written[place] = figures.json_bytes(document)
    return written


def _joined(name: str, old: bytes, new: bytes) -> bytes:
    """Return a file with what it held before, where asv keeps many results in it.

    Raises:
        ValueError: what it held is no JSON object.
    """
    held, now = json.loads(old), json.loads(new)
    if not isinstance(held, dict):
        text = "no JSON object"
        raise ValueError(text)  # noqa: TRY004 - as json raises it for what is no JSON
    if name == _LIST:
        return figures.json_bytes({**held, **now})
    before = held.get("results")
    if not isinstance(before, dict) or "results" not in now:
        return new  # of the machine
    return figures.json_bytes({**now, "results": {**before, **now["results"]}})


def _names(made: Exported) -> dict[str, str]:
    """Return the names of benchmarks by those of figures: of several commits, the function's.

    Where two candidates are one function of one commit, they keep the names of their cases.
    """
    wanted = {one.name: (made.commits[one.case.case], _of_function(one)) for one in made.figures}
    times = Counter(wanted.values())
    return {
        name: function if times[commit, function] == 1 else name.replace("/", ".")
        for name, (commit, function) in wanted.items()
    }


def _of_function(figure: Figure) -> str:
    own = figure.case.protocol.own
    name = figure.case.case
    if own is not None and own.revision is not None and own.target is not None:
        file, _, function = own.target.rpartition(":")
        name = f"{PurePath(file).stem}.{function}" if file else function
    return f"{name}.{figure.mode}.{figure.what}"


def _version(figure: Figure, name: str) -> str:
    """Return a hash of what is measured; results of another are not shown together by asv.

    A function of the user's own is what changes from commit to commit, so its source is not in it.
    """
    protocol = figure.case.protocol
    own = protocol.own
    what = [protocol.workload_sha256] if own is None else [own.kind, *own.arguments]
    return hashlib.sha256(json.dumps([name, *what]).encode()).hexdigest()


def _listed(figure: Figure, name: str) -> dict[str, Any]:
    kind, unit = _KINDS[figure.unit]
    return {
        "name": name,
        "type": kind,
        "unit": unit,
        "version": _version(figure, name),
        "code": "",
        "param_names": [],
        "params": [],
        "timeout": figure.case.protocol.effort.timeout_s,
    }


def _surroundings(
    made: Exported, machine: str, commit: Commit, seen: Sequence[Figure]
) -> dict[str, Any]:
    """Return a document of results without these."""
    versions: dict[str, str] = {}
    for figure in seen:
        versions |= figures.versions(figure)
    python = ".".join(versions.pop("python", "unknown").split(".")[:2])
    return {
        "commit_hash": commit.sha,
        "env_name": "-".join(["coldwarm", f"py{python}", *_frameworks(versions)]),
        "date": commit.committed_ms,
        "params": {**_machine(made, machine), "python": python, **versions},
        "python": python,
        "requirements": versions,
        "env_vars": {},
        "result_columns": _COLUMNS,
        "durations": {},
        "version": _RESULTS_VERSION,
    }


def _frameworks(versions: Mapping[str, str]) -> list[str]:
    """Return frameworks with their versions: results of others are another environment's."""
    known = (name for name in ("jax", "numba", "torch") if name in versions)
    return [f"{name}{versions[name].replace('+', '_')}" for name in known]


def _row(figure: Figure, version: str) -> list[Any]:
    """Return a benchmark's values in the order of the columns."""
    seen = [one.observation for one in figure.processes]
    medians = figure.medians
    low, high = _interval(medians)
    lower, upper = (float(np.quantile(medians, q)) for q in (0.25, 0.75))
    started = min(datetime.fromisoformat(one.started_at).timestamp() for one in seen)
    return [
        [figure.summary.median],
        [],
        version,
        round(1000 * started),
        math.fsum(one.wall_s for one in seen),
        [low],
        [high],
        [lower],
        [upper],
        [figure.processes[0].batch],
        [len(medians)],
        [medians],
    ]


def _interval(medians: list[float]) -> tuple[float, float]:
    """Return the bounds of the median; infinite, as asv writes it, where they are too few."""
    found = median_interval(medians, confidence=_CONFIDENCE)
    if found.low is None or found.high is None or by_range(len(medians), _CONFIDENCE):
        return -math.inf, math.inf
    return found.low, found.high


def _machine(made: Exported, name: str) -> dict[str, str]:
    facts = figures.machine(made.measured.environment)
    return {
        "machine": name,
        "os": facts.get("os", ""),
        "arch": facts.get("architecture", ""),
        "cpu": facts.get("cpu", ""),
        "num_cpu": facts.get("cores", ""),
        "ram": facts.get("ram", ""),
    }


def _machine_name(made: Exported) -> str:
    """Return a name for the kind of machine, for its own may be private."""
    facts = figures.machine(made.measured.environment)
    parts = [facts[key] for key in ("cpu", "cores") if key in facts] or ["unknown"]
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts)).strip("-").lower() or "unknown"


_TOOL = "asv"
_BY_PREFIX: dict[str, MetricKind] = {
    "time_": "warm",
    "timeraw_": "cold",  # each in a process of its own
    "mem_": "memory",
    "peakmem_": "memory",
}
"""By how the name of a benchmark begins, as asv tells its kinds apart; ``track_`` has any unit."""


class _Result(DocumentPart, frozen=True, kw_only=True):
    commit_hash: str
    date: int | None = None
    """Milliseconds: of the commit."""
    env_name: str = ""
    params: dict[str, Any] = {}
    result_columns: list[str]
    results: dict[str, list[Any] | None]


def _is_mine(document: dict[str, Any]) -> bool:
    """Say whether a document looks like a result of asv."""
    return {"commit_hash", "results", "result_columns"} <= document.keys()


def _benchmarks(opened: Opened) -> Benchmarks:
    """Return the benchmarks of one commit, each set of parameters by itself.

    Raises:
        ContractError: the document is broken.
    """
    found = opened.typed(_Result)
    columns = found.result_columns
    rows = {
        name: dict(zip(columns, row or [], strict=False)) for name, row in found.results.items()
    }
    kept, left_out, failed = opened.by_name(
        one for name, row in rows.items() for one in _of_benchmark(opened, name, row)
    )
    cpu = found.params.get("cpu")
    return Benchmarks(
        path=opened.path,
        tool=_TOOL,
        benchmarks=kept,
        left_out=left_out,
        failed=failed,
        is_export=found.env_name.startswith("coldwarm-"),
        cpu=plain(cpu) if isinstance(cpu, str) and cpu.strip() else None,
        started_at=opened.date(found.date),
        commit=plain(found.commit_hash) or None,
    )


def _of_benchmark(
    opened: Opened, name: str, row: Mapping[str, Any]
) -> Iterator[tuple[str, BenchmarkSamples | Reason]]:
    """Yield a benchmark for each set of its parameters.

    Raises:
        ContractError: what it holds are no numbers.
    """
    kind = _kind(name)
    results, samples = (row.get(key) or [] for key in ("result", "samples"))
    sets = [", ".join(map(str, one)) for one in product(*(row.get("params") or []))]
    for at, value in enumerate(results):
        told = f"{name}({sets[at]})" if at < len(sets) and sets[at] else name
        seen = samples[at] if at < len(samples) and samples[at] else [value]
        if value is None:
            yield told, because("no_samples_elsewhere", tool=_TOOL)
        elif kind is None:
            yield told, because("unit_elsewhere", unit=_TRACKED)
        else:
            yield told, _samples(opened, told, kind, seen)


def _kind(name: str) -> MetricKind | None:
    """Return what a benchmark measures, by its name; of an export of coldwarm by its last parts."""
    *_, mode, last = ["", *name.split(".")]
    if mode in CACHE_MODES:
        of_time: MetricKind = "warm" if mode == WARM else "cold"
        return "memory" if last == "peak_memory" else of_time
    return next((kind for begin, kind in _BY_PREFIX.items() if last.startswith(begin)), None)


_TRACKED = "that of a tracked number"


def _samples(opened: Opened, name: str, kind: MetricKind, seen: Sequence[Any]) -> BenchmarkSamples:
    numbers = [one for one in seen if isinstance(one, int | float) and 0 < one < _MOST]
    if len(numbers) < len(seen):
        raise opened.fault(f"{plain(name)}: holds what is no number above 0")
    return BenchmarkSamples(kind, tuple((float(one),) for one in numbers))


_MOST = 2.0**63

WRITER = Writer(files=_files, why_not=_why_not, is_one_file=False, joined=_joined)
READER = Reader(tool=_TOOL, is_mine=_is_mine, benchmarks=_benchmarks, writes_nan=True)
