"""A case's summaries, warnings and comparisons, computed from its observations alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import msgspec

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.observation import PHASES
from coldwarm.contracts.reasons import because, distinct
from coldwarm.contracts.result import ColdSummary, WarmSummary
from coldwarm.stats import beside, counts, faults, loops
from coldwarm.stats.cautions import case_warnings, kept_itself
from coldwarm.stats.distribution import summary
from coldwarm.stats.drift import steady_state
from coldwarm.stats.pairs import log_ratios
from coldwarm.stats.precision import precision_of
from coldwarm.stats.ratio import CONFIDENCE, THRESHOLD, compare, compare_pairs
from coldwarm.stats.selection import (
    WarmProcess,
    by_round,
    claims,
    counted,
    rejected,
    warm_processes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.answer import Caution, Comparison, DefaultSettings, Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Counts, Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import SteadyState


class _Limits(TypedDict):
    threshold: float
    confidence: float
    tested: bool


@dataclass(frozen=True)
class CaseSummary:
    """What is computed of a case: fields of ``CaseResult`` of the same names."""

    cold: list[ColdSummary]
    warm: WarmSummary | None
    warnings: list[Caution]
    counts: Counts


def summarise(
    observations: Sequence[Observation],
    cache_modes: Sequence[CacheMode],
    *,
    precision: float | None = None,
    inspected_call_s: float | None = None,
) -> CaseSummary:
    """Summarise a case over the cache modes that it was measured in.

    ``precision`` is the relative half-width that was asked for; without it, no warning
    says that it was not reached. ``inspected_call_s`` is what making and calling a user's own
    function for the first time took when it was inspected.
    """
    cold = [cold_summary(observations, mode) for mode in cache_modes if mode != WARM]
    processes = warm_processes(observations) if WARM in cache_modes else []
    warm = warm_summary(observations, processes) if WARM in cache_modes else None
    warnings = case_warnings(observations, cold, warm, processes, precision)
    warnings += kept_itself(cold, inspected_call_s)
    counted, differing = counts.of_case(observations)
    return CaseSummary(cold, warm, warnings + differing, counted)


def cold_summary(observations: Sequence[Observation], mode: CacheMode) -> ColdSummary:
    """Summarise one cold mode; figures that no process has are absent, with the reason."""
    valid = counted(observations, mode)
    seconds: dict[str, Summary] = {}
    reasons: dict[str, Reason] = {}
    for name in _figure_names(valid):
        values = [figure(observation, name) for observation in valid]
        groups = [[value] for value in values if value is not None]
        if groups:
            seconds[name] = summary(groups)
        else:
            reasons[name] = _why_absent(valid, name)
    peaks = [[float(peak)] for o in valid if (peak := o.peak_rss_bytes) is not None]
    if not peaks:
        reasons["peak_rss_bytes"] = _why_no_memory(valid)
    judged = loops.headline(valid)
    reached = precision_of(seconds[judged]) if judged in seconds else None
    if reached is None:
        reasons["precision_reached"] = because("no_interval", figure=judged)
    share, no_share = loops.share(valid)
    if no_share is not None:
        reasons["compiling_share"] = no_share
    default, no_default = _by_default(observations, mode, list(seconds))
    if no_default is not None:
        reasons["framework_default"] = no_default
    return ColdSummary(
        compiling_share=share,
        framework_default=default,
        cache_mode=mode,
        n_ok=len(valid),
        n_rejected=len(rejected(observations, mode)),
        n_failed=sum(o.status == "failed" and claims(o, mode) for o in observations),
        seconds=seconds,
        peak_rss_bytes=summary(peaks) if peaks else None,
        precision_reached=reached,
        null_reasons=reasons,
    )


def _by_default(
    observations: Sequence[Observation], mode: CacheMode, names: Sequence[str]
) -> tuple[DefaultSettings, None] | tuple[None, Reason]:
    if mode != FILLED:
        return None, because("not_filled")
    return beside.by_default(observations, figure, names)


def figure(observation: Observation, name: str) -> float | None:
    """Return a figure of one process in seconds, by its key in ``ColdSummary.seconds``."""
    if name == "ttfr":
        return observation.ttfr_s
    if name == "ttfr_process":
        return observation.ttfr_process_s
    if name == "start":
        return _start(observation)
    if name in loops.FIGURES:
        return loops.figure(observation, name)
    return observation.new_shape_s if name == "new_shape" else _phase_or_part(observation, name)


def _phase_or_part(observation: Observation, name: str) -> float | None:
    phase, _, part = name.partition(".")
    if not part:
        return observation.phase_s(phase)
    value: float | None = getattr(observation.first_call_parts, f"{part}_s", None)
    return value


def _start(observation: Observation) -> float | None:
    """Return what the way to the first result took besides import, build, wrap and first call.

    That is the interpreter's start, the first query of the devices and placing the inputs.
    """
    named = [observation.phase_s(name) for name in ("import", "wrap", "first_call")]
    named += [observation.phase_s("build") or 0.0]  # only where there is a factory
    spent = [seconds for seconds in named if seconds is not None]
    if observation.ttfr_process_s is None or len(spent) < len(named):
        return None
    return max(0.0, observation.ttfr_process_s - sum(spent))


def _figure_names(observations: Sequence[Observation]) -> list[str]:
    """Return the headline figures, every phase in the order of life, the first call's parts."""
    names = ["ttfr", "ttfr_process", "start", *PHASES]
    if any(observation.phase_s("build") is not None for observation in observations):
        names.insert(names.index("wrap"), "build")
    names += [phase.name for observation in observations for phase in observation.phases]
    names += [f"first_call.{part}" for part in loops.PARTS]
    if any(name.startswith("new_shape_") for name in names):
        names.append("new_shape")
    if any(observation.loop for observation in observations):
        names += loops.FIGURES
    return list(dict.fromkeys(names))


