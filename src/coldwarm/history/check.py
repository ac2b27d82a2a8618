"""Finds changes in a history: where, how large, and what else changed there."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import coldwarm
from coldwarm.contracts.base import Difference
from coldwarm.contracts.history import (
    HistoryChange,
    HistoryCheck,
    HistoryRow,
    HistoryRows,
    RunOfChange,
)
from coldwarm.history import store
from coldwarm.report.comparison_text import figure
from coldwarm.stats import change_points
from coldwarm.stats.ratio import LARGEST_EXPONENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from numpy.typing import NDArray

    from coldwarm.contracts.history import HistoryFigure
    from coldwarm.history.store import History, Series, StoredRun
    from coldwarm.stats.change_points import Change

    Floats = NDArray[np.float64]


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
    return check_read(store.history(folder), folder, newest, limits)


def check_read(
    found: History, folder: Path, newest: int, limits: Mapping[Any, float]
) -> HistoryCheck:
    """Return the changes in a history that was read, as ``check`` does."""
    recent = _recent(found, newest)
    changes = [one for each in found.series for one in _changes(found, each, recent, limits)]
    return HistoryCheck(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        n_runs=len(_used(found.series)),
        n_series=len(found.series),
        n_short=sum(len(each.runs) < change_points.FEWEST for each in found.series),
        changes=sorted(changes, key=lambda one: one.after.started_at, reverse=True),
        n_failing=sum(one.fails_beyond is not None for one in changes),
        machines=found.machines(),
    )


def _used(found: Sequence[Series]) -> list[int]:
    """Return the places of the runs that have figures, by date."""
    places = [each.runs for each in found]
    return [int(one) for one in np.unique(np.concatenate(places))] if places else []


def _recent(found: History, newest: int) -> set[int]:
    """Return the places of the newest runs of each machine."""
    runs: dict[str, list[int]] = {}
    for place in _used(found.series):
        runs.setdefault(found.runs[place].machine, []).append(place)
    return {place for places in runs.values() for place in places[-newest:]}


def rows(folder: Path, asked: Asked) -> HistoryRows:
    """Return the figures of a history that are asked for.

    Raises:
        UsageError: the folder is no history.
        ContractError: the figures of a run are damaged.
    """
    found = store.history(folder, asked.case)
    series = [one for one in found.series if asked.metric in figure(one.metric)]
    commits = {
        place for place, run in enumerate(found.runs) if (run.commit or "").startswith(asked.commit)
    }
    used = [place for place in _used(series) if place in commits]
    kept = used[-asked.newest :] if asked.newest else used
    told = [
        _row(found.runs[place], each.figure(at))
        for each in series
        for at, place in _among(each, kept)
    ]
    n_all = sum(len(_among(each, used)) for each in series) if kept != used else len(told)
    named = {row.machine for row in told}
    return HistoryRows(
        harness_version=coldwarm.__version__,
        folder=str(folder),
        rows=told,
        n_older=n_all - len(told),
        machines={key: name for key, name in found.machines().items() if key in named},
    )


@dataclass(frozen=True)
class Asked:
    """What is asked for: texts in the case and in the shown name, the first letters of a commit."""

    case: str = ""
    metric: str = ""
    commit: str = ""
    newest: int | None = None
    """Runs from the newest back; ``None``: all."""


def _among(series: Series, places: Sequence[int]) -> list[tuple[int, int]]:
    """Return where a series has runs of these places: the place in it, and that of the run."""
    at = np.flatnonzero(np.isin(series.runs, places))
    return [(int(one), int(series.runs[one])) for one in at]


def _row(run: StoredRun, told: HistoryFigure) -> HistoryRow:
    return HistoryRow(
        run_id=run.run_id,
        started_at=run.started_at,
        commit=run.commit,
        machine=run.machine,
        figure=told,
    )


def _changes(
    found: History, series: Series, recent: AbstractSet[int], limits: Mapping[str, float]
) -> Iterator[HistoryChange]:
    """Yield the changes of a series: of its ratio to the baseline, where it has one."""
    value, ratio, low, high, confidence = series.figures.T
    held = np.where(np.isnan(ratio), value, ratio)
    kept = held > 0
    errors = store.errors_of(low[kept], high[kept], confidence[kept])
    runs = [int(one) for one in series.runs[kept]]
    for one in change_points.changes(np.log(held[kept]).tolist(), errors.tolist()):
        before, after = (found.runs[runs[at]] for at in (one.at - 1, one.at))
        # One that ended is new for as many runs of its machine as any other.
        is_new = runs[one.at] in recent
        yield HistoryChange(
            case=series.case,
            metric=series.metric,
            kind=series.kind,
            baseline=series.baseline,
            machine=series.machine,
            **{name: _ratio(getattr(one, of)) for name, of in _BOUNDS.items()},
            before=_run(before),
            after=_run(after),
            earliest=_run(found.runs[runs[one.earliest]]),
            latest=_run(found.runs[runs[one.latest]]),
            n_before=one.n_before,
            n_after=one.n_after,
            n_since=len(runs) - one.at,
            is_new=is_new,
            software=[*_differences(*(json.loads(side.software) for side in (before, after)))],
            fails_beyond=_beyond(one, series, limits) if is_new else None,
        )


_BOUNDS = {"ratio": "size", "low": "low", "high": "high"}


def _ratio(logarithm: float) -> float:
    return math.exp(max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, logarithm)))


def _run(run: StoredRun) -> RunOfChange:
    return RunOfChange(run_id=run.run_id, started_at=run.started_at, commit=run.commit)


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for name in sorted({*before, *after}):
        sides = [side.get(name, "absent") for side in (before, after)]
        if sides[0] != sides[1]:
            yield Difference(name=name, a=sides[0], b=sides[1])


SIDES: tuple[Literal["slower", "faster", "more", "less"], ...]
SIDES = ("slower", "faster", "more", "less")
"""Changes that may fail: of times, and of memory."""


def _beyond(change: Change, series: Series, limits: Mapping[str, float]) -> float | None:
    """Return the limit that all of a change's interval exceeds; ``None``: there is none.

    What others are held against changes with its machine, and never fails.
    """
    if series.baseline == series.case:
        return None
    limit = limits.get(SIDES[2 * (series.kind == "memory") + (change.size < 0)])
    surely = change.low if change.size > 0 else -change.high
    return limit if limit is not None and surely > math.log1p(limit) else None
