"""The candidates of one group, and what is known of their costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.plan.costs import costs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.plan.costs import Costs


@dataclass(frozen=True)
class Group:
    """The candidates of one workload, size and dtype, and what to know of them."""

    name: str
    known: Sequence[Costs]
    not_measured: Mapping[str, Reason]
    """By candidate, why the run has no process of it."""
    not_steady: Mapping[str, Reason]
    """By candidate, why its warm calls may not stand for later ones."""
    cases: Sequence[CaseResult] = ()
    """Those with costs."""


def gather(name: str, cases: Sequence[CaseResult]) -> Group:
    """Return what is known of the cases of a group; a failed one has no costs."""
    known, measured, missing, moving = [], [], {}, {}
    for case in cases:
        if case.status == "failed" or not case.observations:
            missing[case.candidate] = case.reason or because("unstated")
            continue
        known.append(costs(case))
        measured.append(case)
        if case.warm and not case.warm.steady.steady:
            moving[case.candidate] = case.warm.steady.reason
    return Group(name, known, missing, moving, measured)
