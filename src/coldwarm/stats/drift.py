"""What the processes of a case show together: steady, drifting, or moving between levels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.reasons import because, distinct
from coldwarm.contracts.result import SteadyState
from coldwarm.stats.intervals import paired

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.selection import WarmProcess
    from coldwarm.stats.steady import Steadiness


_SMALLEST_DRIFT = 0.005
"""Change from half-time to the end that is too small to matter, relatively."""
_FEWEST_PROCESSES = 3
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Drift:
    """Relative change of the calls of a case from half-time on, with its interval at 95 %."""

    share: float
    low: float
    high: float
    n_processes: int

    @property
    def matters(self) -> bool:
        """Whether the whole interval lies beyond what is too small to matter."""
        return self.low > _SMALLEST_DRIFT or self.high < -_SMALLEST_DRIFT


def across(changes: Sequence[float | None]) -> Drift | None:
    """Return what processes show together, each by its slope; ``None``: they are too few."""
    known = [change for change in changes if change is not None]
    if len(known) < _FEWEST_PROCESSES:
        return None
    found = paired(known, _CONFIDENCE)
    share, low, high = (math.expm1(min(x, 1.0)) for x in (found.middle, found.low, found.high))
    return Drift(share, low, high, len(known))


_LARGE_MOTION = 0.2
"""Motion of a process that is not put down to the machine, relatively."""


def steady_state(processes: Sequence[WarmProcess]) -> SteadyState:
    """Say whether the warm calls of a case were steady.

    They were not where their drift across processes matters (see ``drift``), nor where no
    process became steady and they moved by much, or, with fewer processes than can be tested,
    at all.
    """
    states = [process.steadiness for process in processes]
    found = across([state.change for state in states])
    against = _against(states, found)
    return SteadyState(
        steady=against is None,
        reason=against or _in_favour(processes, found),
        n_processes=len(states),
        n_steady=sum(state.steady for state in states),
        warmup_samples=[process.warmup for process in processes],
        drift_share=None if found is None else found.share,
        drift_low=None if found is None else found.low,
        drift_high=None if found is None else found.high,
    )


def _against(states: Sequence[Steadiness], found: Drift | None) -> Reason | None:
    if not states:
        return because("no_valid_process")
    if found is not None and found.matters:
        n = found.n_processes
        bounds = {"low_share": found.low, "high_share": found.high}
        return because("drifts_across", change_share=found.share, **bounds, n_processes=n)
    if any(state.steady for state in states):
        return None
    if found is not None and np.median([_motion(state.reason) for state in states]) < _LARGE_MOTION:
        return None
    unsteady = because("unsteady", n_unsteady=len(states), n_processes=len(states))
    return because("several", unsteady, *distinct(state.reason for state in states))


def _in_favour(processes: Sequence[WarmProcess], found: Drift | None) -> Reason:
    n_steady = sum(process.steadiness.steady for process in processes)
    longest = max(process.warmup for process in processes)
    if n_steady == len(processes):
        return because("steady", n_processes=n_steady, n_warmup=longest)
    if found is None:
        return because("steady_of_few", n_steady=n_steady, n_processes=len(processes))
    bounds = {"low_share": found.low, "high_share": found.high}
    counts = {"n_steady": n_steady, "n_processes": len(processes)}
    return because("steady_across", change_share=found.share, **bounds, **counts)


def _motion(reason: Reason) -> float:
    """Return by how much the level of a process moved, relatively; infinite: it cannot be told."""
    for name in ("range_share", "change_share"):
        share = reason.values.get(name)
        if isinstance(share, float):
            return abs(share)
    return math.inf
