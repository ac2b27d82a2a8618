"""What is compared: a run of coldwarm seen as benchmarks, or a file of another tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.contracts.codec import read_bytes
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Benchmarks, BenchmarkSamples
from coldwarm.integrations import formats
from coldwarm.integrations.figures import Figure, exported
from coldwarm.runner import recompute
from coldwarm.stats.comparable import failure

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.result import Measured


_HEAD = 1024
"""Bytes in which an artifact of coldwarm has its ``schema_version``."""


def read(path: Path) -> Measured | Benchmarks:
    """Read a result of coldwarm, or a file of another tool.

    Raises:
        UsageError: there is nothing.
        ContractError: it is broken, or of a kind that is not read.
    """
    if path.is_dir() or not path.exists():
        return recompute.read(path)
    data = read_bytes(path)
    if b'"schema_version"' in data[:_HEAD]:
        return recompute.read(path)
    return formats.read(path, data)


def of_run(measured: Measured) -> Benchmarks:
    """Return a run of coldwarm as benchmarks, named as they are exported."""
    made = exported(measured)
    suite, place = measured.suite, measured.environment
    failed = {name: why for name, case in measured.cases.items() if (why := failure(case))}
    empty = [name for name, _ in made.left_out if name not in failed]
    return Benchmarks(
        path=measured.path,
        tool=None,
        benchmarks={one.name: _benchmark(one) for one in made.figures},
        short_names={one.case.case: one.name for one in made.figures if one.mode == WARM},
        left_out=dict.fromkeys(empty, because("no_valid_process")),
        failed=failed,
        complete=suite is None or suite.complete,
        cpu=place.cpu.model if place else None,
        run_id=suite.run_id if suite else None,
        started_at=suite.started_at if suite else None,
        environment_sha256=measured.environment_sha256,
    )


def _benchmark(figure: Figure) -> BenchmarkSamples:
    warm = figure.case.warm if figure.mode == WARM else None
    values = tuple(process.values for process in figure.processes)
    return BenchmarkSamples(_kind(figure), values, () if warm is None else (warm.steady,))


def _kind(figure: Figure) -> MetricKind:
    if figure.unit == "bytes":
        return "memory"
    return "warm" if figure.mode == WARM else "cold"
