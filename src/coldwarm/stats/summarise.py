"""Summaries and comparisons of a case, computed from its observations alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from coldwarm.contracts.answer import Caution, DefaultSettings, KeptMemory
from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.observation import PHASES, Counts, published
from coldwarm.contracts.reasons import because, distinct
from coldwarm.contracts.result import ColdSummary, SteadyState, WarmSummary
from coldwarm.stats.cautions import case_warnings, kept_itself
from coldwarm.stats.common_start import levelled
from coldwarm.stats.intervals import paired, precision_of, summary
from coldwarm.stats.ratio import compare, compare_pairs, compare_starts, log_ratios, shared_ratios
from coldwarm.stats.selection import (
    GAIN,
    WarmProcess,
    by_round,
    claims,
    counted,
    counts,
    filled_by_default,
    gives_back,
    keeping,
    median_per_call,
    rejected,
    starts_in_turns,
    warm_processes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Unpack

    from coldwarm.contracts.answer import Comparison, Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.ratio import Criteria
    from coldwarm.stats.steady import Steadiness


@dataclass(frozen=True)
class CaseSummary:
    """Computed part of a case: fields of ``CaseResult`` of the same names."""

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
    cold = [_cold_summary(observations, mode) for mode in cache_modes if mode != WARM]
    processes = warm_processes(observations) if WARM in cache_modes else []
    warm = warm_summary(observations, processes) if WARM in cache_modes else None
    warnings = case_warnings(observations, cold, warm, processes, precision)
    warnings += kept_itself(cold, inspected_call_s)
    counted, differing = _counts_of_case(observations)
    return CaseSummary(cold, warm, warnings + differing, counted)


def _cold_summary(observations: Sequence[Observation], mode: CacheMode) -> ColdSummary:
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
    judged = headline(valid)
    reached = precision_of(seconds[judged]) if judged in seconds else None
    if reached is None:
        reasons["precision_reached"] = because("no_interval", figure=judged)
    share, no_share = _compiling_share(valid)
    if no_share is not None:
        reasons["compiling_share"] = no_share
    default, no_default = _by_default(observations, mode, seconds)
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


def figure(observation: Observation, name: str) -> float | None:
    """Return a figure of one process in seconds, by its key in ``ColdSummary.seconds``."""
    if name == "ttfr":
        return observation.ttfr_s
    if name == "ttfr_process":
        return observation.ttfr_process_s
    if name == "start":
        return _start(observation)
    if name in _LOOP_FIGURES:
        return _loop_figure(observation, name)
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
    names += [f"first_call.{part}" for part in _CALL_PARTS]
    if any(name.startswith("new_shape_") for name in names):
        names.append("new_shape")
    if any(observation.loop for observation in observations):
        names += _LOOP_FIGURES
    return list(dict.fromkeys(names))


def _why_absent(observations: Sequence[Observation], name: str) -> Reason:
    """Return the reason that the processes give for a figure that none of them has."""
    if not observations:
        return because("no_valid_process")
    if name in _LOOP_FIGURES:
        return _why_no_loop_figure(observations, name)
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
    page_faults = median_per_call(p.blocks for p in processes)
    if page_faults is None:
        reasons["page_faults"] = because("not_recorded")
    kept, not_kept = _kept_memory(observations, processes)
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


def weakened(reason: Reason, *states: SteadyState) -> Reason:
    """Add to a verdict's reason why the calls of a side, or of both, are not steady."""
    moving = distinct(state.reason for state in states if state.n_processes and not state.steady)
    return because("several", reason, *moving) if moving else reason


def compare_case(
    baseline: str,
    theirs: Sequence[Observation],
    ours: Sequence[Observation],
    cache_modes: Sequence[CacheMode],
    *,
    alike: bool = False,
    **limits: Unpack[Criteria],
) -> list[Comparison]:
    """Compare the observations of a case (``ours``) with those of its baseline (``theirs``).

    The metrics are ``<cache mode>.ttfr_s`` for each cold mode, of a scenario also
    ``<cache mode>.total_s``, and ``warm.call_s``. ``alike`` says whether their processes start
    alike (``common_start``).
    """
    comparisons = []
    if alike:
        ours, theirs = levelled((ours, theirs))
    for mode in cache_modes:
        if mode == WARM:
            comparisons.append(_compare_warm(baseline, theirs, ours, limits))
            continue
        for name in _headlines([*ours, *theirs]):
            judged = compare_cold(baseline, theirs, ours, mode, name, **limits)
            comparisons.append(_with_common_start(judged) if alike else judged)
    return comparisons


