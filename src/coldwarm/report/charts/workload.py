"""A workload's results as figures take them: its cases, and how each candidate looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.errors import printable, shorten
from coldwarm.report.charts.looks import looks
from coldwarm.report.figures import group_name
from coldwarm.stats.compare.control import is_control

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.charts.looks import Look

LONGEST_NAME = 48


@dataclass(frozen=True)
class Workload:
    """The candidates of one workload at one size and dtype; controls are left out.

    ``looks`` are by candidate as ``shown`` writes it, those of this workload in their order.
    """

    title: str
    cases: tuple[CaseResult, ...]
    looks: Mapping[str, Look]


def shown(name: str) -> str:
    """Return foreign text as figures show it: one line, seen as it is, not too long."""
    return shorten(printable(name), LONGEST_NAME)


def workloads(cases: Sequence[CaseResult]) -> list[Workload]:
    """Return the workloads of a result; a candidate looks the same in all of them."""
    grouped: dict[str, list[CaseResult]] = {}
    for case in cases:
        if not is_control(case):
            grouped.setdefault(group_name(case), []).append(case)
    every = looks(_names(case for members in grouped.values() for case in members))
    return [
        Workload(
            printable(title), tuple(members), {name: every[name] for name in _names(members)}
        )
        for title, members in grouped.items()
    ]


def _names(cases: Iterable[CaseResult]) -> list[str]:
    return list(dict.fromkeys(shown(case.candidate) for case in cases))
