"""How long calls took, and how much of that was theirs. Pure, in seconds.

What several threads compile at once is not counted several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because
from coldwarm.stats.doctor.elapsed import length, union

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.reasons import Reason
    from coldwarm.stats.doctor.seen import Call, Seen


def spent_s(calls: Sequence[Call]) -> float:
    """Return the time in which at least one of the calls was compiled."""
    spans = [span for one in calls for span in one.spans]
    return min(sum(one.total_s for one in calls), length(union(spans)))


def freed_s(seen: Seen, calls: Sequence[Call]) -> float:
    """Return about how much shorter a process were without these calls.

    That is their time; of a second in which two threads compile, each has half: the other one
    would hardly be done sooner by more, as they share processors.
    """
    return min(spent_s(calls), sum(_share_s(seen, one) for one in calls))


def estimate(calls: Sequence[Call]) -> Reason:
    """Return how a saving is estimated that is the time of these calls."""
    n_read = sum(one.hit for one in calls)
    if n_read:
        return because("saving_read", n_times=len(calls), n_read=n_read)
    return because("saving_again", n_times=len(calls))


def _share_s(seen: Seen, call: Call) -> float:
    lasted_s = sum(end_s - begin_s for begin_s, end_s in call.spans)
    if not lasted_s:
        return call.total_s
    return call.total_s * sum(map(seen.share, call.spans)) / lasted_s
