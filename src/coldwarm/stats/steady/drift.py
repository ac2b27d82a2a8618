"""Whether the warm calls of a case still change: a question about its processes, not about one.

Timings of one process wander: its samples depend on each other, and any test on them finds a
motion in one process of a few. The more processes, the more such findings. So each process gives
one figure, by how much its calls change from half-time on, and what is tested is whether the
centre of these lies beyond ±0.5 %. A wandering level goes up in one process and down in
another; what the program does by itself happens in all of them. What has settled by half-time is
a warm-up, and not in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.stats.intervals import paired

if TYPE_CHECKING:
    from collections.abc import Sequence

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
