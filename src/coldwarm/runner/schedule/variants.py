"""Which processes are measured beside those that figures are from, to show what would change.

Some keep freed memory, where warm calls cause page faults; some start with what their framework
keeps by its own settings, where that is less than was kept. Pure.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.observation import published
from coldwarm.stats.selection import counts, filled_by_default, gives_back, keeping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.observation import CacheEvidence, Observation
    from coldwarm.runner.running import Running
    from coldwarm.runner.schedule.ledger import Ledger
    from coldwarm.runner.schedule.options import Options
    from coldwarm.runner.schedule.suites import Case

MOST = 3
"""Starts with what the framework's own settings keep: enough for an interval."""
_FIGURES_FIRST = 4
MOST_KEPT = 5
"""Processes that keep memory: enough to judge a difference in spite of noise."""
_THRESHOLDS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_")
"""Variables with which glibc adapts nothing. Another allocator comes by the last one."""
_OTHERS = {"GLIBC_TUNABLES": "glibc.malloc.", "LD_PRELOAD": "alloc"}


def early(options: Options, round_: int) -> bool:
    """Say whether a round comes before any of these, so that a short run has its figures first."""
    return options.time_budget_s is not None and round_ == 0


def _most(most: int, n_figures: int, options: Options) -> int:
    """Return how many there may be beside so many processes that figures are from.

    A time budget is for the figures first.
    """
    return most if options.time_budget_s is None else min(most, 1 + n_figures // _FIGURES_FIRST)


def wants_kept(running: Running, ledger: Ledger, options: Options) -> bool:
    """Say whether a process that keeps memory is to run its blocks beside this one.

    A deterministic run has one for every process, because its plan may depend on nothing seen.
    """
    case, round_ = running.slot.case, running.slot.round
    kept = keeping(ledger.of(case))
    if case.device == "gpu" or early(options, round_) or not running.start.glibc:
        return False
    most = _most(MOST_KEPT, len(ledger.good(case, WARM)), options)
    if len(kept) >= most or any(seen.round == round_ for seen in kept):
        return False
    if _thresholds_set({**os.environ, **case.variables}):
        return False
    return options.deterministic or gives_back(running.blocks)


def _thresholds_set(variables: Mapping[str, str]) -> bool:
    """Say whether the allocator was set by variables, or replaced, so that nothing teaches it."""
    if any(variables.get(name) for name in _THRESHOLDS):
        return True
    return any(part in variables.get(name, "") for name, part in _OTHERS.items())


def wants_default(case: Case, ledger: Ledger, options: Options, round_: int) -> bool:
    """Say whether a start with what the framework's own settings keep is to be measured."""
    seen = filled_by_default(ledger.of(case))
    most = _most(MOST, len(ledger.good(case, FILLED)), options)
    if early(options, round_) or len(seen) >= most or any(one.round == round_ for one in seen):
        return False
    if any(one.status == "failed" for one in seen):
        return False
    return any(one.kept_by_default in {"some", "none"} for one in compiled(ledger.of(case)))


def keeps_nothing(case: Case, ledger: Ledger) -> bool:
    """Say whether the framework's own settings keep nothing of what the case compiles."""
    found = [one.kept_by_default for one in compiled(ledger.of(case))]
    return bool(found) and set(found) <= {"none", None}


def compiled(observations: list[Observation]) -> list[CacheEvidence]:
    """Return what is known of the caches of processes that found them empty."""
    return [
        one
        for seen in published(observations)
        if seen.status == "ok" and seen.cache_mode != FILLED and counts(seen, seen.cache_mode)
        for one in seen.evidence
    ]
