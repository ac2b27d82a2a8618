"""What the calls after the second one cost, by their number: as measured, and extrapolated. Pure.

Frameworks and programs still do first-time work long after the second call: they trace again,
try kernels out, switch to what they have compiled meanwhile. So a total has the cumulated seconds
of the process itself, call by call, as far as they were measured; from there on each further call
costs the mean of the later half of its steady ones, a mean because slow calls are paid for as well.
Both are kept apart: a rate, and by how much the measured calls lie above it or below it together.

The slow samples at the start of a later block are the harness's doing, which lets other processes
run in between (``steady.process``); they count as the others do. A process that ended before the
others of its case became steady, at another level than theirs, shows nothing of what came then:
from its end on it has what they have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.selection import by_round
from coldwarm.stats.steady.process import steady_places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.observation import Block
    from coldwarm.stats.selection import WarmProcess

    Floats = NDArray[np.float64]
    Series = Mapping[str, float]

OTHER_LEVEL = 0.2
"""Relative difference from which a process that ended early had another level than the others."""
_EACH, _MORE = 100, 200
"""Calls of which each has a point of its own in a curve, and points beyond them."""


@dataclass(frozen=True)
class Later:
    """The calls after the second one of all processes of a case, by round."""

    rate_s: Series
    """What a further call costs, beyond those that were measured."""
    calls: Floats
    """Numbers of calls after the second one, from 0 to the last at which a process differs from its
    rate."""
    beyond_s: Mapping[str, Floats]
    """By how much so many calls take longer than at the rate."""
    measured: int
    """Calls after the second one that the longest process made."""
    _known: dict[int, dict[str, float]] = field(default_factory=dict, repr=False, compare=False)

    def beyond(self, calls: int) -> Series:
        """Return by how much so many calls take longer than at the rate."""
        at = int(min(calls, self.calls[-1]))
        if at not in self._known:
            self._known[at] = {
                key: float(np.interp(at, self.calls, seconds))
                for key, seconds in self.beyond_s.items()
            }
        return self._known[at]

    def rows(self, calls: Floats, rounds: Sequence[str]) -> Floats:
        """Return the same for many numbers of calls, a row each, and a column for each round."""
        found = [np.interp(calls, self.calls, self.beyond_s[key]) for key in rounds]
        return np.column_stack(found)


def later(processes: Sequence[WarmProcess]) -> Later | None:
    """Return what the calls after the second one cost; ``None``: there is no process with any."""
    if not processes:
        return None
    rounds = by_round((process.observation, ()) for process in processes)
    curves = [_curve(process) for process in processes]
    known = {key: _joined(one, curves) for key, one in zip(rounds, curves, strict=True)}
    ends = float(max(one.calls[-1] for one in known.values()))
    calls = _thinned(ends)
    return Later(
        rate_s={key: one.rate_s for key, one in known.items()},
        calls=calls,
        beyond_s={key: np.interp(calls, one.calls, one.beyond_s) for key, one in known.items()},
        measured=int(ends),
    )


@dataclass(frozen=True)
class _Curve:
    """The calls of one process after its second one."""

    calls: Floats
    total_s: Floats
    rate_s: float
    steady_from: float | None
    """Calls after which it was steady; ``None``: it never was."""

    @property
    def beyond_s(self) -> Floats:
        return self.total_s - self.rate_s * self.calls


def _curve(process: WarmProcess) -> _Curve:
    blocks = process.observation.blocks
    seconds = np.array([*chain.from_iterable(block.samples_s for block in blocks)])
    batch = np.repeat([block.batch for block in blocks], [len(b.samples_s) for b in blocks])
    steady = np.array(process.steadiness.samples)
    rate_s = math.fsum(steady[len(steady) // 2 :]) / (len(steady) - len(steady) // 2)
    calls = np.concatenate([[0.0], np.cumsum(batch)])
    # What the harness did between blocks is not what later calls cost.
    seconds[_reentries(process, blocks)] = float(steady.mean())
    total_s = np.concatenate([[0.0], np.cumsum(batch * seconds)])
    begins = float(calls[min(process.warmup, len(batch))])
    return _Curve(calls, total_s, rate_s, begins if process.steadiness.steady else None)


def _reentries(process: WarmProcess, blocks: Sequence[Block]) -> list[int]:
    """Return the places of slow samples at the starts of blocks that lie in the steady state."""
    counting = {block.order for block in process.blocks}
    kept = set(steady_places([block.samples_s for block in process.blocks]))
    found, raw, place = [], 0, 0
    for block in blocks:
        size = len(block.samples_s)
        if block.order in counting:
            found += [raw + n for n in range(size) if place + n not in kept]
            place += size
        raw += size
    return [at for at in found if at >= process.warmup]


def _joined(one: _Curve, others: Sequence[_Curve]) -> _Curve:
    """Return a curve, where it ended too early with what longer ones have from there on."""
    ends = one.calls[-1]
    longer = [other for other in others if other.calls[-1] > ends and other.steady_from is not None]
    if not longer or ends > np.median([other.steady_from for other in longer]):
        return one
    rate_s = float(np.median([other.rate_s for other in longer]))
    if abs(one.rate_s / rate_s - 1) <= OTHER_LEVEL:
        return one
    longest = max(longer, key=lambda other: other.calls[-1])
    calls = np.concatenate([one.calls, longest.calls[longest.calls > ends]])
    more = np.mean(
        [
            np.interp(calls, o.calls, o.beyond_s) - np.interp(ends, o.calls, o.beyond_s)
            for o in longer
        ],
        axis=0,
    )
    within = np.interp(calls, one.calls, one.total_s - rate_s * one.calls)
    beyond_s = np.where(calls > ends, within + more, within)
    return _Curve(calls, beyond_s + rate_s * calls, rate_s, None)


def _thinned(ends: float) -> Floats:
    """Return numbers of calls from 0 to the last: each of the first, and fewer beyond them."""
    if ends <= _EACH:
        return np.arange(ends + 1)
    more = np.geomspace(_EACH, ends, _MORE)
    return np.unique(np.concatenate([np.arange(_EACH), np.round(more)]))
