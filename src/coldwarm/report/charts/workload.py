"""A workload's results as figures take them: its cases, and how each candidate looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report.charts.chart import looks, shown
from coldwarm.report.headline import group_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.answer import Answer
    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.chart import Look


@dataclass(frozen=True, eq=False)
class Workload:
    """The candidates of one workload at one size and dtype of which anything was measured.

    A control is none of them.

    ``looks`` are by candidate as ``shown`` writes it, those of this workload in their order.
    """

    title: str
    cases: tuple[CaseResult, ...]
    looks: Mapping[str, Look]
    answer: Answer | None = None


def workloads(cases: Sequence[CaseResult], answers: Sequence[Answer] = ()) -> list[Workload]:
    """Return the workloads of a result; a candidate looks the same in all of them."""
    told = {one.group: one for one in answers}
    grouped: dict[str, list[CaseResult]] = {}
    for case in cases:
        if case.control_of is None and (case.cold or case.warm):
            grouped.setdefault(group_name(case), []).append(case)
    every = looks(_names(case for members in grouped.values() for case in members))
    return [
        Workload(
            title=printable(title),
            cases=tuple(members),
            looks={name: every[name] for name in _names(members)},
            answer=told.get(members[0].group),
        )
        for title, members in grouped.items()
    ]


def _names(cases: Iterable[CaseResult]) -> list[str]:
    return list(dict.fromkeys(shown(case.candidate) for case in cases))
