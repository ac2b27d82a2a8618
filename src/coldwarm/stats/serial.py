"""Whether values that follow each other are alike, where intervals take them to be independent.

Where they are not, as where a machine is slow for minutes, an interval of 95 % holds the truth
in 64 of 100 cases. What is looked at is the ranks of the values in the order in which they were
measured: the squares of their steps over the squares of their distances from the mean rank
(Bartels, "The rank version of von Neumann's ratio test for randomness", 1982). Ranks of independent
values are in any order as often, however the values scatter, so that false alarms are as many for
bursts or modes as for normal noise. ``benchmarks/more_rounds.py`` counts them, and what is found.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST = 8
"""Values from which it is looked for."""
FALSE_ALARMS = 0.02
"""Share of independent series that are called related."""


def related(values: Sequence[float]) -> bool:
    """Say whether neighbours are more alike than those of independent values mostly are."""
    n = len(values)
    if n < FEWEST:
        return False
    ranks = rankdata(values)
    apart = float(((ranks - ranks.mean()) ** 2).sum())
    if apart == 0:
        return False
    ratio = float((np.diff(ranks) ** 2).sum()) / apart
    error = math.sqrt(4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2))
    return bool(ndtr((ratio - 2) / error) < FALSE_ALARMS)
