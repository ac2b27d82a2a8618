"""Warm blocks that ran next to each other, paired: the strongest comparison that there is.

In a round the blocks of all candidates alternate, each about as long as a blink. Whatever
the machine does for longer than that, another program's burst or another clock, falls on
neighbouring blocks alike, and leaves their ratio as it was; pooled samples would keep it.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.observation import Block
    from coldwarm.stats.selection import WarmProcess

FEWEST_PAIRS = 3
"""Pairs of blocks in a round below which its samples say more than its blocks."""


def log_ratios(
    ours: Sequence[WarmProcess], theirs: Sequence[WarmProcess]
) -> dict[str, list[float]] | None:
    """Return, for each common round, the log-ratios of its blocks, ours over theirs.

    ``None``: the processes have no rounds in common, or too few blocks to be paired.
    """
    first, second = ({p.observation.round: p for p in reversed(side)} for side in (ours, theirs))
    found = {
        str(number): _of_round(first[number], second[number])
        for number in first
        if number in second
    }
    half = max(len(first), len(second)) / 2
    if len(found) < max(2, half) or any(len(pairs) < FEWEST_PAIRS for pairs in found.values()):
        return None
    return found


def _of_round(ours: WarmProcess, theirs: WarmProcess) -> list[float]:
    """Pair the blocks by their place: the k-th of both ran in the same turn of all candidates."""
    pairs = list(zip(ours.blocks, theirs.blocks, strict=False))
    start = max(_first_steady(ours), _first_steady(theirs))
    kept = pairs[start:] if len(pairs) - start >= FEWEST_PAIRS else pairs
    middles = [(_median(mine), _median(other)) for mine, other in kept]
    return [float(np.log(mine / other)) for mine, other in middles if mine > 0 and other > 0]


def _first_steady(process: WarmProcess) -> int:
    """Return the place of the first block in the steady state.

    A process that was not steady moved with the machine, or by itself: all its blocks count.
    """
    if not process.steadiness.steady:
        return 0
    lengths = [len(block.samples_s) for block in process.observation.blocks]
    ends = dict(
        zip((block.order for block in process.observation.blocks), accumulate(lengths), strict=True)
    )
    return next(
        (place for place, block in enumerate(process.blocks) if ends[block.order] > process.warmup),
        0,
    )


def _median(block: Block) -> float:
    return float(np.median(block.samples_s))
