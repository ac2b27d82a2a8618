"""About what a change would save, and how that was estimated, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.reasons import words

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding

_KEPT = {"numba-cache-closure": "the time of this compilation, in each later process"}
"""How the saving was estimated, by pattern, where it is not what was compiled again."""


def estimate(one: Finding) -> str:
    """Return how the saving was estimated, or why there is no figure."""
    if one.saving_s is not None:
        programs = "compilation" if one.n == 1 else f"{one.n} compilations"
        return _KEPT.get(one.pattern, f"the time of the {programs} that this caused")
    reason = one.null_reasons.get("saving_s")
    return words(reason) if reason is not None else ""


def saved(one: Finding) -> str:
    """Return about what the change saves, and how that was estimated."""
    if one.saving_s is not None:
        return f"about {units.duration(one.saving_s)}, {estimate(one)}"
    return f"no figure: {estimate(one)}"
