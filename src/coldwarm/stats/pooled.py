"""One figure of several machines: its middle over machines, and how far they differ. Pure.

Each machine has an effect of its own, a logarithm with a standard error. What they differ by more
than these errors tell is estimated (DerSimonian and Laird, "Meta-analysis in clinical trials",
1986), and the interval of the middle is that of Hartung and Knapp ("A refined method for the
meta-analysis of controlled clinical trials", 2001), with Student's t: with few machines, a normal
one would be too narrow. It is never narrower than the errors alone tell.

A further machine is looked for within the *prediction* interval (Higgins, Thompson and
Spiegelhalter, "A re-evaluation of random-effects meta-analysis", 2009). Where machines differ by
about as much as their own errors, that is often not seen, and the interval holds 87 to 92 % of
them.

``benchmarks/pooling.py`` simulates both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coldwarm.stats.intervals import student

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST = 3
"""Machines below which nothing is said over them."""
_LEAST_ERROR = 1e-4
_CONFIDENCE = 0.95


class Pooled(NamedTuple):
    """An effect over machines, as logarithms."""

    middle: float
    low: float
    high: float
    predicted_low: float
    """Bounds of the effect on a further machine."""
    predicted_high: float
    between: float
    """Standard deviation between machines, beyond their own errors."""
    share: float
    """Share of what they scatter that is between machines, I², from 0 to 1."""


def pool(effects: Sequence[float], errors: Sequence[float]) -> Pooled:
    """Return an effect over machines.

    Args:
        effects: Of each machine, such as the logarithm of a ratio.
        errors: Their standard errors, above 0.

    Raises:
        ValueError: there are fewer than ``FEWEST``.
    """
    k = len(effects)
    if k < FEWEST or len(errors) != k:
        message = f"an effect over machines needs {FEWEST} of them, each with an error"
        raise ValueError(message)
    seen = np.asarray(effects, dtype=np.float64)
    own = np.maximum(np.asarray(errors, dtype=np.float64), _LEAST_ERROR) ** 2
    fixed = 1 / own
    scatter = float(np.sum(fixed * (seen - np.average(seen, weights=fixed)) ** 2))
    spread = float(np.sum(fixed) - np.sum(fixed**2) / np.sum(fixed))
    between = max(0.0, (scatter - (k - 1)) / spread)
    weights = 1 / (own + between)
    middle = float(np.average(seen, weights=weights))
    refined = float(np.sum(weights * (seen - middle) ** 2)) / (k - 1)
    error = math.sqrt(max(1.0, refined) / float(np.sum(weights)))
    half = student(0.5 + _CONFIDENCE / 2, k - 1) * error
    further = student(0.5 + _CONFIDENCE / 2, max(1, k - 2)) * math.sqrt(between + error**2)
    return Pooled(
        middle=middle,
        low=middle - half,
        high=middle + half,
        predicted_low=middle - further,
        predicted_high=middle + further,
        between=math.sqrt(between),
        share=max(0.0, 1 - (k - 1) / scatter) if scatter > 0 else 0.0,
    )