def _why_absent(observations: Sequence[Observation], name: str) -> Reason:
    """Return the reason that the processes give for a figure that none of them has."""
    if not observations:
        return because("no_valid_process")
    if name in loops.FIGURES:
        return loops.why_absent(observations, name)
    part = name.removeprefix("first_call.")
    for observation in observations:
        parts = observation.first_call_parts
        if part != name and parts is not None and f"{part}_s" in parts.null_reasons:
            return parts.null_reasons[f"{part}_s"]
        for field in (f"{name}_s", name, "first_call_parts" if part != name else "phases"):
            if field in observation.null_reasons:
                return observation.null_reasons[field]
    return because("not_recorded")


def _why_no_memory(observations: Sequence[Observation]) -> Reason:
    if not observations:
        return because("no_valid_process")
    given = (o.phases[-1].null_reasons.get("peak_rss_bytes") for o in observations if o.phases)
    return next((reason for reason in given if reason), because("not_recorded"))


def warm_summary(
    observations: Sequence[Observation], processes: Sequence[WarmProcess]
) -> WarmSummary:
    """Summarise the warm regime over the processes that ``warm_processes`` returned."""
    batches = {block.batch for process in processes for block in process.blocks}
    reasons: dict[str, Reason] = {}
    call = None
    if processes:
        call = summary([process.steadiness.samples for process in processes])
    else:
        reasons["call_s"] = reasons["batch"] = because("no_warm_samples")
    if len(batches) > 1:
        reasons["batch"] = because("batches_differ", batch_names=[*map(str, sorted(batches))])
    reached = None if call is None else precision_of(call)
    if reached is None:
        reasons["precision_reached"] = because("no_interval", figure="call_s")
    page_faults = faults.median_per_call(p.blocks for p in processes)
    if page_faults is None:
        reasons["page_faults"] = because("not_recorded")
    kept, not_kept = beside.kept_memory(observations, processes, _against_plain)
    if not_kept is not None:
        reasons["kept_memory"] = not_kept
    return WarmSummary(
        n_processes=len(processes),
        n_rejected=len(rejected(observations, WARM)),
        call_s=call,
        steady=steady_state(processes),
        batch=next(iter(batches)) if len(batches) == 1 else None,
        page_faults=page_faults,
        kept_memory=kept,
        precision_reached=reached,
        null_reasons=reasons,
    )


def _against_plain(plain: Sequence[Observation], kept: Sequence[Observation]) -> Comparison:
    limits: _Limits = {"threshold": faults.GAIN, "confidence": CONFIDENCE, "tested": True}
    return _compare_warm("as_it_is", plain, kept, limits)


def weakened(reason: Reason, *states: SteadyState) -> Reason:
    """Add to a verdict's reason why the calls of a side, or of both, are not steady."""
    moving = distinct(state.reason for state in states if state.n_processes and not state.steady)
    return because("several", reason, *moving) if moving else reason


def compare_case(  # noqa: PLR0913 - two sides and two choices, each by name
    baseline: str,
    theirs: Sequence[Observation],
    ours: Sequence[Observation],
    cache_modes: Sequence[CacheMode],
    *,
    threshold: float = THRESHOLD,
    confidence: float = CONFIDENCE,
    tested: bool = True,
) -> list[Comparison]:
    """Compare the observations of a case (``ours``) with those of its baseline (``theirs``).

    The metrics are ``<cache mode>.ttfr_s`` for each cold mode, of a scenario also
    ``<cache mode>.total_s``, and ``warm.call_s``. ``tested``: with p-values.
    """
    limits: _Limits = {"threshold": threshold, "confidence": confidence, "tested": tested}
    comparisons = []
    for mode in cache_modes:
        if mode == WARM:
            comparisons.append(_compare_warm(baseline, theirs, ours, limits))
            continue
        for name in loops.headlines([*ours, *theirs]):
            first, second = (cold_rounds(side, mode, name) for side in (ours, theirs))
            comparisons.append(compare(f"{mode}.{name}_s", baseline, first, second, **limits))
    return comparisons


def cold_rounds(
    observations: Sequence[Observation], mode: CacheMode, name: str
) -> dict[str, list[float]]:
    """Return by round a figure of a cold cache mode, such as ``ttfr`` or ``first_call``."""
    values = [(o, figure(o, name)) for o in counted(observations, mode)]
    return by_round((o, [value]) for o, value in values if value is not None)


def _compare_warm(
    baseline: str,
    theirs: Sequence[Observation],
    ours: Sequence[Observation],
    limits: _Limits,
) -> Comparison:
    """Compare the warm calls; say so where those of either side were not steady.

    Blocks that alternated are compared in pairs; else the steady samples of the processes.
    """
    sides = [warm_processes(side) for side in (ours, theirs)]
    pairs = log_ratios(*sides)
    if pairs is not None:
        judged = compare_pairs("warm.call_s", baseline, pairs, **limits)
    else:
        first, second = (by_round((p.observation, p.steadiness.samples) for p in s) for s in sides)
        judged = compare("warm.call_s", baseline, first, second, **limits)
    reason = weakened(judged.reason, *map(steady_state, sides))
    return msgspec.structs.replace(judged, reason=reason)
