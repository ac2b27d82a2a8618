"""About what a change would save, and how that was estimated, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from coldwarm.contracts.doctor import Finding


def estimate(one: Finding) -> str:
    """Return how the saving was estimated, or why there is no figure."""
    reason = one.saving_from or one.null_reasons.get("saving_s")
    said = words(reason) if reason is not None else ""
    if one.saving_s is not None and one.n_processes > 1:
        said += f", in one of {one.n_processes} processes: they may run side by side"
    return said


def saved(one: Finding) -> str:
    """Return about what the change saves, and how that was estimated."""
    if one.saving_s is not None:
        return f"about {units.duration(one.saving_s)}, {estimate(one)}"
    return f"no figure: {estimate(one)}"