def compare_cold(
    baseline: str,
    theirs: Sequence[Observation],
    ours: Sequence[Observation],
    mode: CacheMode,
    name: str,
    **limits: Unpack[Criteria],
) -> Comparison:
    """Compare a figure of a cold cache mode, such as ``ttfr`` or ``first_call``."""
    first, second = (cold_rounds(side, mode, name) for side in (ours, theirs))
    ratios = ratios_in_turns(ours, theirs, mode, name)
    return compare_starts(f"{mode}.{name}_s", baseline, first, second, ratios, **limits)


def _with_common_start(judged: Comparison) -> Comparison:
    """Return a verdict whose reason tells what counts for the starts of both sides."""
    if judged.ratio is None:
        return judged
    reason = because("several", judged.reason, because("common_start"))
    return msgspec.structs.replace(judged, reason=reason)


def cold_rounds(
    observations: Sequence[Observation], mode: CacheMode, name: str
) -> dict[str, list[float]]:
    """Return by round a figure of a cold cache mode, such as ``ttfr`` or ``first_call``."""
    values = [(o, figure(o, name)) for o in counted(observations, mode)]
    return by_round((o, [value]) for o, value in values if value is not None)


def ratios_in_turns(
    ours: Sequence[Observation], theirs: Sequence[Observation], mode: CacheMode, name: str
) -> list[float]:
    """Return the log-ratios of a figure, ours over theirs, of starts that took turns together.

    Those are of one round and begun for one mode, though they may show another as well.
    """
    first, second = (
        {(one.round, one.cache_mode): figure(one, name) for one in starts_in_turns(side, mode)}
        for side in (ours, theirs)
    )
    pairs = [(mine, second.get(key)) for key, mine in sorted(first.items())]
    return [math.log(mine / other) for mine, other in pairs if mine and other]


def _compare_warm(
    baseline: str,
    theirs: Sequence[Observation],
    ours: Sequence[Observation],
    limits: Criteria,
) -> Comparison:
    """Compare the warm calls; say so where those of either side were not steady.

    Blocks that alternated are compared in pairs; else the steady samples of the processes.
    """
    sides = [warm_processes(side) for side in (ours, theirs)]
    pairs = log_ratios(*sides)
    if pairs is not None:
        judged = compare_pairs("warm.call_s", baseline, pairs, shared_ratios(*sides), **limits)
    else:
        first, second = (by_round((p.observation, p.steadiness.samples) for p in s) for s in sides)
        judged = compare("warm.call_s", baseline, first, second, **limits)
    reason = weakened(judged.reason, *map(steady_state, sides))
    return msgspec.structs.replace(judged, reason=reason)


_CALL_PARTS = ("trace", "lower", "compile", "cache_read", "rest")
_LOOP_FIGURES = (
    "total",
    "loop",
    *(f"loop.{part}" for part in _CALL_PARTS),
    "step.compiling",
    "step.plain",
)
"""Keys of ``ColdSummary.seconds`` that a scenario has besides."""
_NO_STEP = {
    "step.compiling": because("no_compiling_step"),
    "step.plain": because("no_plain_step"),
}


def _loop_figure(observation: Observation, name: str) -> float | None:
    """Return one of ``FIGURES`` of a process, in seconds; ``None`` where it has none."""
    account = observation.loop
    if account is None:
        return None
    if name in {"total", "loop"}:
        return account.total_s if name == "total" else account.loop_s
    if name in _NO_STEP:
        return _step_s(observation, compiling=name == "step.compiling")
    value: float | None = getattr(account.parts, f"{name.removeprefix('loop.')}_s")
    return value


def headline(observations: Sequence[Observation]) -> str:
    """Return the figure that stands for a cold mode: of a scenario, that of its whole loop."""
    return _headlines(observations)[-1]


def _headlines(observations: Sequence[Observation]) -> tuple[str, ...]:
    """Return the figures by which candidates are compared in a cold mode."""
    whole = any(observation.loop for observation in observations)
    return ("ttfr", "total") if whole else ("ttfr",)


