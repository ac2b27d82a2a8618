"""Everything that is computed of a case, computed again from its observations. Pure.

The rules are those of today, whichever version wrote the case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.caches import modes
from coldwarm.contracts.base import WARM
from coldwarm.contracts.reasons import because, is_wrong, together
from coldwarm.runner.schedule import limits
from coldwarm.runner.schedule.killed import from_outside
from coldwarm.stats import outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Judgement, Observation
    from coldwarm.contracts.result import CaseResult

_OWN_DECISION = "bench"
"""The suite whose verdicts decided, where its protocol does not say so yet."""


def _rejudged(one: Observation, *, compiles: bool) -> Observation:
    """Return an observation with the judgements that its evidence and its blocks call for.

    One that failed, or that somebody killed, keeps what it has, which counts for nothing.
    """
    if one.status == "failed" or (one.status == "rejected" and from_outside(one.reason)):
        return one
    known = set(modes.owners())
    if any(found.owner not in known for found in one.evidence):
        return one
    judged: dict[CacheMode, Judgement] = {one.cache_mode: _start(one, compiles=compiles)}
    if one.blocks:
        judged[WARM] = modes.judge_blocks(one.blocks)
    against = [
        because("contradicted", judgement.reason, mode=mode)
        for mode, judgement in judged.items()
        if not judgement.proved
    ]
    refuted = not judged[one.cache_mode].proved
    return replace(
        one,
        also_modes=[mode for mode in judged if mode != one.cache_mode],
        status="rejected" if refuted else "ok",
        reason=together(against) if refuted else None,
        judgements={str(mode): judgement for mode, judgement in judged.items()},
    )


def _start(one: Observation, *, compiles: bool) -> Judgement:
    """Return the judgement of a start. What moved a cache was seen in the process alone."""
    told = one.judgements.get(one.cache_mode)
    if told is not None and told.reason.code == "caches_moved" and not told.proved:
        return told
    return modes.judge(
        one.cache_mode, one.evidence, compiles=compiles, cache_settings=one.cache_settings
    )


def judged(case: CaseResult) -> list[Observation]:
    """Return a case's observations, judged again where it is known how.

    Of a wrong answer nothing is left that could be judged.
    """
    if is_wrong(case.reason):
        return case.observations
    declared = case.protocol.compiles
    if declared is not None:
        return [_rejudged(one, compiles=declared) for one in case.observations]
    # It is not recorded what was asked of a start: what explains what was judged.
    ways = [
        [_rejudged(one, compiles=compiles) for one in case.observations]
        for compiles in (True, False)
    ]
    return min(ways, key=lambda way: _n_differing(way, case.observations))


def _n_differing(ours: Iterable[Observation], theirs: Iterable[Observation]) -> int:
    return sum(one.status != other.status for one, other in zip(ours, theirs, strict=True))


def computed(case: CaseResult, observations: Sequence[Observation]) -> CaseResult:
    """Return a case with what its observations say; comparisons are left to ``compared``."""
    status, reason = case.status, case.reason
    if observations:
        status, reason = outcome.status_of(observations, case.protocol.cache_modes)
    made = outcome.summary_of(observations, reason, case.protocol, case.inspected_call_s)
    return replace(
        case,
        status=status,
        reason=reason,
        cold=made.cold,
        warm=made.warm,
        warnings=made.warnings,
        comparisons=[],
        counts=made.counts,
        filled_by=[]
        if is_wrong(reason)
        else limits.filled_by(observations, on_request=any(one.code for one in case.filled_by)),
        observations=list(observations),
    )


def compared(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Return the cases of a run, each compared with the baseline of its group."""
    decided = {case.protocol.effort.decide for case in cases}
    return outcome.with_comparisons(cases, decided.pop() if len(decided) == 1 else None)


def with_decision(cases: Sequence[CaseResult], suite: str) -> list[CaseResult]:
    """Return cases of an earlier version with what decided how much was measured.

    It was the verdicts of a bench of several candidates, and the threshold is that of those.
    """
    if suite != _OWN_DECISION or len(cases) == 1:
        return list(cases)
    told = [one.threshold for case in cases for one in case.comparisons]
    decide = told[0] if told else 0.02
    return [_decided(case, decide) for case in cases]


def _decided(case: CaseResult, decide: float) -> CaseResult:
    if case.protocol.effort.decide is not None:
        return case
    effort = replace(case.protocol.effort, decide=decide)
    return replace(case, protocol=replace(case.protocol, effort=effort))
