"""Prediction of what a scenario's loop will take.

A loop of ``steps`` steps of which ``new`` compile takes the start, up to the first result;
``new - 1`` further steps that compile; and the others as steps that do not. Each is the mean
over processes of what one process spent on a step of its kind, and that the mean of these steps,
because they differ in what they compile and all of them are paid for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.stats.expected import expected, middle_s
from coldwarm.stats.intervals import CONFIDENCE, Interval, median_of, paired, widened
from coldwarm.stats.selection import by_round, counted
from coldwarm.stats.summarise import _later_steps, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation


def predict(
    observations: Sequence[Observation],
    mode: CacheMode,
    *,
    steps: int,
    new: int,
    other_shapes: bool = False,
) -> Interval | None:
    """Return what a loop is expected to take from the start of its process.

    ``None`` where a cost is unknown.

    ``new`` of the ``steps`` steps have something to compile, the first one among them where it
    is at least 1. Where they have ``other_shapes`` than the measured ones, a step is bounded
    over the measured steps as well: shapes differ in what they cost, and a few of them
    tell little of others. The interval is that of the sums of rounds (``expected``).
    """
    valid = counted(observations, mode)
    compiling = max(new - 1, 0)
    wanted = {"start": 1, "step.compiling": compiling, "step.plain": steps - 1 - compiling}
    numbers = {name: number for name, number in wanted.items() if number}
    series = {name: _series(valid, name) for name in numbers}
    if not all(series.values()):
        return None
    found = expected([(float(number), series[name]) for name, number in numbers.items()])
    for name, number in numbers.items():
        if other_shapes and name != "start":
            shapes = _by_place(valid, compiling=name == "step.compiling")
            among = paired(list(shapes.values()), CONFIDENCE).not_negative
            found = widened(found, number, middle_s([(1.0, series[name])]), among)
    return found if found.ends == (None, None) else found.not_negative


def _series(observations: Sequence[Observation], name: str) -> dict[str, float]:
    values = [(o, o.ttfr_process_s if name == "start" else figure(o, name)) for o in observations]
    rounds = by_round((o, [value]) for o, value in values if value is not None)
    return {key: value for key, (value,) in rounds.items()}


def _by_place(observations: Sequence[Observation], *, compiling: bool) -> dict[str, float]:
    """Return what each step of a kind takes: the median over processes for its place."""
    by_place: dict[str, dict[str, float]] = {}
    for number, observation in enumerate(observations):
        for place, step_s in _later_steps(observation, compiling=compiling):
            by_place.setdefault(str(place), {})[str(number)] = step_s
    return {place: median_of(list(series.values())) for place, series in by_place.items()}