def _why_no_loop_figure(observations: Sequence[Observation], name: str) -> Reason:
    """Return the reason for a figure that none of the processes has."""
    for observation in observations:
        account = observation.loop
        if account is None:
            continue
        if name in _NO_STEP:
            return account.null_reasons.get("compiling_steps", _NO_STEP[name])
        field = f"{name.removeprefix('loop.')}_s"
        return account.parts.null_reasons.get(field, because("not_recorded"))
    return because("not_recorded")


def _compiling_share(
    observations: Sequence[Observation],
) -> tuple[Summary, None] | tuple[None, Reason]:
    """Summarise the share of the total spent compiling; else say why there is none."""
    accounts = [o.loop for o in observations if o.loop is not None]
    if not accounts:
        return None, because("no_scenario" if observations else "no_valid_process")
    groups = [[a.compiling_share] for a in accounts if a.compiling_share is not None]
    if groups:
        return summary(groups), None
    return None, accounts[0].null_reasons["compiling_share"]


def _step_s(observation: Observation, *, compiling: bool) -> float | None:
    """Return the mean of the steps after the first one that compiled, or that did not."""
    spent = [step_s for _, step_s in _later_steps(observation, compiling=compiling)]
    return math.fsum(spent) / len(spent) if spent else None


def _later_steps(observation: Observation, *, compiling: bool) -> list[tuple[int, float]]:
    """Return place and seconds of the steps after the first one that compiled, or did not."""
    account = observation.loop
    if account is None or account.compiling_steps is None:
        return []
    places = set(account.compiling_steps)
    later = list(enumerate(account.steps_s))[1:]
    return [(place, step_s) for place, step_s in later if (place in places) == compiling]


def _kept_memory(
    observations: Sequence[Observation], plain: Sequence[WarmProcess]
) -> tuple[KeptMemory, None] | tuple[None, Reason]:
    """Summarise warm calls where freed memory is kept, and hold them against those as they come.

    ``plain`` are the processes that the published figure is from.
    """
    other = keeping(observations)
    kept = warm_processes(other)
    if kept and plain:
        made = KeptMemory(
            n_processes=len(kept),
            call_s=summary([process.steadiness.samples for process in kept]),
            page_faults=median_per_call(p.blocks for p in kept),
            comparison=_compare_warm(
                "as_it_is", published(observations), other, {"threshold": GAIN}
            ),
        )
        return made, None
    few = median_per_call(p.blocks for p in plain)
    if few is not None and not any(gives_back(process.blocks) for process in plain):
        return None, because("few_page_faults", n_faults=round(few))
    return None, because("memory_not_compared")


def _by_default(
    observations: Sequence[Observation], mode: CacheMode, names: Iterable[str]
) -> tuple[DefaultSettings, None] | tuple[None, Reason]:
    """Summarise starts with caches that the framework's own settings have filled."""
    if mode != FILLED:
        return None, because("not_filled")
    seen = [one for one in filled_by_default(observations) if claims(one, FILLED)]
    valid = [one for one in seen if counts(one, FILLED)]
    if valid:
        seconds: dict[str, Summary] = {}
        for name in names:
            values = [value for one in valid if (value := figure(one, name)) is not None]
            if values:
                seconds[name] = summary([[value] for value in values])
        rejected = sum(one.status != "failed" for one in seen) - len(valid)
        return DefaultSettings(n_ok=len(valid), n_rejected=rejected, seconds=seconds), None
    kept = {e.kept_by_default for one in published(observations) for e in one.evidence}
    if kept <= {"all", None} and "all" in kept:
        return None, because("same_by_default")
    return None, because("not_measured_by_default")


def _counts_of_case(observations: Sequence[Observation]) -> tuple[Counts, list[Caution]]:
    """Return what the processes of a case have counted alike, and a caution where they differ."""
    valid = [one for one in published(observations) if one.status == "ok"]
    # Calls in new shapes are made in some processes only, and these count what they compile.
    shaped = [one for one in valid if one.new_shape_s is not None]
    seen = [one.counts for one in shaped or valid]
    made = joined_counts(seen)
    cautions = []
    for name, why in made.null_reasons.items():
        numbers = [one.numbers[name] for one in seen if name in one.numbers]
        if numbers:
            ((_, n_alike),) = Counter(numbers).most_common(1)
            cautions.append(
                Caution(
                    kind="counts",
                    n_processes=len(numbers) - n_alike,
                    of_processes=len(numbers),
                    reason=why,
                )
            )
    return made, cautions


