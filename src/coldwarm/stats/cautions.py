"""Cautions of a case: what a reader must know before trusting it."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.answer import Caution
from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.reasons import because, brief
from coldwarm.functions.outlier_call import OTHER_S, PAUSED_S, is_outlier
from coldwarm.stats.selection import WarmProcess, claims, gives_back, is_clean, rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.answer import CautionKind
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation, OtherCalls
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, ColdSummary, SteadyState, WarmSummary
    from coldwarm.stats.steady import TwoLevels


_COLLECTING = 0.1
"""From what share of a call on the collector is worth a caution."""
_FEW_PROCESSES = 3
_SLOW_SECOND_CALL = 1.5
UNEVEN = 1.2
"""By what ratio the mean of warm calls exceeds their median where both are told."""
FAR_BELOW, FAR_BELOW_S = 3.0, 0.05
"""By what ratio, and by how many seconds, a first call is far below that of the inspection: two
run at once, and the first one finds nothing in the machine's memory."""
_MANY_MODULES = 25
"""Modules without bytecode from which an import is noticeably slower."""


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
    cautions: list[Caution] = []
    for summary in cold:
        mode = summary.cache_mode
        cautions += _of_mode(observations, mode, summary.n_ok)
        cautions += _imprecise(mode, summary.n_ok, summary.precision_reached, precision)
    if warm is not None:
        cautions += _of_mode(observations, WARM, warm.n_processes)
        cautions += _imprecise(WARM, warm.n_processes, warm.precision_reached, precision)
        cautions += _warm(observations, warm, processes)
    cautions += _untried(observations)
    return cautions + _set(observations) + _parsed(observations) + _noisy(observations)


def kept_itself(cold: Sequence[ColdSummary], inspected_call_s: float | None) -> list[Caution]:
    """Warn where a first call with empty caches took far less than that of the inspection.

    What a function keeps on disk by itself, the inspection has left there. A factory may have
    started the devices in it, which for a GPU takes longer than many a first call; measured
    processes start them before.
    """
    cautions = []
    for mode in cold:
        parts = [
            mode.seconds[name].median for name in ("build", "first_call") if name in mode.seconds
        ]
        if mode.cache_mode == FILLED or not parts or inspected_call_s is None:
            continue
        call_s = math.fsum(parts)
        devices = mode.seconds.get("device_init")
        alike_s = call_s + (devices.median if devices is not None else 0.0)
        if alike_s < inspected_call_s / FAR_BELOW and inspected_call_s - alike_s > FAR_BELOW_S:
            reason = because("faster_than_inspected", cold_s=call_s, inspected_s=inspected_call_s)
            processes = mode.n_ok, mode.n_ok
            cautions.append(_caution("kept", mode.cache_mode, processes, reason))
    return cautions


def _caution(
    kind: CautionKind, mode: CacheMode | None, processes: tuple[int, int], reason: Reason
) -> Caution:
    n, of = processes
    return Caution(kind=kind, cache_mode=mode, n_processes=n, of_processes=of, reason=reason)


def _set(observations: Sequence[Observation]) -> list[Caution]:
    """Name what was set and may change what was measured."""
    having = [o.settings for o in observations if o.settings]
    if not having:
        return []
    names = sorted({f"{name}={value}" for one in having for name, value in one.items()})
    n_seen = len([o for o in observations if o.phases]) or len(having)
    processes = len(having), max(n_seen, len(having))
    return [_caution("settings", None, processes, because("settings", setting_names=names))]


def _parsed(observations: Sequence[Observation]) -> list[Caution]:
    """Warn where imports were slow because what they loaded had no bytecode."""
    counted = [o.bytecode for o in observations if o.bytecode and o.cache_mode != "first_ever"]
    slow = [counts for counts in counted if counts["without_bytecode"] >= _MANY_MODULES]
    if not slow:
        return []
    worst = max(slow, key=lambda counts: counts["without_bytecode"])
    missing = worst["without_bytecode"]
    n_modules = missing + worst["with_bytecode"]
    reason = because("no_bytecode", n_missing=missing, n_modules=n_modules)
    return [_caution("bytecode", None, (len(slow), len(counted)), reason)]


def _of_mode(observations: Sequence[Observation], mode: CacheMode, n_valid: int) -> list[Caution]:
    """Warn of processes that were rejected or that failed, and where few are left."""
    cautions = []
    reasons = rejected(observations, mode)
    failed = [o for o in observations if o.status == "failed" and o.cache_mode == mode]
    if reasons:
        processes = len(reasons), n_valid + len(reasons)
        cautions.append(_caution("rejected", mode, processes, _most_common(reasons)))
    if failed:
        reason = _most_common([o.reason or because("unstated") for o in failed])
        total = sum(claims(o, mode) for o in observations)
        cautions.append(_caution("failed", mode, (len(failed), total), reason))
    if n_valid < _FEW_PROCESSES:
        reason = because("few_valid", n_processes=n_valid)
        cautions.append(_caution("few", mode, (n_valid, n_valid), reason))
    return cautions


