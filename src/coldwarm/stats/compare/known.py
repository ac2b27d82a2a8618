"""How much two equal runs differ on a machine, from the noise reports of it. Pure.

A noise report holds the figure of one program in each quarter of its rounds, as if each had been
a run; several reports add what changes from one hour to another. Two equal runs stay within the
prediction interval of a normal value: Student's t, times the scatter of these, times the root of 2.
"""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from coldwarm.contracts.comparison import KnownNoise
from coldwarm.stats.intervals import FEWEST_FOR_INTERVAL, student
from coldwarm.stats.ratio import CONFIDENCE, LARGEST_EXPONENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.environment import Environment


def known_noise(reports: Iterable[NoiseReport], place: Environment | None) -> KnownNoise:
    """Return what reports of this machine say; those of another, or cut short, say nothing."""
    used = [one for one in reports if one.complete and place is not None and _is_of(one, place)]
    grouped: dict[tuple[str, str], list[float]] = {}
    for report in used:
        for figure in report.figures:
            key = (report.target, figure.comparison.metric)
            grouped.setdefault(key, []).extend(part for part in figure.parts if part > 0)
    shares: dict[MetricKind, float] = {}
    for (_, metric), parts in grouped.items():
        if len(parts) > FEWEST_FOR_INTERVAL:
            kind: MetricKind = "warm" if metric.startswith("warm.") else "cold"
            shares[kind] = max(shares.get(kind, 0.0), _within(parts))
    return KnownNoise(n_reports=len(used), shares=shares)


def _is_of(report: NoiseReport, place: Environment) -> bool:
    return (report.cpu, report.cores) == (place.cpu.model, place.cpu.usable_cores)


def _within(parts: list[float]) -> float:
    """Return the relative difference that two equal runs exceed in 3 of 100 cases."""
    scatter = statistics.stdev(map(math.log, parts))
    at_most = student(0.5 + CONFIDENCE / 2, len(parts) - 1) * scatter * math.sqrt(2)
    return math.expm1(min(at_most, LARGEST_EXPONENT))
