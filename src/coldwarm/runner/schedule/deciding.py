"""Where more measuring is worth its time: in the verdicts that are still open. Pure.

Looking again and again, and stopping at the first verdict, would find differences that are
not there. So a verdict settles a mode early only where a much stricter interval gives it
too; the verdict that is published comes from all processes, with the usual one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.stats.summarise import compare_case

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.summary import Comparison
    from coldwarm.runner.schedule.case import Case
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.options import Options

SETTLED_DIFFERENT = 0.999
SETTLED_SAME = 0.99
"""Confidence that settles a verdict before the last look."""


def wanting(
    cases: Sequence[Case], round_: int, options: Options, ledger: Ledger
) -> Mapping[CacheMode, Sequence[Case]]:
    """Return, for each mode, the cases whose verdict is open, and with them the baseline."""
    alive = [case for case in cases if ledger.failure(case) is None]
    if round_ >= options.max_runs:
        return {mode: [] for mode in options.cache_modes}
    if round_ < options.min_runs or options.deterministic:
        return dict.fromkeys(options.cache_modes, alive if round_ < options.min_runs else [])
    baseline = next((case for case in alive if case.is_baseline), None)
    if baseline is None:
        return {mode: [] for mode in options.cache_modes}
    found: dict[CacheMode, Sequence[Case]] = {}
    for mode in options.cache_modes:
        still = [
            case
            for case in alive
            if not case.is_baseline and not settled(baseline, case, mode, options, ledger)
        ]
        found[mode] = [baseline, *still] if still else []
    return found


def settled(baseline: Case, case: Case, mode: CacheMode, options: Options, ledger: Ledger) -> bool:
    """Say whether a mode's verdict would hardly change with more processes."""

    def judged(confidence: float) -> Comparison:
        return compare_case(
            baseline.id,
            ledger.of(baseline),
            ledger.of(case),
            [mode],
            threshold=options.decide or 0.0,
            confidence=confidence,
        )[0]

    different = judged(SETTLED_DIFFERENT).verdict in {"faster", "slower"}
    return different or judged(SETTLED_SAME).verdict == "same"
