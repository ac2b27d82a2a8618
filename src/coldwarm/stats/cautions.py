"""What a reader must know before trusting a case: each caution says the cause and the remedy."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.base import WARM
from coldwarm.contracts.result import Caution
from coldwarm.stats.selection import WarmProcess, claims, is_clean, rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CautionKind, ColdSummary, WarmSummary

FEW_PROCESSES = 3
SLOW_SECOND_CALL = 1.5
MANY_MODULES = 25
"""Modules without bytecode from which an import is noticeably slower."""
ADVICE: dict[CautionKind, str] = {
    "rejected": "they do not count; see the evidence of these observations",
    "failed": "see stderr_tail of the observation",
    "few": "raise --min-runs",
    "precision": "raise --max-runs or --time-budget, or quieten the machine",
    "noisy": "close other programs, or run again on an idle machine",
    "unsteady": "give it more time with --time-budget, and do not quote its median alone",
    "bimodal": "look at the raw series; frequency changes and memory placement are usual causes",
    "second_call": "do not take it for steady state when you time by hand",
    "compiled": "look for shapes or types that change from call to call",
    "bytecode": "run python -m compileall on the folders that they are installed in",
}
_NUMBER = re.compile(r"\d[\d.,]*(e[+-]?\d+)?")


def case_warnings(
    observations: Sequence[Observation],
    cold: Sequence[ColdSummary],
    warm: WarmSummary | None,
    processes: Sequence[WarmProcess],
    precision: float | None,
) -> list[Caution]:
    """Return all cautions of a case, those about validity first; none without observations."""
    if not observations:
        return []
    found: list[Caution] = []
    for one in cold:
        found += _lost(observations, one.cache_mode, one.n_ok)
        found += _few(one.cache_mode, one.n_ok)
        found += _imprecise(one.cache_mode, one.n_ok, one.precision_reached, precision)
    if warm is not None:
        found += _lost(observations, WARM, warm.n_processes)
        found += _few(WARM, warm.n_processes)
        found += _imprecise(WARM, warm.n_processes, warm.precision_reached, precision)
        found += _warm(observations, warm, processes)
    return found + _parsed(observations) + _noisy(observations)


def _parsed(observations: Sequence[Observation]) -> list[Caution]:
    """Warn where imports were slow because what they loaded had no bytecode."""
    seen = [o for o in observations if o.bytecode and o.cache_mode != "first_ever"]
    slow = [o.bytecode for o in seen if o.bytecode["without_bytecode"] >= MANY_MODULES]
    if not slow:
        return []
    worst = max(slow, key=lambda counts: counts["without_bytecode"])
    missing = worst["without_bytecode"]
    return [
        Caution(
            kind="bytecode",
            subject="import",
            n_processes=len(slow),
            of_processes=len(seen),
            figure=f"{missing} of {missing + worst['with_bytecode']}",
            value=float(missing),
            text=f"{missing} loaded modules have no bytecode, so that each process parsed them",
            advice=ADVICE["bytecode"],
        )
    ]


def _lost(observations: Sequence[Observation], mode: CacheMode, n_valid: int) -> list[Caution]:
    """Warn of processes that were rejected or that failed."""
    found = []
    reasons = rejected(observations, mode)
    failed = [o for o in observations if o.status == "failed" and o.cache_mode == mode]
    if reasons:
        told = f"rejected, because the evidence contradicts the mode: {_most_common(reasons)}"
        found.append(_share("rejected", mode, (len(reasons), n_valid + len(reasons)), told))
    if failed:
        reason = _most_common([o.reason or "no reason was recorded" for o in failed])
        total = sum(claims(o, mode) for o in observations)
        found.append(_share("failed", mode, (len(failed), total), f"failed: {reason}"))
    return found


def _share(kind: CautionKind, subject: str, share: tuple[int, int], what: str) -> Caution:
    """Return a caution that holds for so many of so many processes."""
    n, of = share
    figure = f"{n} of {_count(of, 'process')}"
    return Caution(
        kind=kind,
        subject=subject,
        n_processes=n,
        of_processes=of,
        figure=figure,
        value=float(n),
        text=f"{figure} {what}",
        advice=ADVICE[kind],
    )


def _few(mode: CacheMode, n: int) -> list[Caution]:
    if n >= FEW_PROCESSES:
        return []
    effect = ("so there is no figure", "so there is no interval", "so its interval is very wide")
    return [
        Caution(
            kind="few",
            subject=mode,
            n_processes=n,
            of_processes=n,
            figure=_count(n, "process"),
            value=float(n),
            text=f"{_count(n, 'valid process')}, {effect[n]}",
            advice=ADVICE["few"] if n else "see the observations' reasons",
        )
    ]


def _imprecise(
    mode: CacheMode, n: int, reached: float | None, asked: float | None
) -> list[Caution]:
    if asked is None or reached is None or reached <= asked:
        return []
    return [
        Caution(
            kind="precision",
            subject=mode,
            n_processes=n,
            of_processes=n,
            figure=f"±{reached:.1%}",
            value=reached,
            text=f"precision ±{reached:.1%}, not the ±{asked:.1%} asked for",
            advice=ADVICE["precision"],
        )
    ]


def _warm(
    observations: Sequence[Observation], warm: WarmSummary, processes: Sequence[WarmProcess]
) -> list[Caution]:
    """Warn of what the warm series show."""
    found = []
    total = len(processes)
    if processes and not warm.steady.steady:
        moving = warm.steady.n_processes - warm.steady.n_steady
        reason = warm.steady.reason.partition(": ")[2] or warm.steady.reason
        told = f"did not become steady: {reason}"
        found.append(_share("unsteady", WARM, (moving, total), told))
    modes = [p.steadiness.modes for p in processes if p.steadiness.modes is not None]
    if modes:
        gap = float(np.median([mode.upper / mode.lower - 1 for mode in modes]))
        share = float(np.median([mode.upper_share for mode in modes]))
        told = f"bimodal: {share:.0%} of the samples are {gap:.0%} slower than the others"
        found.append(_share("bimodal", WARM, (len(modes), total), told))
    return found + _second_call(processes) + _compiled(observations)


def _second_call(processes: Sequence[WarmProcess]) -> list[Caution]:
    ratio = second_call_ratio(processes)
    if ratio is None or ratio < SLOW_SECOND_CALL:
        return []
    return [
        Caution(
            kind="second_call",
            subject=WARM,
            n_processes=len(processes),
            of_processes=len(processes),
            figure=f"{ratio:.1f}×",
            value=ratio,
            text=f"the second call takes {ratio:.1f} times a steady one",
            advice=ADVICE["second_call"],
        )
    ]


def _compiled(observations: Sequence[Observation]) -> list[Caution]:
    """Warn of blocks that do not count."""
    blocked = [o for o in observations if o.blocks]
    dirty = [sum(not is_clean(block) for block in o.blocks) for o in blocked]
    if not any(dirty):
        return []
    figure = _count(sum(dirty), "block")
    return [
        Caution(
            kind="compiled",
            subject=WARM,
            n_processes=sum(n > 0 for n in dirty),
            of_processes=len(blocked),
            figure=figure,
            value=float(sum(dirty)),
            text=f"{figure} left out because programs were compiled in the window or the count "
            "is unknown",
            advice=ADVICE["compiled"],
        )
    ]


def second_call_ratio(processes: Sequence[WarmProcess]) -> float | None:
    """Return the median of the second call over the steady call, or ``None`` without both."""
    ratios = [
        second / steady
        for process in processes
        if (second := process.observation.phase_s("second_call")) is not None
        and (steady := float(np.median(process.steadiness.samples))) > 0
    ]
    return float(np.median(ratios)) if ratios else None


def _noisy(observations: Sequence[Observation]) -> list[Caution]:
    """Warn of noise, one caution for flags that differ in their figures only."""
    watched = [o.telemetry.flags for o in observations if o.telemetry is not None]
    kinds: dict[str, list[str]] = {}
    for flags in watched:
        for kind, flag in {_NUMBER.sub("…", flag): flag for flag in flags}.items():
            kinds.setdefault(kind, []).append(flag)
    return [_disturbance(kind, flags, len(watched)) for kind, flags in kinds.items()]


def _disturbance(kind: str, flags: Sequence[str], n_watched: int) -> Caution:
    """Return the caution of one disturbance, with its largest figure."""
    worst = max(flags, key=lambda flag: _number(flag) or 0.0)
    match = _NUMBER.search(worst)
    return Caution(
        kind="noisy",
        subject=kind,
        n_processes=len(flags),
        of_processes=n_watched,
        figure=match.group() if match else None,
        value=_number(worst),
        text=f"{len(flags)} of {_count(n_watched, 'process')}, at worst: {worst}",
        advice=ADVICE["noisy"],
    )


def _number(flag: str) -> float | None:
    match = _NUMBER.search(flag)
    return float(match.group().strip(".,").replace(",", "")) if match else None


def _most_common(reasons: Iterable[str]) -> str:
    """Return the most common reason, and how many others there are."""
    (first, _), *others = Counter(reasons).most_common()
    return f"{first} (and {len(others)} other reasons)" if others else first


def _count(n: int, noun: str) -> str:
    if n == 1:
        return f"1 {noun}"
    return f"{n} {noun}{'es' if noun.endswith('s') else 's'}"
