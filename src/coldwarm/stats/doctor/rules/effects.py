"""What happens while a function is traced, and not when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.drafts import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.stats.doctor.seen import Seen


def findings(seen: Seen) -> Iterator[Draft]:
    """Name each line that prints, or reads a clock, while its function is traced."""
    for one in seen.places_of("effect"):
        yield Draft(
            pattern="side-effect-in-traced",
            framework="jax",
            site=one.site,
            n=one.n,
            cost_s=None,
            saving_s=None,
            says=because("doctor_effect", call=one.name, n_times=one.n),
            null_reasons=dict.fromkeys(("cost_s", "saving_s"), because("doctor_wrong_result")),
        )
