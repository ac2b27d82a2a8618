"""Finds changes in a history: where, how large, and what else changed there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import coldwarm
from coldwarm.contracts.base import Difference
from coldwarm.contracts.history import HistoryChange, HistoryCheck, HistoryRows, RunOfChange
from coldwarm.history import store
from coldwarm.stats import change_points
from coldwarm.stats.ratio import LARGEST_EXPONENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from coldwarm.contracts.history import HistoryFigure, HistoryRow
    from coldwarm.history.store import Series
    from coldwarm.stats.change_points import Change

_IN_95 = 1.96
"""Standard errors from the middle to a bound at 95 %."""
_TRUSTED = 0.9
"""Confidence of an interval below which it says nothing of its run's error."""


def check(folder: Path, newest: int, limits: Mapping[str, float]) -> HistoryCheck:
    """Return the changes in a history.

    Args:
        folder: The history.
        newest: How many runs from the newest back may begin a change that fails.
        limits: Differences that fail, of ``slower`` and ``faster``: where all of the interval is
            beyond.

    Raises:
        UsageError: the folder is no history.
        ContractError: the figures of a run are damaged.
    """
    found = store.series(folder)
    changes = [one for each in found for one in _changes(each, newest, limits)]
    return HistoryCheck(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        n_runs=len({row.run_id for each in found for row in each.rows}),
        n_series=len(found),
        n_short=sum(len(each.rows) < change_points.FEWEST for each in found),
        changes=sorted(changes, key=lambda one: one.after.started_at, reverse=True),
        n_failing=sum(one.fails_beyond is not None for one in changes),
    )


def rows(folder: Path, case: str, metric: str) -> HistoryRows:
    """Return the figures of a history whose case and metric have these texts in their names.

    Raises:
        UsageError: the folder is no history.
        ContractError: the figures of a run are damaged.
    """
    found = [
        row
        for each in store.series(folder)
        for row in each.rows
        if case in row.figure.case and metric in row.figure.metric
    ]
    return HistoryRows(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        rows=found,
        machines=store.machines(folder),
    )


def _changes(series: Series, newest: int, limits: Mapping[str, float]) -> Iterator[HistoryChange]:
    """Yield the changes of a series: of its ratio to the baseline, where it has one."""
    figures = [row.figure for row in series.rows]
    values = [one.ratio or one.value for one in figures]
    if not all(value > 0 for value in values):
        return
    logs = [math.log(value) for value in values]
    for one in change_points.changes(logs, [*map(_error, figures)]):
        before, after = series.rows[one.at - 1], series.rows[one.at]
        n_since = len(series.rows) - one.at
        yield HistoryChange(
            case=after.figure.case,
            metric=after.figure.metric,
            kind=after.figure.kind,
            baseline=after.figure.baseline,
            machine=after.machine,
            **{name: _ratio(getattr(one, of)) for name, of in _BOUNDS.items()},
            before=_run(before),
            after=_run(after),
            earliest=_run(series.rows[one.earliest]),
            latest=_run(series.rows[one.latest]),
            n_before=one.n_before,
            n_after=one.n_after,
            n_since=n_since,
            software=[*_differences(series.software[one.at - 1], series.software[one.at])],
            fails_beyond=_beyond(one, limits) if n_since <= newest else None,
        )


_BOUNDS = {"ratio": "size", "low": "low", "high": "high"}


def _error(figure: HistoryFigure) -> float:
    """Return the standard error of a ratio's logarithm; 0: its run does not tell."""
    low, high, confidence = figure.low, figure.high, figure.confidence
    if low is None or high is None or confidence is None or confidence < _TRUSTED:
        return 0.0
    return (math.log(high) - math.log(low)) / (2 * _IN_95)


def _ratio(logarithm: float) -> float:
    return math.exp(max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, logarithm)))


def _run(row: HistoryRow) -> RunOfChange:
    return RunOfChange(run_id=row.run_id, started_at=row.started_at, commit=row.commit)


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for name in sorted({*before, *after}):
        sides = [side.get(name, "absent") for side in (before, after)]
        if sides[0] != sides[1]:
            yield Difference(name=name, a=sides[0], b=sides[1])


def _beyond(change: Change, limits: Mapping[str, float]) -> float | None:
    """Return the limit that all of a change's interval exceeds; ``None``: there is none."""
    side = "slower" if change.size > 0 else "faster"
    limit = limits.get(side)
    surely = change.low if change.size > 0 else -change.high
    return limit if limit is not None and surely > math.log1p(limit) else None
