"""What costs next to nothing of a run. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

_LITTLE = "doctor_few_waits"
"""The reason why there is no cost, where it would be little."""
SMALL = 0.01
"""The share of a run below which a cost is of little matter."""


def is_small(one: Finding, total_s: float) -> bool:
    """Say whether a finding costs next to nothing of a run of so many seconds."""
    if one.cost_s is None:
        reason = one.null_reasons.get("cost_s")
        return reason is not None and reason.code == _LITTLE
    return one.cost_s < SMALL * total_s
