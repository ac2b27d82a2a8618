"""Arrays that grow by concatenation in a loop: every length is another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.stats.doctor.seen import Seen

FEWEST = 4
"""Lengths for which something was compiled."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line of a loop that concatenates and compiles anew for each length."""
    for one in seen.places_of("concatenation"):
        if not seen.in_loop(one.stack):
            continue
        calls = [
            call
            for call in seen.calls
            if call.site == one.site and call.is_frameworks and _grows(call.differences)
        ]
        if len(calls) >= FEWEST:
            cost_s = sum(call.total_s for call in calls)
            yield Draft(
                pattern="growing-array-concat",
                framework="jax",
                site=one.site,
                n=len(calls),
                cost_s=cost_s,
                saving_s=cost_s,
                says=because("doctor_growing", call=one.name, n_lengths=len(calls) + 1),
            )


def _grows(differences: list[Mapping[str, str]]) -> bool:
    return any(one["kind"] in {"shape", "tree"} for one in differences)
