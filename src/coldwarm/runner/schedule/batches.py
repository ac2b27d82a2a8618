"""How warm calls are put into samples and blocks. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

SHORT_CALL_S = 100e-6
"""Calls below this are batched: reading the clock would be seen in them."""
BATCH_WINDOW_S = 500e-6
BLOCK_LIMIT = 1000
FEWEST_BLOCKS = 4
BLOCK_S, BLOCKS_OF_RUN, BLOCKS = 0.02, 8, 24
"""Short blocks that alternate, so that a neighbour's burst falls on all candidates. So many in the
first process of a case, and in others at most; more in a bench, for its finer verdicts."""
FIRST_CALLS, FIRST_S = 256, 1.5
"""Warm calls that the first process of a case makes at least, and the seconds after which it makes
no more for that: what a program does late, it is to show."""
_LONGEST_BLOCK_S = 2.0
_MEDIAN_ERROR = math.sqrt(math.pi / 2)
"""Standard error of a median over that of a mean."""
PROCESSES_DIFFER = 0.005
"""How much processes of one program differ, relatively (``docs/explanation/trials.md``)."""


@dataclass(frozen=True)
class Plan:
    """What earlier rounds have shown of the processes of a round."""

    start_s: float
    """What a start takes: the mean of this round."""
    warmup_s: float
    """Seconds of calls before the steady state."""
    scatter: float
    """Standard deviation of the log-ratio of two blocks of one turn."""


def batch_for(call_s: float) -> int:
    """Return how many calls one sample holds, so that the clock's own cost is lost in it."""
    if call_s >= SHORT_CALL_S:
        return 1
    return 1 << math.ceil(math.log2(BATCH_WINDOW_S / max(call_s, 1e-9)))


def block_seconds(call_s: float, wanted_s: float) -> float:
    """Return how long a block lasts: as wanted, or three calls where those are longer."""
    return min(max(wanted_s, 3 * call_s), _LONGEST_BLOCK_S)


def first_count(seconds: float, call_s: float) -> int:
    """Return how many blocks show ``FIRST_CALLS`` calls, as far as ``FIRST_S`` reaches."""
    calls_s = FIRST_CALLS * max(call_s, 1e-9)
    return math.ceil(min(calls_s, FIRST_S) / seconds)


def block_count(seconds: float, most: int, most_s: float, plan: Plan | None) -> int:
    """Return how many blocks of so many seconds a process has, at most ``most_s`` in all.

    What is in common to the blocks of a process, as where its memory lies, differs by half a
    percent between processes of one program; more blocks do not tell it. So much time goes into
    blocks as makes the round's ratio worth its seconds: where blocks scatter by b, a start takes s
    and a block t, the variance of the ratio times the cost of the round is least at
    ``b / 0.5 % * sqrt(s / t)`` blocks. A warm-up comes on top. Without a plan
    there are as many as may be.
    """
    allowed = min(most, max(FEWEST_BLOCKS, math.ceil(most_s / seconds)))
    if plan is None:
        return allowed
    wanted = _MEDIAN_ERROR * plan.scatter / PROCESSES_DIFFER * math.sqrt(plan.start_s / seconds)
    warming_s = min(plan.warmup_s, most_s + FIRST_S)
    return min(allowed, max(FEWEST_BLOCKS, math.ceil(wanted))) + math.ceil(warming_s / seconds)