def joined_counts(seen: Sequence[Counts]) -> Counts:
    """Return what several have counted alike; a reason for what differs, or is not known."""
    names = dict.fromkeys(name for one in seen for name in (*one.numbers, *one.null_reasons))
    made = Counts(numbers={}, null_reasons={})
    for name in names:
        numbers = [one.numbers[name] for one in seen if name in one.numbers]
        if not numbers:
            told = (one.null_reasons.get(name) for one in seen)
            made.null_reasons[name] = next(why for why in told if why is not None)
        elif min(numbers) == max(numbers):
            made.numbers[name] = numbers[0]
        else:
            least, most = min(numbers), max(numbers)
            why = because("counts_differ", name=name, n_least=least, n_most=most)
            made.null_reasons[name] = why
    return made


_SMALLEST_DRIFT = 0.005
"""Change from half-time to the end that is too small to matter, relatively."""
_FEWEST_PROCESSES = 3
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class _Drift:
    """Relative change of the calls of a case from half-time on, with its interval at 95 %."""

    share: float
    low: float
    high: float
    n_processes: int

    @property
    def matters(self) -> bool:
        """Whether the whole interval lies beyond what is too small to matter."""
        return self.low > _SMALLEST_DRIFT or self.high < -_SMALLEST_DRIFT


def _across(changes: Sequence[float | None]) -> _Drift | None:
    """Return what processes show together, each by its slope; ``None``: they are too few."""
    known = [change for change in changes if change is not None]
    if len(known) < _FEWEST_PROCESSES:
        return None
    found = paired(known, _CONFIDENCE)
    share, low, high = (math.expm1(min(x, 1.0)) for x in (found.middle, found.low, found.high))
    return _Drift(share, low, high, len(known))


_LARGE_MOTION = 0.2
"""Motion of a process that is not put down to the machine, relatively."""


def steady_state(processes: Sequence[WarmProcess]) -> SteadyState:
    """Say whether the warm calls of a case were steady.

    They were not where their drift across processes matters (see ``drift``), nor where no
    process became steady and they moved by much, or, with fewer processes than can be tested,
    at all.
    """
    states = [process.steadiness for process in processes]
    found = _across([state.change for state in states])
    against = _against(states, found)
    return SteadyState(
        steady=against is None,
        reason=against or _in_favour(processes, found),
        n_processes=len(states),
        n_steady=sum(state.steady for state in states),
        warmup_samples=[process.warmup for process in processes],
        drift_share=None if found is None else found.share,
        drift_low=None if found is None else found.low,
        drift_high=None if found is None else found.high,
    )


def _against(states: Sequence[Steadiness], found: _Drift | None) -> Reason | None:
    if not states:
        return because("no_valid_process")
    if found is not None and found.matters:
        n = found.n_processes
        bounds = {"low_share": found.low, "high_share": found.high}
        return because("drifts_across", change_share=found.share, **bounds, n_processes=n)
    if any(state.steady for state in states):
        return None
    if found is not None and np.median([_motion(state.reason) for state in states]) < _LARGE_MOTION:
        return None
    unsteady = because("unsteady", n_unsteady=len(states), n_processes=len(states))
    return because("several", unsteady, *distinct(state.reason for state in states))


def _in_favour(processes: Sequence[WarmProcess], found: _Drift | None) -> Reason:
    n_steady = sum(process.steadiness.steady for process in processes)
    longest = max(process.warmup for process in processes)
    if n_steady == len(processes):
        return because("steady", n_processes=n_steady, n_warmup=longest)
    if found is None:
        return because("steady_of_few", n_steady=n_steady, n_processes=len(processes))
    bounds = {"low_share": found.low, "high_share": found.high}
    counts = {"n_steady": n_steady, "n_processes": len(processes)}
    return because("steady_across", change_share=found.share, **bounds, **counts)


def _motion(reason: Reason) -> float:
    """Return by how much the level of a process moved, relatively; infinite: it cannot be told."""
    for name in ("range_share", "change_share"):
        share = reason.values.get(name)
        if isinstance(share, float):
            return abs(share)
    return math.inf
