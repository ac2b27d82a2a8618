"""Arrays of the host that are sent to the device in each turn of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Seen

FEWEST = 10


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line of a loop that sends an array again and again."""
    for one in seen.places_of("transfer"):
        if one.n < FEWEST or not seen.sources.loop(one.site.path, one.site.line):
            continue
        yield Draft(
            pattern="device-transfer-in-loop",
            framework="jax",
            site=one.site,
            n=one.n,
            cost_s=None,
            saving_s=None,
            says=because(
                "doctor_transfers", call=one.name, n_transfers=one.n, sent_bytes=one.counts[1]
            ),
            null_reasons=dict.fromkeys(("cost_s", "saving_s"), because("doctor_untimed")),
        )
