"""Values that the host reads in a loop: each waits until the device is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Place, Seen

FEWEST = 20
OFTEN = 0.5
"""Reads for each call of a compiled function in the same loop."""
FEWEST_OPERATIONS = 3
"""For each read, in a loop that calls nothing compiled."""


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line of a loop that reads a value in nearly every turn."""
    for one in seen.places_of("read"):
        if one.n >= FEWEST and _often(seen, one):
            blocked_s = one.counts[2] / 1e9
            yield Draft(
                pattern="host-sync-in-loop",
                framework="jax",
                site=one.site,
                n=one.n,
                cost_s=blocked_s,
                saving_s=None,
                says=_says(one, blocked_s),
                null_reasons={"saving_s": because("doctor_overlap")},
            )


def _says(one: Place, blocked_s: float) -> Reason:
    n_waited = one.counts[1]
    if not n_waited:
        return because("doctor_reads_ready", n_reads=one.n)
    return because("doctor_reads", n_reads=one.n, n_waited=n_waited, blocked_s=blocked_s)


def _often(seen: Seen, one: Place) -> bool:
    """Say whether a loop that computes reads a value for every call or two.

    A loop that only takes an array apart, for a plot or a table, computes nothing.
    """
    turned = seen.turned(one.stack)
    if turned is None:
        return False
    n_compiled = seen.n_below(turned, "jitted")
    n_operations = seen.n_below(turned, "operation", "concatenation")
    if n_compiled:
        return one.n / n_compiled >= OFTEN
    return n_operations >= FEWEST_OPERATIONS * one.n
