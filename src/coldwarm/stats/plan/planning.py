"""What a plan costs with each candidate of a group, which is the cheapest, and by how much."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from coldwarm.contracts.answer import Plan, PlanTotal
from coldwarm.contracts.base import READINGS
from coldwarm.contracts.reasons import because, distinct
from coldwarm.stats.cautions import held_back
from coldwarm.stats.intervals import CONFIDENCE, FEWEST_FOR_INTERVAL
from coldwarm.stats.plan.breakeven import break_even
from coldwarm.stats.plan.costs import measured_calls
from coldwarm.stats.plan.expected import FEWEST_BY_ORDER
from coldwarm.stats.plan.jobs import (
    bounds,
    margin_bounds,
    margin_s,
    middle_s,
    missing,
    new_shapes_s,
    process_bounds,
    rounds_of,
    total_s,
)
from coldwarm.stats.plan.settings import settings
from coldwarm.stats.plan.sweep import sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.answer import BreakEven, Sweepable
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.plan.costs import Costs
    from coldwarm.stats.plan.gathering import Group
    from coldwarm.stats.plan.jobs import Job

_Verdict = Literal["told_apart", "extrapolated", "undecided"]
FIGURES = tuple(name for name in PlanTotal.__struct_fields__ if name.endswith("_s"))


def plan(group: Group, job: Job, over: Sweepable | None = None) -> Plan:
    """Return what a job costs with each candidate of a group, and which pays off from when.

    With ``over``, also the totals over a range of that number.
    """
    known = group.known
    measured = bool(known) and all(one.series.get("empty.new") for one in known)
    job = replace(job, new_measured=measured)
    ready = [one for one in known if missing(one, job) is None]
    held = {case.candidate: why for case in group.cases if (why := held_back(case)) is not None}
    free = [one for one in ready if one.candidate not in held]
    best = min(free, key=lambda one: middle_s(one, job), default=None)
    if best is not None:  # candidates that differ in their rounds are ranked by those they share
        first = best
        best = min(free, key=lambda one: margin_s(one, first, job))
    totals = [_total(one, job, best) for one in known]
    verdict, reason = _verdict(best, [one for one in totals if one.candidate not in held], job)
    if best is None and held:
        verdict, reason = "undecided", next(iter(held.values()))
    swept = sweep(free, job, over) if over else None
    return Plan(
        group=group.name,
        calls=job.calls,
        shapes=job.shapes,
        processes=job.processes,
        caches=job.caches,
        new_shapes_measured=job.shapes > 1 and not job.bounded,
        totals=sorted(totals, key=lambda it: (it.margin_s is None, it.margin_s or 0.0)),
        cheapest=best.candidate if best else None,
        cheapest_with_making=_with_making(free, job),
        verdict=verdict,
        reason=reason,
        baseline=next((one.candidate for one in _baseline_first(known)), None),
        break_even=_pairs(known),
        sweep=swept,
        not_measured=dict(group.not_measured),
        not_steady=dict(group.not_steady),
        **settings(group.cases, filled=bool(job.starts.get("filled"))),
        null_reasons=_reasons(reason if best is None else None, free)
        | ({"sweep": because("not_swept")} if over and swept is None else {}),
    )


def _reasons(no_best: Reason | None, ready: Sequence[Costs]) -> dict[str, Reason]:
    """Return why a plan has no cheapest candidate, or none with making paid for."""
    if no_best is not None:
        return dict.fromkeys(("cheapest", "cheapest_with_making", "sweep"), no_best)
    made = any(one.made_s is not None for one in ready)
    return {} if made else {"cheapest_with_making": because("nothing_made")}


def _with_making(ready: Sequence[Costs], job: Job) -> str | None:
    """Return the cheapest where compiling ahead of time is paid for, once for each shape."""
    if all(one.made_s is None for one in ready):
        return None
    best = min(ready, key=lambda one: middle_s(one, job) + (one.made_s or 0.0) * job.shapes)
    return best.candidate


def _total(one: Costs, job: Job, best: Costs | None) -> PlanTotal:
    fault = missing(one, job)
    if fault is not None or best is None:
        nothing: dict[str, Any] = dict.fromkeys(FIGURES)
        absent = (*FIGURES, "n_rounds", "rests_on", "process_rests_on")
        reasons = dict.fromkeys(absent, fault or because("no_total"))
        return PlanTotal(candidate=one.candidate, case=one.case, null_reasons=reasons, **nothing)
    made_s = None if one.made_s is None else one.made_s * job.shapes
    low_s, high_s = bounds(one, job)
    margin_low_s, margin_high_s = margin_bounds(one, best, job)
    reasons = {}
    few = because("few_processes_each", n_needed=FEWEST_FOR_INTERVAL)
    if made_s is None:
        reasons["made_s"] = because("nothing_made")
    if low_s is None:
        reasons |= dict.fromkeys(("low_s", "high_s"), few)
    if margin_low_s is None:
        reasons |= dict.fromkeys(("margin_low_s", "margin_high_s"), few)
    process_low_s, process_high_s = process_bounds(one, job)
    n_rounds, n_left_out = rounds_of(one, job)
    n_of_one, _ = rounds_of(one, job.of_one)
    if not n_rounds:
        reasons["n_rounds"] = few if low_s is None else because("separate_costs")
    if process_low_s is None:
        why = few if low_s is None else because("separate_costs")
        reasons |= dict.fromkeys(("process_low_s", "process_high_s", "process_rests_on"), why)
    return PlanTotal(
        candidate=one.candidate,
        case=one.case,
        total_s=total_s(one, job),
        new_shapes_s=new_shapes_s(one, job),
        low_s=low_s,
        high_s=high_s,
        margin_s=margin_s(one, best, job),
        margin_low_s=margin_low_s,
        margin_high_s=margin_high_s,
        made_s=made_s,
        process_low_s=process_low_s,
        process_high_s=process_high_s,
        n_rounds=n_rounds or None,
        measured_calls=one.measured_calls,
        rests_on=_basis(n_rounds, n_left_out),
        process_rests_on=None if process_low_s is None else _basis_of_one(n_of_one),
        null_reasons=reasons,
    )


def _basis(n_rounds: int, n_left_out: int) -> Reason:
    """Say from which rounds a total is bounded."""
    if not n_rounds:
        return because("separate_costs")
    whole = because("whole_rounds", n_rounds=n_rounds)
    if not n_left_out:
        return whole
    return because("several", whole, because("rounds_left_out", n_rounds=n_left_out))


def _basis_of_one(n_rounds: int) -> Reason:
    """Say what the range of one process is from."""
    by_order = n_rounds >= FEWEST_BY_ORDER
    return because("by_order" if by_order else "by_student", n_rounds=n_rounds)


def _verdict(best: Costs | None, totals: Sequence[PlanTotal], job: Job) -> tuple[_Verdict, Reason]:
    """Say whether the cheapest is distinguished from all others, and why or why not."""
    if best is None:
        lacking = distinct(total.null_reasons["total_s"] for total in totals)
        return "undecided", lacking[0] if len(lacking) == 1 else because("several", *lacking)
    others = [t for t in totals if t.candidate != best.candidate and t.total_s is not None]
    if not others:
        return "undecided", because("no_other_total")
    near = [t.candidate for t in others if t.margin_low_s is None or t.margin_low_s <= 0]
    if near:
        return "undecided", because("indistinguishable", candidate_names=near)
    dearer = because("all_dearer", confidence_share=CONFIDENCE)
    measured = measured_calls((*others, best))
    if measured is None or job.calls <= measured:
        return "told_apart", dearer
    return "extrapolated", because("extrapolated", dearer, n_calls=measured)


def _baseline_first(known: Iterable[Costs]) -> list[Costs]:
    return sorted(known, key=lambda one: not one.baseline)


def _pairs(known: Iterable[Costs]) -> list[BreakEven]:
    ordered = _baseline_first(known)
    return [
        break_even(ours, theirs, reading)
        for place, theirs in enumerate(ordered)
        for ours in ordered[place + 1 :]
        for reading in READINGS
    ]
