"""What costs next to nothing of a run. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

SMALL = 0.01
"""The share of a run below which a cost is of little matter."""


def is_small(one: Finding, total_s: float) -> bool:
    """Say whether a finding costs next to nothing of a run of so many seconds."""
    return one.cost_s is not None and one.cost_s < SMALL * total_s
