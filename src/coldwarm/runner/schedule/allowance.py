"""How long a run may go on when it is taken up again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENDED = {"event": "ended"}
"""What the journal says where a part of a run came to its own end."""


def given(total_s: float | None) -> dict[str, Any]:
    """Return what the journal says of the time that a resumed run has in all."""
    return {"event": "budget", "total_s": total_s}


def total_s(
    events: Sequence[Mapping[str, Any]],
    recorded_s: float | None,
    used_s: float,
    more_s: float | None,
) -> float | None:
    """Return the seconds that a run has in all, those used already included.

    ``more_s`` is what was asked for now, for what is still to come. Without it, a run that was
    interrupted has what was left of its budget, and one that had come to its own end has the
    budget it was begun with once more. ``None``: no limit.
    """
    if more_s is not None:
        return used_s + more_s
    if recorded_s is None:
        return None
    if events and events[-1] == ENDED:
        return used_s + recorded_s
    budgets = [event["total_s"] for event in events if event.get("event") == "budget"]
    return budgets[-1] if budgets and budgets[-1] is not None else recorded_s
