"""Figures of a scenario's loop in one process."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.distribution import summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason

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


def _step_s(observation: Observation, *, compiling: bool) -> float | None:
    """Return the mean of the steps after the first one that compiled, or that did not."""
    spent = [step_s for _, step_s in later_steps(observation, compiling=compiling)]
    return math.fsum(spent) / len(spent) if spent else None


def later_steps(observation: Observation, *, compiling: bool) -> list[tuple[int, float]]:
    """Return place and seconds of the steps after the first one that compiled, or did not."""
    account = observation.loop
    if account is None or account.compiling_steps is None:
        return []
    places = set(account.compiling_steps)
    later = list(enumerate(account.steps_s))[1:]
    return [(place, step_s) for place, step_s in later if (place in places) == compiling]
