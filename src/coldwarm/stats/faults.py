"""Page faults of warm calls: memory that a program frees, and the kernel clears once more."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coldwarm.contracts.observation import Block

_FAULT_S = 2e-6
"""What a page fault costs at most, the page cleared: in a virtual machine. Elsewhere a quarter."""
GAIN = 0.05
"""The share of a call below which its page faults are not worth a word."""


def _per_call(blocks: Iterable[Block]) -> float | None:
    """Return the page faults of one call, ``None`` where they were not counted."""
    known = [block for block in blocks if block.page_faults is not None and block.samples_s]
    calls = sum(block.batch * len(block.samples_s) for block in known)
    return sum(block.page_faults or 0 for block in known) / calls if calls else None


def gives_back(blocks: Sequence[Block]) -> bool:
    """Say whether page faults could cost these calls a share that matters."""
    faults = _per_call(blocks)
    calls = sum(block.batch * len(block.samples_s) for block in blocks)
    spent_s = sum(block.batch * sum(block.samples_s) for block in blocks)
    return faults is not None and faults * calls * _FAULT_S >= GAIN * spent_s


def median_per_call(processes: Iterable[Sequence[Block]]) -> float | None:
    """Return the median over processes, given by their blocks, of the page faults of one call."""
    known = [faults for blocks in processes if (faults := _per_call(blocks)) is not None]
    return statistics.median(known) if known else None
