"""The JSON of Google Benchmark: a repetition for each process, and the median as their aggregate.

A repetition's time is the median of the process, so the aggregate is what the run says. Processor
time is known of warm calls alone; elsewhere it is NaN, which Google Benchmark itself writes for
what is no number, since its compare script reads no repetition without it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from coldwarm.integrations import figures
from coldwarm.integrations.formats import Writer

if TYPE_CHECKING:
    from coldwarm.contracts.environment import Environment
    from coldwarm.integrations.figures import Exported, Figure

_NS = 1e9
_SCHEMA = 1
"""``json_schema_version`` of Google Benchmark since 1.8.1."""


def _why_not(figure: Figure) -> str | None:
    """Leave out memory: here every figure is a time."""
    return None if figure.unit == "s" else "Google Benchmark's JSON has times alone"


def _files(made: Exported) -> dict[str, bytes]:
    """Return one file."""
    rows = [row for place, one in enumerate(made.figures) for row in _rows(place, one)]
    return {"": figures.json_bytes({"context": _context(made), "benchmarks": rows})}


def _context(made: Exported) -> dict[str, Any]:
    """Return where it was measured; no name of the host."""
    suite, place = made.measured.suite, made.measured.environment
    facts = {} if place is None else _processor(place)
    told = {"date": suite.started_at} if suite is not None else {}
    return {
        **told,
        "executable": "coldwarm",
        **facts,
        "load_avg": [],
        "library_version": f"coldwarm {figures.coldwarm_version(made.measured)}",
        "library_build_type": "release",
        "json_schema_version": _SCHEMA,
        **{f"coldwarm_{name}": text for name, text in figures.machine(place).items()},
    }


def _processor(place: Environment) -> dict[str, Any]:
    policy = place.cpu.frequency
    found: dict[str, Any] = {
        "num_cpus": place.cpu.usable_cores,
        "mhz_per_cpu": None if policy.max_hz is None else round(policy.max_hz / 1e6),
        "cpu_scaling_enabled": None
        if policy.governor is None
        else policy.governor != "performance",
        "caches": [
            {"type": one.kind.capitalize(), "level": one.level, "size": one.size_bytes}
            for one in place.cpu.caches or []
        ],
    }
    return {name: value for name, value in found.items() if value is not None}


def _rows(place: int, figure: Figure) -> list[dict[str, Any]]:
    shared = {
        "family_index": place,
        "per_family_instance_index": 0,
        "run_name": figure.name,
        "repetitions": len(figure.processes),
        "threads": 1,
        "time_unit": "ns",
    }
    if not figure.steady:
        shared["label"] = "calls were not steady"
    cpu_s = [one.cpu_s for one in figure.processes]
    rows = [
        {
            "name": figure.name,
            "run_type": "iteration",
            "repetition_index": index,
            "iterations": one.batch * len(one.values),
            "real_time": median_s * _NS,
            "cpu_time": _nanoseconds(one.cpu_s),
            **shared,
        }
        for index, (one, median_s) in enumerate(zip(figure.processes, figure.medians, strict=True))
    ]
    known = [value for value in cpu_s if value is not None]
    aggregate = {
        "name": f"{figure.name}_median",
        "run_type": "aggregate",
        "aggregate_name": "median",
        "aggregate_unit": "time",
        "iterations": len(figure.processes),
        "real_time": figure.summary.median * _NS,
        "cpu_time": _nanoseconds(float(np.median(known)) if len(known) == len(cpu_s) else None),
        **shared,
    }
    return [*rows, aggregate]


def _nanoseconds(seconds: float | None) -> float:
    return math.nan if seconds is None else seconds * _NS


WRITER = Writer(files=_files, why_not=_why_not)
