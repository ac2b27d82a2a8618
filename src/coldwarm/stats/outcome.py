"""Outcome of a case: its status, its gates, and what is computed of it from its observations alone.

Whoever measures and whoever reads a stored result asks the same functions, so that nothing that can
be computed has to be believed.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from coldwarm.contracts import nextstat
from coldwarm.contracts.observation import Counts, published
from coldwarm.contracts.reasons import because, is_wrong
from coldwarm.stats import ratio, summarise
from coldwarm.stats.common_start import starts_alike
from coldwarm.stats.selection import counted, failure, warm_processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode, Status
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.nextstat import NextstatResult
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Protocol


def status_of(
    observations: Sequence[Observation], modes: Sequence[CacheMode]
) -> tuple[Status, Reason | None]:
    """Return the status of a case that could be measured, and the reason where it is not fine."""
    failed = failure(observations)
    if failed is not None:
        absent = failed.reason is not None and failed.reason.code == "gpu_unavailable"
        return "warn" if absent else "failed", failed.reason
    missing = [mode for mode in modes if not counted(observations, mode)]
    return ("warn", _why_missing(missing, observations)) if missing else ("ok", None)


def _why_missing(missing: Sequence[CacheMode], observations: Sequence[Observation]) -> Reason:
    names: list[str] = list(missing)
    rejected = [o.reason for o in published(observations) if o.status == "rejected" and o.reason]
    if not rejected:
        return because("not_measured", mode_names=names)
    return because("not_proved", rejected[-1], mode_names=names)


def summary_of(
    observations: Sequence[Observation],
    reason: Reason | None,
    protocol: Protocol,
    inspected_call_s: float | None = None,
) -> summarise.CaseSummary:
    """Summarise a case; of one that did not run, or gave a wrong answer, there is only the reason.

    Where verdicts decided how much was measured, no precision was asked for.
    """
    if not observations or is_wrong(reason):
        return summarise.CaseSummary(cold=[], warm=None, warnings=[], counts=Counts())
    effort = protocol.effort
    return summarise.summarise(
        observations,
        protocol.cache_modes,
        precision=effort.precision if effort.decide is None else None,
        inspected_call_s=inspected_call_s,
    )


def with_comparisons(
    results: Sequence[CaseResult], threshold: float | None = None
) -> list[CaseResult]:
    """Compare every case with the baseline of its workload, size and dtype.

    The verdicts of all are held to an error rate together. Those of a control, whose truth is
    known, are not: they only withhold others.
    """
    baselines = {
        (result.workload, result.size, result.dtype): result
        for result in results
        if result.baseline and result.status == "ok"
    }
    compared = []
    for result in results:
        baseline = baselines.get((result.workload, result.size, result.dtype))
        if baseline is None or result.status != "ok" or result.baseline:
            compared.append(result)
            continue
        comparisons = summarise.compare_case(
            baseline.case,
            baseline.observations,
            result.observations,
            result.protocol.cache_modes,
            alike=starts_alike(baseline.protocol.own, result.protocol.own),
            threshold=ratio.THRESHOLD if threshold is None else threshold,
        )
        compared.append(replace(result, comparisons=comparisons))
    controls = [result for result in compared if result.control_of is not None]
    others = [result for result in compared if result.control_of is None]
    held = iter(ratio.held([one for result in others for one in result.comparisons]))
    judged = {
        result.case: _withheld(list(islice(held, len(result.comparisons))), controls)
        for result in others
    }
    return [
        replace(result, comparisons=judged.get(result.case, result.comparisons))
        for result in compared
    ]


def without_timing(seen: Observation) -> Observation:
    """Return an observation of a wrong answer with no figure that could be quoted."""
    gone = ("ttfr_s", "ttfr_process_s", "first_call_parts", "loop", "harness", "telemetry")
    return replace(
        seen,
        phases=[],
        blocks=[],
        evidence=[replace(found, raw={}) for found in seen.evidence],
        **dict.fromkeys(gone),
        null_reasons=dict.fromkeys(gone, because("correctness_gate")),
    )


def published_of(result: CaseResult, environment: Environment) -> list[tuple[str, NextstatResult]]:
    """Return names and published results of a case."""
    steady = [process.steadiness.samples for process in warm_processes(result.observations)]
    return nextstat.express(result, environment, steady)


def _withheld(
    comparisons: Sequence[Comparison], controls: Iterable[CaseResult]
) -> list[Comparison]:
    """Return the comparisons, undecided where a control differs from the same baseline."""
    found_of = {(one.baseline, one.metric): (control, one) for control, one in differing(controls)}

    def judged(one: Comparison) -> Comparison:
        found = found_of.get((one.baseline, one.metric))
        if found is None or one.verdict == "undecided":
            return one
        reason = doubt_of_control(*found, one.reason)
        unknown = {"p_value": None, "smallest_detectable": None}
        return replace(one, verdict="undecided", reason=reason, **unknown)

    return [judged(one) for one in comparisons]


def differing(controls: Iterable[CaseResult]) -> list[tuple[CaseResult, Comparison]]:
    """Return each verdict by which a program differs from itself, and the control that has it."""
    return [
        (control, one)
        for control in controls
        for one in control.comparisons
        if one.verdict in {"faster", "slower"}
    ]


def doubt_of_control(control: CaseResult, one: Comparison, basis: Reason) -> Reason:
    """Return why a verdict with this basis is withheld: a control differs, too."""
    of = control.control_of or one.baseline
    told: dict[str, Any] = {"control": control.candidate, "of": of, "control_ratio": one.ratio}
    return because("control_differs", basis, **told)


class _Gates(NamedTuple):
    """The gates of a case's processes together."""

    n_checked: int
    n_passed: int
    worst: float | None
    """The largest error; ``None``: no gate has one."""
    tolerance: float
    checked: tuple[str, ...]
    reason: Reason | None
    """Reason of the first gate that was not passed, or of the last one that gives any."""


def gates(observations: Iterable[Observation]) -> _Gates | None:
    """Return the gates of all processes together; ``None``: nothing was checked."""
    found = [seen.gate for seen in observations if seen.gate is not None]
    if not found:
        return None
    errors = [one.error for one in found if one.error is not None]
    given = sorted((one for one in found if one.reason), key=lambda one: one.passed)
    return _Gates(
        n_checked=len(found),
        n_passed=sum(one.passed for one in found),
        worst=max(errors, default=None),
        tolerance=max(one.tolerance for one in found),
        checked=tuple(dict.fromkeys(name for one in found for name in one.checked)),
        reason=given[0].reason if given else None,
    )


class _GroupGates(NamedTuple):
    """The gates of a group of cases together."""

    n_cases: int
    n_checked: int
    n_passed: int
    failed: tuple[str, ...]
    """Candidates with an output that was wrong."""
    worst: float | None
    """The largest error of all; ``None``: no gate has one."""
    tolerance: float


def of_group(cases: Iterable[CaseResult]) -> _GroupGates | None:
    """Return the gates of cases together; ``None``: nothing of them was checked."""
    known = [(case, found) for case in cases if (found := gates(case.observations)) is not None]
    if not known:
        return None
    errors = [found.worst for _, found in known if found.worst is not None]
    return _GroupGates(
        n_cases=len(known),
        n_checked=sum(found.n_checked for _, found in known),
        n_passed=sum(found.n_passed for _, found in known),
        failed=tuple(case.candidate for case, found in known if found.n_passed < found.n_checked),
        worst=max(errors, default=None),
        tolerance=max(found.tolerance for _, found in known),
    )
