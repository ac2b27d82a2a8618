"""The JSON of pyperf, version 1.0: samples by process, of calls or of whole commands."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from coldwarm.contracts.base import MOST_S, WARM
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.integrations import figures
from coldwarm.integrations.formats import Amount, DocumentPart, Reader, Writer, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.reasons import Reason
    from coldwarm.integrations.figures import Exported, Figure, Process
    from coldwarm.integrations.formats import Opened


_VERSION = "1.0"
_UNITS = {"s": "second", "bytes": "byte"}


def _why_not(figure: Figure) -> str | None:
    """Leave out figures with a value that is not above 0: pyperf reads no file with one."""
    lowest = min(value for one in figure.processes for value in one.values)
    return None if lowest > 0 else "pyperf takes values above 0 alone"


def _files(made: Exported) -> dict[str, bytes]:
    """Return one file."""
    held = {
        "version": _VERSION,
        "metadata": _common(made),
        "benchmarks": [_benchmark(figure) for figure in made.figures],
    }
    return {"": figures.json_bytes(held)}


def _common(made: Exported) -> dict[str, Any]:
    """Return what holds for all processes, by the names that pyperf has for it."""
    suite, place = made.measured.suite, made.measured.environment
    found: dict[str, Any] = {"coldwarm_version": figures.coldwarm_version(made.measured)}
    if suite is not None:
        found["coldwarm_run_id"] = figures.told(suite.run_id)
    if place is not None:
        found["python_implementation"] = figures.told(place.python.implementation).lower()
        found["cpu_count"] = place.cpu.logical_cores
        found["cpu_model_name"] = figures.told(place.cpu.model or "")
        found["platform"] = figures.told(place.platform)
    return {name: value for name, value in found.items() if value}


def _benchmark(figure: Figure) -> dict[str, Any]:
    identity = figures.identity(figure)
    metadata = {
        "name": figure.name,
        "unit": _UNITS[figure.unit],
        **{f"coldwarm_{name}": value for name, value in identity.items()},
    }
    if not figure.steady:
        metadata["coldwarm_note"] = "calls were not steady"
    return {"metadata": metadata, "runs": [_run(figure, one) for one in figure.processes]}


def _run(figure: Figure, one: Process) -> dict[str, Any]:
    whole = figure.unit == "bytes"
    run: dict[str, Any] = {
        "values": [int(value) if whole else value for value in one.values],
        "metadata": _of_process(one),
    }
    if one.warmups:
        run["warmups"] = [[one.batch, value] for value in one.warmups]
    return run


def _of_process(one: Process) -> dict[str, Any]:
    seen = one.observation
    found: dict[str, Any] = {
        "loops": one.batch,
        "date": str(datetime.fromisoformat(seen.started_at).replace(tzinfo=None)),
        "duration": seen.wall_s,
    }
    if seen.telemetry is not None and seen.telemetry.load_1m_before is not None:
        found["load_avg_1min"] = seen.telemetry.load_1m_before
    for name, version in seen.versions.items():
        if text := figures.told(version):
            found[f"{figures.told(name)}_version"] = text
    return found


_TOOL = "pyperf"
_MODE = "coldwarm_cache_mode"
"""The metadata by which an export of coldwarm says the cache mode."""
_EXPORT = "coldwarm_version"
"""The metadata of a suite that coldwarm has measured."""


class _Run(DocumentPart, frozen=True, kw_only=True):
    values: list[Amount] = []
    """None where it served to find the number of loops."""
    metadata: dict[str, Any] = {}


class _Benchmark(DocumentPart, frozen=True, kw_only=True):
    runs: list[_Run]
    metadata: dict[str, Any] = {}


class _Suite(DocumentPart, frozen=True, kw_only=True):
    version: Literal["1.0"]
    benchmarks: list[_Benchmark]
    metadata: dict[str, Any] | None = None


def _is_mine(document: dict[str, Any]) -> bool:
    """Say whether a document looks like pyperf's."""
    others = {"machine_info", "context"}
    return {"version", "benchmarks"} <= document.keys() and not others & document.keys()


def _benchmarks(opened: Opened) -> Benchmarks:
    """Return the benchmarks; each run with values is a process.

    Raises:
        ContractError: the document is broken.
    """
    suite = opened.typed(_Suite)
    shared = suite.metadata or {}
    told = [_told(shared, one) for one in suite.benchmarks]
    pairs = zip(told, suite.benchmarks, strict=True)
    kept, left_out, _ = opened.by_name(((_name(of), _read(opened, of, one)) for of, one in pairs))
    texts = {key: {_text(one.get(key)) for one in told} for key in ("cpu_model_name", "date")}
    cpus, dates = texts["cpu_model_name"], texts["date"] - {None}
    return Benchmarks(
        path=opened.path,
        tool=_TOOL,
        benchmarks=kept,
        left_out=left_out,
        is_export=_EXPORT in shared,
        cpu=next(iter(cpus)) if len(cpus) == 1 else None,
        started_at=min(filter(None, dates), default=None),
    )


def _told(shared: Mapping[str, Any], one: _Benchmark) -> dict[str, Any]:
    """Return what is told of a benchmark, in the suite, in itself or in its first run."""
    of_run = one.runs[0].metadata if one.runs else {}
    return {**shared, **of_run, **one.metadata}


def _text(value: object) -> str | None:
    return plain(value) if isinstance(value, str) and value.strip() else None


def _name(told: Mapping[str, Any]) -> str:
    name = told.get("name")
    return name if isinstance(name, str) else ""


def _read(opened: Opened, told: Mapping[str, Any], one: _Benchmark) -> BenchmarkSamples | Reason:
    unit = told.get("unit", "second")
    if unit not in _UNITS.values():
        return because("unit_elsewhere", unit=plain(str(unit)))
    processes = tuple(tuple(run.values) for run in one.runs if run.values)
    if not processes:
        return because("no_samples_elsewhere", tool=_TOOL)
    if unit == "second" and max(map(max, processes)) > MOST_S:
        raise opened.fault(f"{_text(_name(told))}: holds a time of more than {MOST_S:g} s")
    kind = _kind(unit, told)
    return BenchmarkSamples(kind, processes, to_its_end=kind == "cold" and "command" in told)


def _kind(unit: str, told: Mapping[str, Any]) -> MetricKind:
    if unit == "byte":
        return "memory"
    # `pyperf command` times whole processes.
    return "cold" if "command" in told or told.get(_MODE, WARM) != WARM else "warm"


WRITER = Writer(files=_files, why_not=_why_not)
READER = Reader(tool=_TOOL, is_mine=_is_mine, benchmarks=_benchmarks)
