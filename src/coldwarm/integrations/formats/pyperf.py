"""The JSON of pyperf: samples by process, with what warmed up before them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from coldwarm.integrations import telling

if TYPE_CHECKING:
    from coldwarm.integrations.figures import Exported, Figure, Process

WHOLE = True
_VERSION = "1.0"
_UNITS = {"s": "second", "bytes": "byte"}


def why_not(figure: Figure) -> str | None:
    """Leave out figures with a value that is not above 0: pyperf reads no file with one."""
    lowest = min(value for one in figure.processes for value in one.values)
    return None if lowest > 0 else "pyperf takes values above 0 alone"


def files(made: Exported) -> dict[str, bytes]:
    """Return one file."""
    return {"": telling.json_bytes(document(made))}


def document(made: Exported) -> dict[str, Any]:
    """Return what the file holds."""
    return {
        "version": _VERSION,
        "metadata": _common(made),
        "benchmarks": [_benchmark(figure) for figure in made.figures],
    }


def _common(made: Exported) -> dict[str, Any]:
    """Return what holds for all processes, by the names that pyperf has for it."""
    suite, place = made.measured.suite, made.measured.environment
    found: dict[str, Any] = {"coldwarm_version": telling.coldwarm_version(made.measured)}
    if suite is not None:
        found["coldwarm_run_id"] = telling.told(suite.run_id)
    if place is not None:
        found["python_implementation"] = telling.told(place.python.implementation).lower()
        found["cpu_count"] = place.cpu.logical_cores
        found["cpu_model_name"] = telling.told(place.cpu.model or "")
        found["platform"] = telling.told(place.platform)
    return {name: value for name, value in found.items() if value}


def _benchmark(figure: Figure) -> dict[str, Any]:
    identity = telling.identity(figure)
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
        if text := telling.told(version):
            found[f"{telling.told(name)}_version"] = text
    return found
