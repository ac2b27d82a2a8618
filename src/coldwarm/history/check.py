"""Finds changes in a history: where, how large, and what else changed there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import coldwarm
from coldwarm.contracts.base import Difference
from coldwarm.contracts.history import HistoryChange, HistoryCheck, HistoryRows, RunOfChange
from coldwarm.history import store
from coldwarm.report.comparison_text import figure
from coldwarm.stats import change_points
from coldwarm.stats.ratio import LARGEST_EXPONENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from coldwarm.contracts.history import HistoryFigure, HistoryRow
    from coldwarm.history.store import Series
    from coldwarm.stats.change_points import Change

_IN_95 = 1.96
"""Standard errors from the middle to a bound at 95 %."""
_TRUSTED = 0.9
"""Confidence of an interval below which it says nothing of its run's error."""


def check(folder: Path, newest: int, limits: Mapping[Any, float]) -> HistoryCheck:
    """Return the changes in a history.

    Args:
        folder: The history.
        newest: How many runs of a machine, from the newest back, may begin a change that fails.
        limits: Differences that fail, of ``SIDES``: where all of the interval is beyond.

    Raises:
        UsageError: the folder is no history.
        ContractError: the figures of a run are damaged.
    """
    found = store.series(folder)
    recent = _recent(found, newest)
    changes = [one for each in found for one in _changes(each, recent, limits)]
    return HistoryCheck(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        n_runs=len({row.run_id for each in found for row in each.rows}),
        n_series=len(found),
        n_short=sum(len(each.rows) < change_points.FEWEST for each in found),
        changes=sorted(changes, key=lambda one: one.after.started_at, reverse=True),
        n_failing=sum(one.fails_beyond is not None for one in changes),
        machines=store.machines(folder),
    )


def _recent(found: Sequence[Series], newest: int) -> set[str]:
    """Return the newest runs of each machine."""
    runs: dict[str, dict[str, str]] = {}
    for each in found:
        for row in each.rows:
            runs.setdefault(row.machine, {})[row.run_id] = row.started_at
    return {
        run_id
        for dates in runs.values()
        for run_id in sorted(dates, key=dates.__getitem__)[-newest:]
    }


def rows(folder: Path, case: str, metric: str) -> HistoryRows:
    """Return the figures of a history whose case and name, as it is shown, have these texts.

    Raises:
        UsageError: the folder is no history.
        ContractError: the figures of a run are damaged.
    """
    found = [
        row
        for each in store.series(folder)
        for row in each.rows
        if case in row.figure.case and metric in figure(row.figure.metric)
    ]
    named = {row.machine for row in found}
    return HistoryRows(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        rows=found,
        machines={key: name for key, name in store.machines(folder).items() if key in named},
    )


def _changes(
    series: Series, recent: AbstractSet[str], limits: Mapping[str, float]
) -> Iterator[HistoryChange]:
    """Yield the changes of a series: of its ratio to the baseline, where it has one."""
    told = [
        (row, software, value)
        for row, software in zip(series.rows, series.software, strict=True)
        if (value := row.figure.ratio or row.figure.value) > 0
    ]
    rows_ = [row for row, *_ in told]
    figures = [row.figure for row in rows_]
    if not figures:
        return
    logs = [math.log(value) for *_, value in told]
    for one in change_points.changes(logs, [*map(_error, figures)]):
        before, after = rows_[one.at - 1], rows_[one.at]
        # One that ended is new for as many runs of its machine as any other.
        is_new = after.run_id in recent
        yield HistoryChange(
            case=after.figure.case,
            metric=after.figure.metric,
            kind=after.figure.kind,
            baseline=after.figure.baseline,
            machine=after.machine,
            **{name: _ratio(getattr(one, of)) for name, of in _BOUNDS.items()},
            before=_run(before),
            after=_run(after),
            earliest=_run(rows_[one.earliest]),
            latest=_run(rows_[one.latest]),
            n_before=one.n_before,
            n_after=one.n_after,
            n_since=len(rows_) - one.at,
            is_new=is_new,
            software=[*_differences(told[one.at - 1][1], told[one.at][1])],
            fails_beyond=_beyond(one, after.figure, limits) if is_new else None,
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


SIDES: tuple[Literal["slower", "faster", "more", "less"], ...]
SIDES = ("slower", "faster", "more", "less")
"""Changes that may fail: of times, and of memory."""


def _beyond(change: Change, figure: HistoryFigure, limits: Mapping[str, float]) -> float | None:
    """Return the limit that all of a change's interval exceeds; ``None``: there is none.

    What others are held against changes with its machine, and never fails.
    """
    if figure.baseline == figure.case:
        return None
    limit = limits.get(SIDES[2 * (figure.kind == "memory") + (change.size < 0)])
    surely = change.low if change.size > 0 else -change.high
    return limit if limit is not None and surely > math.log1p(limit) else None
