"""Figures of a scenario's loop in one process, and what such a loop will take.

A loop of ``steps`` steps of which ``new`` compile takes the start, up to the first result;
``new - 1`` further steps that compile; and the others as steps that do not. Each is the mean
over processes of what one process spent on a step of its kind, and that the mean of these steps,
because they differ in what they compile and all of them are paid for.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.bounded import Bounded, estimate, median_of, widened
from coldwarm.stats.distribution import summary
from coldwarm.stats.expected import expected, middle_s
from coldwarm.stats.intervals import CONFIDENCE
from coldwarm.stats.selection import by_round, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.summary import Summary

PARTS = ("trace", "lower", "compile", "cache_read", "rest")
FIGURES = ("total", "loop", *(f"loop.{part}" for part in PARTS), "step.compiling", "step.plain")
"""Keys of ``ColdSummary.seconds`` that a scenario has besides."""
NO_STEP = {
    "step.compiling": because("no_compiling_step"),
    "step.plain": because("no_plain_step"),
}


def figure(observation: Observation, name: str) -> float | None:
    """Return one of ``FIGURES`` of a process, in seconds; ``None`` where it has none."""
    account = observation.loop
    if account is None:
        return None
    if name in {"total", "loop"}:
        return account.total_s if name == "total" else account.loop_s
    if name in NO_STEP:
        return _step_s(observation, compiling=name == "step.compiling")
    value: float | None = getattr(account.parts, f"{name.removeprefix('loop.')}_s")
    return value


def headline(observations: Sequence[Observation]) -> str:
    """Return the figure that stands for a cold mode: of a scenario, that of its whole loop."""
    return headlines(observations)[-1]


def headlines(observations: Sequence[Observation]) -> tuple[str, ...]:
    """Return the figures by which candidates are compared in a cold mode."""
    whole = any(observation.loop for observation in observations)
    return ("ttfr", "total") if whole else ("ttfr",)


def why_absent(observations: Sequence[Observation], name: str) -> Reason:
    """Return the reason for a figure that none of the processes has."""
    for observation in observations:
        account = observation.loop
        if account is None:
            continue
        if name in NO_STEP:
            return account.null_reasons.get("compiling_steps", NO_STEP[name])
        field = f"{name.removeprefix('loop.')}_s"
        return account.parts.null_reasons.get(field, because("not_recorded"))
    return because("not_recorded")


def share(
    observations: Sequence[Observation],
) -> tuple[Summary, None] | tuple[None, Reason]:
    """Summarise the share of the total spent compiling; else say why there is none."""
    accounts = [o.loop for o in observations if o.loop is not None]
    if not accounts:
        return None, because("no_scenario" if observations else "no_valid_process")
    groups = [[a.compiling_share] for a in accounts if a.compiling_share is not None]
    if groups:
        return summary(groups), None
    return None, accounts[0].null_reasons["compiling_share"]


def predict(
    observations: Sequence[Observation],
    mode: CacheMode,
    *,
    steps: int,
    new: int,
    other_shapes: bool = False,
) -> Bounded | None:
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
            among, middle = estimate(shapes, CONFIDENCE), middle_s([(1.0, series[name])])
            found = widened(found, number, middle, among)
    return found if found.low is None else replace(found, low=max(0.0, found.low))


def _series(observations: Sequence[Observation], name: str) -> dict[str, float]:
    values = [(o, o.ttfr_process_s if name == "start" else figure(o, name)) for o in observations]
    rounds = by_round((o, [value]) for o, value in values if value is not None)
    return {key: value for key, (value,) in rounds.items()}


def _by_place(observations: Sequence[Observation], *, compiling: bool) -> dict[str, float]:
    """Return what each step of a kind takes: the median over processes for its place."""
    by_place: dict[str, dict[str, float]] = {}
    for number, observation in enumerate(observations):
        for place, step_s in _steps(observation, compiling=compiling):
            by_place.setdefault(str(place), {})[str(number)] = step_s
    return {place: median_of(list(series.values())) for place, series in by_place.items()}


def _step_s(observation: Observation, *, compiling: bool) -> float | None:
    """Return the mean of the steps after the first one that compiled, or that did not."""
    steps = [step_s for _, step_s in _steps(observation, compiling=compiling)]
    return math.fsum(steps) / len(steps) if steps else None


def _steps(observation: Observation, *, compiling: bool) -> list[tuple[int, float]]:
    """Return place and seconds of the steps after the first one that compiled, or did not."""
    account = observation.loop
    if account is None or account.compiling_steps is None:
        return []
    places = set(account.compiling_steps)
    later = list(enumerate(account.steps_s))[1:]
    return [(place, step_s) for place, step_s in later if (place in places) == compiling]