def _imprecise(
    mode: CacheMode, n: int, reached: float | None, asked: float | None
) -> list[Caution]:
    if asked is None or reached is None or reached <= asked:
        return []
    reason = because("imprecise", reached_share=reached, asked_share=asked)
    return [_caution("precision", mode, (n, n), reason)]


def _warm(
    observations: Sequence[Observation], warm: WarmSummary, processes: Sequence[WarmProcess]
) -> list[Caution]:
    cautions = []
    total = len(processes)
    if processes and not warm.steady.steady:
        cautions.append(_unsteady(warm.steady, processes))
    levels = [p.steadiness.levels for p in processes if p.steadiness.levels is not None]
    if levels:
        cautions.append(_caution("bimodal", WARM, (len(levels), total), two_levels(levels)))
    ratio = _second_call_ratio(processes)
    if ratio is not None and ratio >= _SLOW_SECOND_CALL:
        reason = because("slow_second_call", steady_ratio=ratio)
        cautions.append(_caution("second_call", WARM, (total, total), reason))
    cautions += _uneven(processes) + _memory(warm, processes) + _compiled(observations)
    return cautions + _other_calls(processes)


def _uneven(processes: Sequence[WarmProcess]) -> list[Caution]:
    """Warn where some calls are so slow that the mean, which totals have, is far from the median.

    In the middle of the processes: a burst that struck one of them says nothing of the program.
    """
    means = [float(np.mean(process.steadiness.samples)) for process in processes]
    medians = [float(np.median(process.steadiness.samples)) for process in processes]
    above = [mean > UNEVEN * median for mean, median in zip(means, medians, strict=True)]
    if 2 * sum(above) <= len(processes):
        return []
    values = {"mean_s": float(np.median(means)), "median_s": float(np.median(medians))}
    reason = because("mean_above_median", **values)
    return [_caution("uneven", WARM, (sum(above), len(processes)), reason)]


def _unsteady(found: SteadyState, processes: Sequence[WarmProcess]) -> Caution:
    """Warn of calls that are not steady: of their drift across processes, or of every process."""
    reason = found.reason
    if reason.parts:
        states = [process.steadiness.reason for process in processes]
        reason = _most_common(states, key=lambda reason: reason.code)
    return _caution("unsteady", WARM, (len(processes), len(processes)), reason)


def two_levels(levels: Sequence[TwoLevels]) -> Reason:
    """Return how far the two levels of some processes are apart, by the median of them."""
    gap = float(np.median([two.upper / two.lower - 1 for two in levels]))
    share = float(np.median([two.upper_share for two in levels]))
    return because("two_levels", upper_share=share, gap_share=gap)


def other_calls(seen: OtherCalls) -> list[Reason]:
    """Return what one process has shown of calls that the timed loop does not make."""
    usual_s = seen.usual_s
    found = []
    for code, seconds, far_s in (
        ("answers_kept", seen.other_arguments_s, OTHER_S),
        ("slow_after_pause", seen.paused_s, PAUSED_S),
    ):
        if seconds is not None and is_outlier(seconds, usual_s, far_s):
            found.append(because(code, other_s=seconds, usual_s=usual_s))
    spent_s = seen.collecting_s
    if spent_s is not None and spent_s > _COLLECTING * usual_s:
        found.append(because("collecting", collecting_s=spent_s, usual_s=usual_s))
    if seen.folded:
        found.append(because("constants_folded", program_names=seen.folded))
    return found


def _other_calls(processes: Sequence[WarmProcess]) -> list[Caution]:
    """Warn of what most processes have shown, with the figures of the first of them."""
    watched = [seen for process in processes if (seen := process.observation.other_calls)]
    reasons: dict[str, list[Reason]] = {}
    for seen in watched:
        for reason in other_calls(seen):
            reasons.setdefault(reason.code, []).append(reason)
    return [
        _caution("other_calls", WARM, (len(same), len(watched)), same[0])
        for same in reasons.values()
        if 2 * len(same) > len(watched)
    ]


def untried(seen: OtherCalls) -> Reason | None:
    """Return why one process has not shown what calls with other data do; ``None``: it has.

    It has where all arguments had other data, or where the answer to other data was another one:
    what is looked up by the others alone would not be.
    """
    why = seen.null_reasons.get("other_arguments_s")
    if seen.varied is None:  # as it was recorded before, which tells no more
        none = why is not None and why.code == "no_other_arguments"
        return because("untried", because("no_other_arguments")) if none else None
    if seen.varied and (not seen.not_varied or seen.answer_changed):
        return None
    faults = _of_arguments(seen) or [why or because("unstated")]
    return because("untried", *faults)


