"""A history's figures over its machines: the ratio to the baseline on all of them together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

import coldwarm
from coldwarm.contracts.history import HistoryPool, PooledFigure, PooledMachine
from coldwarm.history import store
from coldwarm.report.comparison_text import figure
from coldwarm.stats import pooled

if TYPE_CHECKING:
    from pathlib import Path

    from coldwarm.history.store import History, Series

_NEWEST = 5
"""Runs of a machine that its ratio is from."""


def pool(folder: Path, case: str, metric: str) -> HistoryPool:
    """Return the ratios of a history over its machines, of cases and figures with these texts.

    Raises:
        UsageError: the folder is no history.
        ContractError: the figures of a run are damaged.
    """
    found = store.history(folder, case)
    groups: dict[tuple[str, ...], list[Series]] = {}
    for one in found.series:
        if one.baseline not in {None, one.case} and metric in figure(one.metric):
            key = one.case, one.metric, str(one.baseline), one.setup
            groups.setdefault(key, []).append(one)
    figures = [_figure(found, group) for group in groups.values()]
    known = [one for one in figures if one is not None]
    return HistoryPool(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        figures=sorted(known, key=lambda one: (one.case, one.metric)),
        n_few=len(figures) - len(known),
    )


def _figure(found: History, group: list[Series]) -> PooledFigure | None:
    """Return a figure over its machines; ``None``: they are too few."""
    machines = [one for series in group if (one := _machine(found, series)) is not None]
    if len(machines) < pooled.FEWEST:
        return None
    logs = [math.log(one.ratio) for one in machines]
    made = pooled.pool(logs, [one.error for one in machines])
    first = group[0]
    apart = [
        one.machine_name
        for one, log in zip(machines, logs, strict=True)
        if (log > 0) != (made.middle > 0) and abs(log) > 2 * one.error
    ]
    return PooledFigure(
        case=first.case,
        metric=first.metric,
        baseline=str(first.baseline),
        ratio=math.exp(made.middle),
        low=math.exp(made.low),
        high=math.exp(made.high),
        predicted_low=math.exp(made.predicted_low),
        predicted_high=math.exp(made.predicted_high),
        between=made.between,
        between_share=made.share,
        machines=machines,
        otherwise=apart,
    )


def _machine(found: History, series: Series) -> PooledMachine | None:
    """Return the ratio of a machine's newest runs; ``None``: there is none with an error."""
    newest = series.figures[-_NEWEST:]
    _, ratio, low, high, confidence = newest.T
    kept = ratio > 0
    if not kept.any():
        return None
    logs = np.log(ratio[kept])
    own = store.errors_of(low[kept], high[kept], confidence[kept])
    n = len(logs)
    scatter = float(np.std(logs, ddof=1)) if n > 1 else 0.0
    error = max(scatter, float(np.median(own))) / math.sqrt(n)
    if error == 0.0:
        return None
    run = found.runs[int(series.runs[-1])]
    return PooledMachine(
        machine=series.machine,
        machine_name=run.machine_name,
        n_runs=n,
        ratio=math.exp(float(np.mean(logs))),
        error=error,
    )
