"""Arrays that grow by concatenation in a loop: every length is another program."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft
from coldwarm.stats.doctor.spent import estimate, freed_s, spent_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.stats.doctor.seen import Call, Line, Loop, Seen

REASONS = {
    "doctor_growing": "{call} made arrays of {n_lengths:# length}, each compiled for itself",
}
CHANGES = {
    "growing-array-concat": "collect the parts in a list and join them once, or write into an"
    " array of full length",
}

FEWEST = 4
"""Lengths for which something was compiled."""
_JOINS = ("concatenate", "append", "stack", "vstack", "hstack")
"""What joins arrays, as it is compiled: what is known where calls are not seen."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line of a loop that concatenates and compiles anew for each length."""
    for site, name, _, calls in _growing(seen):
        n_lengths = max(Counter(call.name for call in calls).values()) + 1
        yield Draft(
            pattern="growing-array-concat",
            framework="jax",
            site=site,
            n=len(calls),
            cost_s=spent_s(calls),
            saving_s=freed_s(seen, calls),
            saving_from=estimate(calls),
            says=because("doctor_growing", call=name, n_lengths=n_lengths),
        )


def loops(seen: Seen) -> set[Loop]:
    """Return the loops that have such a line in them."""
    found = (seen.loop_at(seen.turned(stack)) for _, _, stack, _ in _growing(seen))
    return {loop for loop in found if loop is not None}


def _growing(seen: Seen) -> Iterator[tuple[Line, str, list[Line], list[Call]]]:
    """Yield each such line, what joins there, from where, and what was compiled for it."""
    for site, (name, stack) in _joins(seen).items():
        if not seen.in_loop(stack):
            continue
        calls = [
            call
            for call in seen.calls
            if call.site == site and call.is_frameworks and _grows(call.differences)
        ]
        if len(calls) >= FEWEST:
            yield site, name, stack, calls


def _joins(seen: Seen) -> dict[Line, tuple[str, list[Line]]]:
    """Return by line what joins arrays there, and from where it is called."""
    if seen.sees_calls:
        return {one.site: (one.name, one.stack) for one in seen.places_of("concatenation")}
    return {
        call.stack[0]: (call.name, call.stack)
        for call in seen.calls
        if call.is_frameworks and call.stack and call.name in _JOINS
    }


def _grows(differences: list[Mapping[str, str]]) -> bool:
    return any(one["kind"] in {"shape", "tree"} for one in differences)
