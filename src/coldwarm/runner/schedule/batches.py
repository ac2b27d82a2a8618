"""How warm calls are put into samples and blocks. Pure."""

from __future__ import annotations

import math

SHORT_CALL_S = 100e-6
"""Calls below this are batched: reading the clock would be seen in them."""
BATCH_WINDOW_S = 500e-6
BLOCK_LIMIT = 1000
FEWEST_BLOCKS = 4
BLOCK_S, BLOCKS = 0.02, 24
"""Of a user's functions: in short blocks, so that a neighbour's burst falls on all of them. So many
in the first process of a case, and in others at most."""
_LONGEST_BLOCK_S = 2.0


def batch_for(call_s: float) -> int:
    """Return how many calls one sample holds, so that the clock's own cost is lost in it."""
    if call_s >= SHORT_CALL_S:
        return 1
    return 1 << math.ceil(math.log2(BATCH_WINDOW_S / max(call_s, 1e-9)))


def block_seconds(call_s: float, wanted_s: float) -> float:
    """Return how long a block lasts: as wanted, or three calls where those are longer."""
    return min(max(wanted_s, 3 * call_s), _LONGEST_BLOCK_S)


def block_count(seconds: float, most: int, together_s: float) -> int:
    """Return how many blocks of so many seconds a process has: together as long as wanted."""
    return min(most, max(FEWEST_BLOCKS, math.ceil(together_s / seconds)))


def life_s(start_s: float, most_s: float, warmup_s: float | None) -> float:
    """Return how long the warm blocks of a process last together.

    Processes of one program differ by more than the blocks of one, as memory lies elsewhere in
    each. So as much time goes into blocks as into starts, ``start_s`` for each process of the
    round, and many short rounds say more than few long ones. What processes have shown to be
    warm-up, ``warmup_s``, comes on top; ``None``: none has become steady, and a case's first
    processes last ``most_s``, so that calls which change late are seen to.
    """
    return most_s if warmup_s is None else min(most_s, start_s + warmup_s)
