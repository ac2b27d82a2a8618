"""What a process will cost in seconds: as measured before, else as its like did."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.runner.schedule.case import Case

COMPILING_S = 5.0
EAGER_S = 1.0
"""For a process like none before it: start, import and two calls, with or without a compiler.
Rather too little: what does not fit after all is cut short, and what never starts is lost."""


@dataclass(frozen=True)
class Estimates:
    """What is known of a run's costs, and what that says of the rest."""

    cases: Sequence[Case]
    known_s: Callable[[Case, CacheMode], float | None]
    """Seconds that a mode's last process of a case ran; ``None``: none did."""

    def expected_s(self, case: Case, mode: CacheMode) -> float:
        """Return the seconds that a mode's next process of a case will probably run.

        Where it has none to go by, the same candidate's dearest of the same workload counts,
        then the median of its other workloads, then what such a backend costs anywhere.
        """
        known = self.known_s(case, mode)
        if known is not None:
            return known
        if case.inspected_s is not None:
            return case.inspected_s
        alike = [other for other in self.cases if other.candidate == case.candidate]
        near = self._measured(alike, mode, case.workload.name)
        if near:
            return max(near)
        far = self._measured(alike, mode)
        if far:
            return statistics.median(far)
        return COMPILING_S if case.backend.compiles else EAGER_S

    def _measured(
        self, cases: Sequence[Case], mode: CacheMode, workload: str | None = None
    ) -> list[float]:
        found = [
            self.known_s(case, mode)
            for case in cases
            if workload is None or case.workload.name == workload
        ]
        return [cost for cost in found if cost is not None]
