"""Processes that count for nothing: those that failed, and those whose evidence was no proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.reasons import because
from coldwarm.stats.selection import claims, counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason


class _Reject(NamedTuple):
    """A process, and why it does not count for a mode."""

    observation: Observation
    mode: CacheMode
    reason: Reason


def rejects(observations: Iterable[Observation]) -> Iterator[_Reject]:
    """Yield processes that failed, and for each mode that one claims in vain, that it does."""
    for seen in observations:
        if seen.status == "failed":
            yield _Reject(seen, seen.cache_mode, seen.reason or because("unstated"))
            continue
        for mode in dict.fromkeys((seen.cache_mode, *seen.also_modes)):
            if claims(seen, mode) and not counts(seen, mode):
                judged = seen.judgements.get(mode)
                own = judged.reason if judged and not judged.proved else seen.reason
                yield _Reject(seen, mode, own or because("not_judged", cache_mode=mode))
