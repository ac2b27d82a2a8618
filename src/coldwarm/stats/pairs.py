"""Warm blocks that ran next to each other, paired: the strongest comparison that there is.

In a round the blocks of all candidates alternate, each about as long as a blink. Whatever
the machine does for longer than that, another program's burst or another clock, falls on
neighbouring blocks alike, and leaves their ratio as it was; pooled samples would keep it.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.intervals import fewest_common

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.observation import Block
    from coldwarm.stats.selection import WarmProcess

_QUARTILE_RANGE = 1.349
"""Of normal values, in standard deviations."""
_FEWEST_PAIRS = 3
"""Pairs of blocks in a round below which its samples say more than its blocks."""


def log_ratios(
    ours: Sequence[WarmProcess], theirs: Sequence[WarmProcess]
) -> dict[str, list[float]] | None:
    """Return, for each common round, the log-ratios of its blocks, ours over theirs.

    A round that has too few pairs, as where the time was over in it, is left out. ``None``: less
    rounds are left than two sides need to be paired (``fewest_common``).
    """
    first, second = ({p.observation.round: p for p in reversed(side)} for side in (ours, theirs))
    rounds = {
        str(number): _of_round(first[number], second[number])
        for number in first
        if number in second
    }
    kept = {number: pairs for number, pairs in rounds.items() if len(pairs) >= _FEWEST_PAIRS}
    return kept if len(kept) >= fewest_common(len(first), len(second)) else None


def scatter(ours: Sequence[Block], theirs: Sequence[Block] | None) -> float | None:
    """Return the standard deviation of the log-ratios of blocks of the same turns.

    From the middle half of them, so that single bursts do not count. Without another process
    it is that of the blocks themselves; ``None``: there are too few, or some took no time.
    """
    others = [1.0] * len(ours) if theirs is None else [_median(block) for block in theirs[1:]]
    pairs = list(zip((_median(block) for block in ours[1:]), others, strict=False))
    if len(pairs) < _FEWEST_PAIRS or min(map(min, pairs)) <= 0:
        return None
    logs = np.log([mine / other for mine, other in pairs])
    return float(np.ptp(np.quantile(logs, (0.25, 0.75)))) / _QUARTILE_RANGE


def _of_round(ours: WarmProcess, theirs: WarmProcess) -> list[float]:
    """Pair the blocks by their place: the k-th of both ran in the same turn of all candidates.

    Their place among all blocks of their process: blocks that do not count keep theirs.
    """
    if not _together(ours, theirs):
        return []
    first, second = _by_place(ours), _by_place(theirs)
    places = [place for place in first if place in second]
    start = max(_first_steady(ours), _first_steady(theirs))
    steady = [place for place in places if place >= start]
    kept = steady if len(steady) >= _FEWEST_PAIRS else places
    pairs = [(first[place], second[place]) for place in kept]
    middles = [(_median(a), _median(b)) for a, b in pairs if a.bound_to == b.bound_to]
    return [float(np.log(mine / other)) for mine, other in middles if mine > 0 and other > 0]


def _together(ours: WarmProcess, theirs: WarmProcess) -> bool:
    """Say whether the two ran their blocks in the same turns, not one after the other."""
    first, second = ([block.order for block in side.blocks] for side in (ours, theirs))
    return min(first) <= max(second) and min(second) <= max(first)


def _by_place(process: WarmProcess) -> dict[int, Block]:
    """Return the blocks that count under their place among all of the process."""
    counting = {block.order for block in process.blocks}
    every = enumerate(process.observation.blocks)
    return {place: block for place, block in every if block.order in counting}


def _first_steady(process: WarmProcess) -> int:
    """Return the place of the first block in the steady state, among all of the process.

    A process that was not steady moved with the machine, or by itself: all its blocks count.
    """
    if not process.steadiness.steady:
        return 0
    ends = list(accumulate(len(block.samples_s) for block in process.observation.blocks))
    return next((place for place in _by_place(process) if ends[place] > process.warmup), 0)


def _median(block: Block) -> float:
    return float(np.median(block.samples_s))
