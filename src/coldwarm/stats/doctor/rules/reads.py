"""Values that the host reads in a loop: each waits until the device is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Place, Seen

FEWEST = 20
OFTEN = 0.5
"""Reads for each call of a compiled function in the same loop."""


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
                says=because(
                    "doctor_reads", n_reads=one.n, n_waited=one.counts[1], blocked_s=blocked_s
                ),
                null_reasons={"saving_s": because("doctor_overlap")},
            )


def _often(seen: Seen, one: Place) -> bool:
    turned = seen.turned(one.stack)
    if turned is None:
        return False
    calls = seen.n_below(turned, "jitted") or seen.n_below(turned, "operation", "concatenation")
    return calls > 0 and one.n / calls >= OFTEN
