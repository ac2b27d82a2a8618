"""Calls that were counted and not written one by one: how many of them, and their time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.stats.doctor.seen import Call, Seen

STAGES = ("trace", "lower", "compile", "cache_read")
_TIME, _COMPILES, _READS = 1, 2, 3
"""Where the counts of a line have these; first is the number of calls."""


@dataclass(frozen=True)
class Beyond:
    """Of one line and function."""

    n_compiles: int
    n_reads: int
    own_s: Mapping[str, float]
    """Seconds by stage: their sum was measured, and is divided as that of calls of the same kind
    that were written."""


def beyond(seen: Seen) -> dict[int, Beyond]:
    """Return what was counted and not written, by the slot of the counts that has more."""
    by_slot: dict[int, list[Call]] = {}
    for call in seen.calls:
        if call.slot is not None and call.slot + _READS < len(seen.counts):
            by_slot.setdefault(call.slot, []).append(call)
    return {
        slot: _beyond(seen.counts[slot : slot + _READS + 1], calls)
        for slot, calls in by_slot.items()
        if seen.counts[slot] > len(calls)
    }


def _beyond(counts: Sequence[int], calls: Sequence[Call]) -> Beyond:
    n_left = counts[0] - len(calls)
    compiled = [one for one in calls if one.compiled and not one.hit]
    read = [one for one in calls if one.hit]
    traced = [one for one in calls if not one.compiled]
    n_compiles = min(n_left, max(0, counts[_COMPILES] - len(compiled)))
    n_reads = min(n_left - n_compiles, max(0, counts[_READS] - len(read)))
    n_traced = n_left - n_compiles - n_reads
    shares = dict.fromkeys(STAGES, 0.0)
    kinds = ((n_compiles, compiled, "compile"), (n_reads, read, "cache_read"))
    for n, alike, last in (*kinds, (n_traced, traced, "trace")):
        for name in STAGES:
            mean_s = sum(one.own_s[name] for one in alike or calls) / len(alike or calls)
            ends = name in {"compile", "cache_read"} and not alike  # how others ended is not how
            shares[last if ends else name] += n * mean_s
    whole_s = sum(shares.values())
    left_s = max(0.0, counts[_TIME] / 1e9 - sum(one.total_s for one in calls))
    scale = left_s / whole_s if whole_s else 0.0
    return Beyond(n_compiles, n_reads, {name: scale * part for name, part in shares.items()})