def _of_arguments(seen: OtherCalls) -> list[Reason]:
    """Return why arguments had no other data, by their names: so they stand in a file, too."""
    untried_ = sorted(seen.not_varied.items())
    return [because("of_argument", one, name=name) for name, one in untried_]


def partly_tried(seen: OtherCalls) -> Reason | None:
    """Return which arguments of one process had other data and which not; ``None``: all or none."""
    if not seen.varied or not seen.not_varied:
        return None
    names = {"argument_names": seen.varied, "other_names": sorted(seen.not_varied)}
    return because("partly_tried", *_of_arguments(seen), **names)


def _untried(observations: Sequence[Observation]) -> list[Caution]:
    """Warn where no process has shown what calls with other data do, or only for some of them."""
    seen = [one.other_calls for one in observations if one.other_calls is not None]
    if not seen:
        reasons = [one.null_reasons.get("other_calls") for one in observations]
        lost = [one for one in reasons if one is not None and one.code != "shown_by_others"]
        return [_caution("untried", None, (1, 1), because("untried", lost[0]))] if lost else []
    n_seen = len(seen)
    faults = [fault for one in seen if (fault := untried(one)) is not None]
    if len(faults) == n_seen:
        return [_caution("untried", None, (n_seen, n_seen), faults[0])]
    unlike = [one.unlike for one in seen if one.unlike is not None]
    if unlike:
        return [_caution("untried", None, (len(unlike), n_seen), unlike[0])]
    some = [why for one in seen if (why := partly_tried(one)) is not None]
    return [_caution("other_calls", None, (len(some), n_seen), some[0])] if some else []


_HELD_BACK = {"untried", "unlike_for_others", "answers_kept"}
"""Codes of cautions for which nothing is said to be the fastest, or the cheapest."""


def held_back(case: CaseResult) -> Reason | None:
    """Return why no headline may rest on a case; ``None``: one may."""
    found = (one.reason for one in case.warnings if one.reason.code in _HELD_BACK)
    return next(found, None)


def _memory(warm: WarmSummary, plain: Sequence[WarmProcess]) -> list[Caution]:
    """Warn where calls are clearly faster with freed memory kept, or where that cannot be told."""
    kept, returned = warm.kept_memory, warm.page_faults
    if returned is None:
        return []
    affected = [process for process in plain if gives_back(process.blocks)]
    n_faults = round(returned)
    if kept is not None and kept.comparison.verdict == "faster" and kept.comparison.ratio:
        gain = 1 / kept.comparison.ratio
        reason = because("memory_returned", gain_ratio=gain, n_faults=n_faults)
    elif affected and (kept is None or kept.comparison.verdict == "undecided"):
        reason = because("memory_may_be_returned", n_faults=n_faults)
    else:
        return []
    return [
        Caution(
            kind="allocator",
            cache_mode=WARM,
            n_processes=len(affected),
            of_processes=len(plain),
            reason=reason,
        )
    ]


def _compiled(observations: Sequence[Observation]) -> list[Caution]:
    blocked = [o for o in observations if o.blocks]
    dirty = [sum(not is_clean(block) for block in o.blocks) for o in blocked]
    if not any(dirty):
        return []
    processes = sum(n > 0 for n in dirty), len(blocked)
    return [_caution("compiled", WARM, processes, because("compiled_blocks", n_blocks=sum(dirty)))]


def _second_call_ratio(processes: Sequence[WarmProcess]) -> float | None:
    """Return the median of the second call over the steady call, or ``None`` without both."""
    ratios = [
        second / steady
        for process in processes
        if (second := process.observation.phase_s("second_call")) is not None
        and (steady := float(np.median(process.steadiness.samples))) > 0
    ]
    return float(np.median(ratios)) if ratios else None


def _noisy(observations: Sequence[Observation]) -> list[Caution]:
    """Warn of noise: one caution for each disturbance, with the worst of its processes."""
    watched = [o.telemetry.flags for o in observations if o.telemetry is not None]
    disturbances: dict[str, list[Reason]] = {}
    for flags in watched:
        for flag in {flag.code: flag for flag in flags}.values():
            disturbances.setdefault(flag.code, []).append(flag)
    return [
        _caution("noisy", None, (len(flags), len(watched)), max(flags, key=severity))
        for flags in disturbances.values()
    ]


def severity(flag: Reason) -> float:
    """Return the largest number of a flag, in the unit of its parameter."""
    return max((float(v) for v in flag.values.values() if isinstance(v, int | float)), default=0.0)


def _most_common(reasons: Sequence[Reason], key: Callable[[Reason], str] = brief) -> Reason:
    """Return the most common reason, and how many others there are, as the key tells them apart."""
    first = {key(reason): reason for reason in reversed(reasons)}
    (common, _), *others = Counter(map(key, reasons)).most_common()
    return because("most_common", first[common], n_others=len(others)) if others else first[common]
