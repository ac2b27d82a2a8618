"""What rules yield: a finding before its source line is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Cause
    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Line


@dataclass(frozen=True)
class Draft:
    """Something to change."""

    pattern: str
    framework: str
    site: Line
    n: int
    cost_s: float | None
    saving_s: float | None
    says: Reason
    cause: Cause | None = None
    saving_from: Reason | None = None
    """How the saving was estimated, where it is not what was compiled again."""
    after: Reason | None = None
    """What came of it in the end."""
    null_reasons: dict[str, Reason] = field(default_factory=dict)
