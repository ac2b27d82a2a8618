"""Arrays that grow by concatenation in a loop: every length is another program."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.time_account import estimate, freed_s, spent_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CallDifference, CompiledCall, Loop, ProcessTrace, SourceLine


_REASONS = {
    "doctor_growing": "{call} made arrays of {n_lengths:# length}, each compiled for itself",
}
_CHANGES = {
    "growing-array-concat": "collect the parts in a list and join them once, or write into an"
    " array of full length",
}


_FEWEST = 4
"""Lengths for which something was compiled."""
_JOINS = ("concatenate", "append", "stack", "vstack", "hstack")
"""What joins arrays, as it is compiled: what is known where calls are not seen."""


def _findings(trace: ProcessTrace) -> Iterator[Finding]:
    """Name each line of a loop that concatenates and compiles anew for each length."""
    for site, name, _, calls in _growing(trace):
        n_lengths = max(Counter(call.name for call in calls).values()) + 1
        yield trace.finding(
            "growing-array-concat",
            site,
            because("doctor_growing", call=name, n_lengths=n_lengths),
            n=len(calls),
            cost_s=spent_s(calls),
            saving_s=freed_s(trace, calls),
            saving_from=estimate(calls),
        )


def loops(trace: ProcessTrace) -> set[Loop]:
    """Return the loops that have such a line in them."""
    found = (trace.loop_at(trace.turned(stack)) for _, _, stack, _ in _growing(trace))
    return {loop for loop in found if loop is not None}


def _growing(
    trace: ProcessTrace,
) -> Iterator[tuple[SourceLine, str, list[SourceLine], list[CompiledCall]]]:
    """Yield each such line, what joins there, from where, and what was compiled for it."""
    for site, (name, stack) in _joins(trace).items():
        if not trace.in_loop(stack):
            continue
        calls = [
            call
            for call in trace.calls
            if call.site == site and call.is_frameworks and _grows(call.differences)
        ]
        if len(calls) >= _FEWEST:
            yield site, name, stack, calls


def _joins(trace: ProcessTrace) -> dict[SourceLine, tuple[str, list[SourceLine]]]:
    """Return by line what joins arrays there, and from where it is called."""
    if trace.sees_calls:
        return {one.site: (one.name, one.stack) for one in trace.places_of("concatenation")}
    return {
        call.stack[0]: (call.name, call.stack)
        for call in trace.calls
        if call.is_frameworks and call.stack and call.name in _JOINS
    }


def _grows(differences: list[CallDifference]) -> bool:
    return any(one.kind in {"shape", "tree"} for one in differences)


RULE = Rule(
    findings=_findings,
    codes=Codes(_REASONS),
    changes=_CHANGES,
    compiled_again={"growing-array-concat"},
)
