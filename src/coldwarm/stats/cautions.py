"""What a reader must know before trusting a case: each warning says the cause and the remedy."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.selection import WARM, WarmProcess, is_clean, rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import ColdSummary, WarmSummary

FEW_PROCESSES = 3
SLOW_SECOND_CALL = 1.5
ADVICE = {
    "few": "raise --min-runs",
    "precision": "raise --max-runs or --time-budget, or quieten the machine",
    "noisy": "close other programs, or run again on an idle machine",
    "unsteady": "give it more time with --time-budget, and do not quote its median alone",
    "modes": "look at the raw series; frequency changes and memory placement are usual causes",
    "compiled": "look for shapes or types that change from call to call",
}


def case_warnings(
    observations: Sequence[Observation],
    cold: Sequence[ColdSummary],
    warm: WarmSummary | None,
    processes: Sequence[WarmProcess],
    precision: float | None,
) -> list[str]:
    """Return all warnings of a case in words, those about validity first."""
    found: list[str] = []
    for one in cold:
        found += _lost(observations, one.cache_mode, one.n_ok)
        found += _few(one.cache_mode, one.n_ok)
        found += _imprecise(f"{one.cache_mode} ttfr", one.precision_reached, precision)
    if warm is not None:
        found += _lost(observations, WARM, warm.n_processes)
        found += _few(WARM, warm.n_processes)
        found += _imprecise("warm call", warm.precision_reached, precision)
        found += _warm(observations, warm, processes)
    return found + _noisy(observations)


def _lost(observations: Sequence[Observation], mode: CacheMode, n_valid: int) -> list[str]:
    """Warn of processes that were rejected or that failed."""
    found = []
    reasons = rejected(observations, mode)
    if reasons:
        total = n_valid + len(reasons)
        found.append(
            f"{mode}: {len(reasons)} of {_count(total, 'process')} rejected, because the "
            f"evidence contradicts the mode: {_most_common(reasons)}; they are published and "
            "do not count"
        )
    failed = [o for o in observations if o.status == "failed" and o.cache_mode == mode]
    if failed:
        reason = _most_common([o.reason or "no reason was recorded" for o in failed])
        found.append(
            f"{mode}: {_count(len(failed), 'process')} failed: {reason}; "
            "see stderr_tail of the observation"
        )
    return found


def _few(mode: CacheMode, n: int) -> list[str]:
    if n == 0:
        return [f"{mode}: no valid process, so there is no figure; see the observations' reasons"]
    if n < FEW_PROCESSES:
        effect = "there is no interval" if n == 1 else "its interval is very wide"
        return [f"{mode}: {_count(n, 'valid process')}, so {effect}; {ADVICE['few']}"]
    return []


def _imprecise(name: str, reached: float | None, asked: float | None) -> list[str]:
    if asked is None or reached is None or reached <= asked:
        return []
    return [
        f"{name}: precision ±{reached:.1%}, not the ±{asked:.1%} asked for; {ADVICE['precision']}"
    ]


def _warm(
    observations: Sequence[Observation], warm: WarmSummary, processes: Sequence[WarmProcess]
) -> list[str]:
    """Warn of what the warm series show."""
    found = []
    if processes and not warm.steady.steady:
        found.append(f"warm call: {warm.steady.reason}; {ADVICE['unsteady']}")
    modes = [p.steadiness.modes for p in processes if p.steadiness.modes is not None]
    if modes:
        gap = float(np.median([mode.upper / mode.lower - 1 for mode in modes]))
        share = float(np.median([mode.upper_share for mode in modes]))
        found.append(
            f"warm call: bimodal in {len(modes)} of {_count(len(processes), 'process')}: "
            f"{share:.0%} of the samples are {gap:.0%} slower than the others; {ADVICE['modes']}"
        )
    ratio = second_call_ratio(processes)
    if ratio is not None and ratio >= SLOW_SECOND_CALL:
        found.append(
            f"the second call takes {ratio:.1f} times a steady one; do not take it for steady "
            "state when you time by hand"
        )
    dirty = sum(not is_clean(block) for o in observations for block in o.blocks)
    if dirty:
        found.append(
            f"warm call: {_count(dirty, 'block')} left out because programs were compiled in "
            f"the window or the count is unknown; {ADVICE['compiled']}"
        )
    return found


def second_call_ratio(processes: Sequence[WarmProcess]) -> float | None:
    """Return the median of the second call over the steady call, or ``None`` without both."""
    ratios = [
        second / float(np.median(process.steadiness.samples))
        for process in processes
        if (second := process.observation.phase_s("second_call")) is not None
    ]
    return float(np.median(ratios)) if ratios else None


def _noisy(observations: Sequence[Observation]) -> list[str]:
    """Warn of noise, one warning for flags that differ in their figures only."""
    watched = [o.telemetry.flags for o in observations if o.telemetry is not None]
    kinds: dict[str, list[str]] = {}
    for flags in watched:
        for kind, flag in {re.sub(r"[\d.,]+", "#", flag): flag for flag in flags}.items():
            kinds.setdefault(kind, []).append(flag)
    return [
        f"noisy: {len(flags)} of {_count(len(watched), 'process')}: {flags[0]}; {ADVICE['noisy']}"
        for flags in kinds.values()
    ]


def _most_common(reasons: Iterable[str]) -> str:
    """Return the most common reason, and how many others there are."""
    (first, _), *others = Counter(reasons).most_common()
    return f"{first} (and {len(others)} other reasons)" if others else first


def _count(n: int, noun: str) -> str:
    if n == 1:
        return f"1 {noun}"
    return f"{n} {noun}{'es' if noun.endswith('s') else 's'}"
