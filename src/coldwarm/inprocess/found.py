"""What was found in this process and in fresh ones, as one result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.caches.modes import EVERY_CALL
from coldwarm.contracts.reasons import because, is_wrong
from coldwarm.inprocess.result import NOT_ASKED, BenchResult
from coldwarm.runner.cases import COLD
from coldwarm.stats.cautions import other_calls, partly_tried, two_levels, untried
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.summarise import warm_summary

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Caution
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, ColdSummary, WarmSummary
    from coldwarm.inprocess.sending import NotMeasuredError
    from coldwarm.inprocess.warm import InProcess

_SHOWN = {"not_kept", "not_compared", "carried", "state_carried", "may_compute", "not_opened"}
"""Limitations that are said beside the figures."""
_SHOWN_BY_INTERVAL = {"few", "precision"}


def result(
    name: str, in_process: InProcess, case: CaseResult | None, error: NotMeasuredError
) -> BenchResult:
    """Join them; ``error`` says why there is no ``case``."""
    reasons: dict[str, Reason] = {}
    not_asked = because(NOT_ASKED)
    warm_calls = None
    if in_process.observation is None:
        reasons["warm"] = not_asked
    else:
        observed = [in_process.observation]
        warm_calls = warm_summary(observed, warm_processes(observed))
        if warm_calls.call_s is None:
            judged = in_process.observation.judgements["warm_process"].reason
            every = judged.code == EVERY_CALL
            reasons["warm"] = judged if every else warm_calls.null_reasons["call_s"]
            warm_calls = None
    failed = error.reason if case is None else _failure(case)
    cold: dict[CacheMode, ColdSummary | None] = dict.fromkeys(COLD)
    if case is not None:
        cold.update({one.cache_mode: one for one in case.cold if one.n_ok})
    reasons.update({mode: failed for mode, one in cold.items() if one is None})
    warm_fresh = None if case is None else case.warm
    if warm_fresh is None or warm_fresh.call_s is None:
        reasons["warm_fresh"] = failed if in_process.observation is not None else not_asked
        warm_fresh = None
    return BenchResult(
        name=name,
        warm=warm_calls,
        warm_fresh=warm_fresh,
        cold=cold,
        first_call_s=in_process.first_call_s,
        missing=reasons,
        cautions=_cautions(in_process, case, warm_calls),
        in_process=in_process.observation,
        case=case,
        output=error.output if case is None else _printed(case),
    )


def _printed(case: CaseResult) -> str:
    """Return what the first fresh process that failed printed last."""
    failed = [one.stderr_tail for one in case.observations if one.status == "failed"]
    return next((text for text in failed if text), "")


def _failure(case: CaseResult) -> Reason:
    if case.reason is None:
        return because("no_valid_process")
    if is_wrong(case.reason) and not case.reason.parts:
        gates = [one.gate.reason for one in case.observations if one.gate and one.gate.reason]
        return because("fresh_answer_differs", *gates[:1])
    return case.reason


def _of_calls(observation: Observation, *, alone: bool) -> list[Reason]:
    """Return what the warm calls of this process have shown besides their median.

    ``alone``: there is no fresh process that can tell what an earlier call has left.
    """
    found = []
    for process in warm_processes([observation]):
        slower = process.steadiness.reason.code == "steady_slower"
        if slower or not process.steadiness.steady:
            found.append(process.steadiness.reason)
        if process.steadiness.levels is not None:
            found.append(two_levels([process.steadiness.levels]))
    seen = observation.other_calls
    if seen is None:
        return found
    if alone and seen.answer_changed is False:
        found.append(because("answer_stays"))
    fault = untried(seen) or partly_tried(seen)
    return [*found, *other_calls(seen), *([] if fault is None else [fault])]


def _cautions(
    in_process: InProcess, case: CaseResult | None, warm_calls: WarmSummary | None
) -> list[Reason | Caution]:
    cautions: list[Reason | Caution] = []
    if in_process.renewed:
        cautions.append(because("arguments_changed"))
    if in_process.doubt is not None and case is None:
        cautions.append(in_process.doubt)
    if not in_process.repeats:
        cautions.append(because("answers_differ"))
    blocks = in_process.observation.blocks if in_process.observation else []
    compiled = sum(bool(block.compiles) for block in blocks)
    if compiled and warm_calls is not None:
        cautions.append(because("in_process_compiled", n_blocks=compiled))
    if in_process.observation is not None:
        cautions += _of_calls(in_process.observation, alone=case is None)
    here = in_process.observation.settings if in_process.observation else {}
    if here:
        named = [f"{name}={value}" for name, value in here.items()]
        cautions.append(because("settings", setting_names=named))
    if case is not None:
        told = {getattr(one, "code", "") for one in cautions} & {"untried", "partly_tried"}
        cautions += [
            one
            for one in case.warnings
            if one.kind not in _SHOWN_BY_INTERVAL and one.reason.code not in told
        ]
        cautions += [one for one in case.limitations if one.code in _SHOWN]
    return cautions
