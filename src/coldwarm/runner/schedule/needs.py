"""How many more rounds a case needs until a figure is precise, or a verdict settled. Pure.

Looking again and again, and stopping at the first verdict, would find differences that are
not there. So a verdict counts as settled only where a much stricter interval gives it
too; the verdict that is published comes from all processes, with the usual one.

A build that is guarded at a limit asks whether the difference is below that or beyond. That may
be open where the verdict is clear, and clear where it is open.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.stats import precision
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, group_medians
from coldwarm.stats.loops import headline
from coldwarm.stats.ratio import FAR, FEWEST_FOR_FAR, THRESHOLD
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.summarise import compare_case, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.summary import Comparison
    from coldwarm.runner.schedule.case import Case
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.options import Options

SETTLED_DIFFERENT = 0.999
SETTLED_SAME = 0.99
"""Confidence that settles a verdict before the last look."""
_WARM_FINER = 0.4
"""The precision asked for is that of first results; of warm calls it is so much finer."""


def of_figure(case: Case, mode: CacheMode, options: Options, ledger: Ledger) -> int:
    """Return how many more processes a figure is expected to need; 0: it is precise enough."""
    target = options.precision * (_WARM_FINER if mode == WARM else 1.0)
    return precision.assess(
        _values(mode, ledger.good(case, mode)),
        target=target,
        fewest=min(FEWEST_FOR_CONFIDENCE, options.max_runs),
        most=options.max_runs,
    ).more


def _values(mode: CacheMode, seen: Sequence[Observation]) -> list[float]:
    """Return what a mode's precision is judged by, one figure for each process."""
    if mode == WARM:
        samples = [process.steadiness.samples for process in warm_processes(seen)]
        return group_medians(samples).tolist() if samples else []
    values = [figure(one, headline([one])) for one in seen]
    return [value for value in values if value is not None]


def of_verdict(
    baseline: Case, case: Case, mode: CacheMode, options: Options, ledger: Ledger
) -> int:
    """Return how many more rounds a verdict is expected to need; 0: it is settled."""
    n = min(len(ledger.good(one, mode)) for one in (baseline, case))
    threshold = _threshold(mode, options)

    def judged(confidence: float) -> Comparison:
        return compare_case(
            baseline.id,
            ledger.of(baseline),
            ledger.of(case),
            [mode],
            threshold=threshold,
            confidence=confidence,
            tested=False,
        )[0]

    different = judged(SETTLED_DIFFERENT)
    if n < FEWEST_FOR_CONFIDENCE and different.verdict == "undecided":
        far = _are_far(*(_values(mode, ledger.good(one, mode)) for one in (baseline, case)))
        return max(1, (FEWEST_FOR_FAR if far else FEWEST_FOR_CONFIDENCE) - n)
    if different.verdict in {"faster", "slower"} or judged(SETTLED_SAME).verdict == "same":
        return 0
    return max(1, _rounds_for(different, n, math.log1p(threshold), options.max_runs) - n)


def _are_far(ones: Sequence[float], others: Sequence[float]) -> bool:
    """Say whether all values of one side lie so far beyond the other's that few rounds tell."""
    if not ones or not others:
        return False
    return max(min(ones) / max(others), min(others) / max(ones)) > FAR


def _threshold(mode: CacheMode, options: Options) -> float:
    """Return the difference that a verdict has to be clear of."""
    threshold = THRESHOLD if options.decide is None else options.decide
    return max(threshold, options.limits.get("warm" if mode == WARM else "cold", 0.0))


def _rounds_for(seen: Comparison, n: int, band: float, most: int) -> int:
    """Return the rounds after which the interval is expected to lie on one side of the band."""
    if not seen.ratio or not seen.low or not seen.high:
        return n + 1  # nothing is known of their scatter
    scatter = math.log(seen.high / seen.low) / 2 / precision.expected_of_pairs(n, SETTLED_DIFFERENT)
    away = abs(abs(math.log(seen.ratio)) - band)
    numbers = range(n + 1, most)
    reached = precision.expected_of_pairs
    return next((k for k in numbers if scatter * reached(k, SETTLED_DIFFERENT) <= away), most)
