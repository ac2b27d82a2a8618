"""Costs of a candidate's processes, one value for each process.

Frameworks and programs still do first-time work long after the second call: they trace again,
try kernels out, switch to what they have compiled meanwhile. So a total has the cumulated seconds
of the process itself, call by call, as far as they were measured; from there on each further call
costs the mean of the later half of its steady ones, a mean because slow calls are paid for as well.
Both are kept apart: a rate, and by how much the measured calls lie above it or below it together.

The slow samples at the start of a later block are the harness's doing, which lets other processes
run in between (``steady.process``): what most blocks have of that is taken off. A process that
ended before the others of its case became steady, at another level than theirs, shows nothing of
what came then: from its end on it has what they have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.stats.common_start import levelled_cases, starts_as
from coldwarm.stats.intervals import median_of
from coldwarm.stats.selection import by_round, counted, warm_processes
from coldwarm.stats.steady import settles_at, steady_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from coldwarm.contracts.answer import PlanTotal
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Block, Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.selection import WarmProcess

    Floats = NDArray[np.float64]
    Series = Mapping[str, float]


WARM_CALL = "warm"
FEWEST = 2
"""Calls from which all further ones are warm."""
STATES: dict[str, CacheMode] = {"empty": EMPTY, "filled": FILLED}
_MODES = {**STATES, "imported": EMPTY, WARM_CALL: WARM}
"""By the beginning of a cost's name, the cache mode that it is from."""
_COMPILING = ("trace_s", "lower_s", "compile_s", "cache_read_s")


_OTHER_LEVEL = 0.2
"""Relative difference from which a process that ended early had another level than the others."""
_SLOW_START = 1.2
"""By what ratio a sample is slower than the later half of its block, whose start it is."""
_EACH, _MORE = 2000, 200
"""Calls of which each has a point of its own in a curve, and points beyond them."""


@dataclass(frozen=True)
class _Later:
    """The calls after the second one of all processes of a case, by round."""

    rate_s: Series
    """Cost of a further call, beyond those that were measured."""
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
        return np.reshape(found, (len(rounds), len(calls))).T  # of no round, too


@dataclass(frozen=True)
class Costs:
    """A measured case: seconds of each process under its round, by what they were spent on.

    With ``empty`` and ``filled`` for the caches: ``empty.first`` is from the start of the process
    to the first result, of a scenario to the end of its loop; ``empty.two`` to the second one;
    ``empty.call`` is the first call alone, ``empty.new`` one with a shape that its process has not
    seen, where that was measured; ``imported.first`` and ``imported.two`` leave out all
    before wrapping. ``warm`` is a further call, beyond those that were measured.
    """

    case: str
    candidate: str
    baseline: bool
    compiles: bool
    """Whether its first calls traced, lowered, compiled or read a cache."""
    series: Mapping[str, Series]
    by_shape: Series = field(default_factory=dict)
    """Time of a call with each new shape in empty caches: its median over processes."""
    made_s: float | None = None
    """Seconds that compiling ahead of time took, in no other figure; ``None``: there was none."""
    later: _Later | None = None
    """How the measured calls after the second one differ from ``warm``; ``None``: not at all."""
    kept_s: float = 0.0
    """By how much a further call may be shorter where the C allocator keeps freed memory. Whether
    it does depends on all that a program allocates: a loop of the same calls in a program of
    one's own may have either."""
    starts_as: str | None = None
    """The first candidate that starts as this one does: their starts are levelled."""

    @property
    def measured_calls(self) -> int | None:
        """Calls of a process up to which its total is measured; ``None``: none after two."""
        return None if self.later is None else FEWEST + self.later.measured

    def missing(self, names: Iterable[str]) -> Reason | None:
        """Say which of these costs no valid process has, or ``None`` where all are there."""
        for name in names:
            if not self.series.get(name):
                mode = _MODES[name.partition(".")[0]]
                return because("no_valid_process_in", candidate=self.candidate, cache_mode=mode)
        return None


def measured_calls(sides: Iterable[Costs | PlanTotal]) -> int | None:
    """Return the calls of a process up to which all of these totals are measured."""
    known = [one.measured_calls for one in sides]
    return min((one for one in known if one is not None), default=None)


def _costs(case: CaseResult) -> Costs:
    """Return what the valid processes of a case cost."""
    series: dict[str, Series] = {}
    compiles = False
    for state, mode in STATES.items():
        valid = counted(case.observations, mode)
        compiles = compiles or any(_compiled(observation) for observation in valid)
        series |= {
            f"{state}.first": _by_round((o, (_whole_s(o),)) for o in valid),
            f"{state}.two": _by_round((o, (_whole_s(o), _second(o))) for o in valid),
            f"{state}.call": _by_round((o, (_call_s(o),)) for o in valid),
        }
    valid = counted(case.observations, EMPTY)
    series["empty.new"] = _by_round((o, (o.new_shape_s,)) for o in valid)
    series["imported.first"] = _by_round((o, _imported(o)) for o in valid)
    series["imported.two"] = _by_round((o, (*_imported(o), _second(o))) for o in valid)
    warm = warm_processes(case.observations)
    rounds = by_round((process.observation, ()) for process in warm)
    after = _later(dict(zip(rounds, warm, strict=True)))
    series[WARM_CALL] = {} if after is None else after.rate_s
    return Costs(
        case.case,
        case.candidate,
        case.baseline,
        compiles,
        series,
        by_shape=_by_shape(valid),
        made_s=making_s(case),
        later=after,
        kept_s=_kept_s(case, series[WARM_CALL]),
        starts_as=starts_as(case),
    )


def _kept_s(case: CaseResult, rate_s: Series) -> float:
    """Return the most that a further call saves where memory is kept; 0 where that is not told."""
    kept = None if case.warm is None else case.warm.kept_memory
    told = kept is not None and kept.comparison.verdict == "faster"
    if kept is None or not told or kept.comparison.low is None or not rate_s:
        return 0.0
    return max(0.0, 1 - kept.comparison.low) * math.fsum(rate_s.values()) / len(rate_s)


def making_s(case: CaseResult) -> float | None:
    """Return the median over a case's makings of the whole process; ``None``: there is none."""
    walls = [making.wall_s for making in case.made]
    return median_of(walls) if walls else None


def _by_shape(observations: Sequence[Observation]) -> Series:
    by_name: dict[str, list[float]] = {}
    for observation in observations:
        for phase in observation.phases:
            if phase.name.startswith("new_shape_"):
                by_name.setdefault(phase.name, []).append(phase.duration_s)
    return {name: median_of(values) for name, values in by_name.items()}


def _second(observation: Observation) -> float | None:
    return observation.phase_s("second_call")


def _imported(observation: Observation) -> tuple[float | None, ...]:
    built_s = observation.phase_s("build") or 0.0  # only where there is a factory
    return observation.phase_s("wrap"), built_s, _call_s(observation)


def _whole_s(observation: Observation) -> float | None:
    """Return the seconds to the end of the first call, which of a scenario is a whole loop."""
    loop = observation.loop
    return observation.ttfr_process_s if loop is None else loop.total_s


def _call_s(observation: Observation) -> float | None:
    loop = observation.loop
    return observation.phase_s("first_call") if loop is None else loop.loop_s


def _compiled(observation: Observation) -> bool:
    parts = observation.first_call_parts
    return parts is not None and any(getattr(parts, name) is not None for name in _COMPILING)


def _by_round(pairs: Iterable[tuple[Observation, Sequence[float | None]]]) -> Series:
    """Return the sum for each process that has all of its terms."""
    whole = []
    for observation, terms in pairs:
        known = [term for term in terms if term is not None]
        if len(known) == len(terms):
            whole.append((observation, [math.fsum(known)]))
    return {key: values[0] for key, values in by_round(whole).items()}


def _later(processes: Mapping[str, WarmProcess]) -> _Later | None:
    """Return what the calls after the second one cost, from processes by round.

    ``None``: there is no process.
    """
    if not processes:
        return None
    curves = {key: _curve(process) for key, process in processes.items()}
    known = {key: _joined(one, [*curves.values()]) for key, one in curves.items()}
    ends = float(max(one.calls[-1] for one in known.values()))
    calls = _thinned(ends)
    return _Later(
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
    """Calls after which it is a straight line; ``None``: it never was."""

    @property
    def beyond_s(self) -> Floats:
        return self.total_s - self.rate_s * self.calls


def _curve(process: WarmProcess) -> _Curve:
    blocks = process.observation.blocks
    seconds = np.array([*chain.from_iterable(block.samples_s for block in blocks)])
    batch = np.array([block.batch for block in blocks for _ in block.samples_s])
    steady = np.array(process.steadiness.samples)
    rate_s = math.fsum(steady[len(steady) // 2 :]) / (len(steady) - len(steady) // 2)
    calls = np.concatenate([[0.0], np.cumsum(batch)])
    settled = settles_at(seconds, batch)
    # What the harness did between blocks is not what later calls cost: what most blocks have.
    places = _reentries(process, blocks)
    if places and 2 * len(places) >= len(process.blocks):
        usual_s = float(steady.mean())
        more_s = float(np.median(seconds[places])) - usual_s
        seconds[places] = np.maximum(usual_s, seconds[places] - more_s)
    total_s = np.concatenate([[0.0], np.cumsum(batch * seconds)])
    return _Curve(calls, total_s, rate_s, None if settled is None else float(calls[settled]))


def _reentries(process: WarmProcess, blocks: Sequence[Block]) -> list[int]:
    """Return the places of samples at the starts of blocks that are slower than the block is."""
    counting = {block.order for block in process.blocks}
    kept = set(steady_places([block.samples_s for block in process.blocks]))
    found, raw, place = [], 0, 0
    for block in blocks:
        size = len(block.samples_s)
        if block.order in counting:
            usual_s = float(np.median(block.samples_s[size // 2 :])) if size else 0.0
            slow = [n for n, one in enumerate(block.samples_s) if one > _SLOW_START * usual_s]
            found += [raw + n for n in slow if place + n not in kept]
            place += size
        raw += size
    return [at for at in found if at >= process.warmup]


def _joined(one: _Curve, others: Sequence[_Curve]) -> _Curve:
    """Return a curve, where it ended too early with what longer ones have from there on."""
    ends = one.calls[-1]
    begins = max(others, key=lambda other: other.calls[-1]).steady_from
    if begins is None or ends > 2 * begins:  # its later half, which its rate is of, is beyond
        return one
    longer = [o for o in others if o.calls[-1] > 2 * begins and o.steady_from is not None]
    if not longer:  # none goes on long enough to tell what comes after
        return one
    rate_s = float(np.median([other.rate_s for other in longer]))
    if abs(one.rate_s / rate_s - 1) <= _OTHER_LEVEL:
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


@dataclass(frozen=True)
class CostGroup:
    """The candidates of one workload, size and dtype, and what to know of them."""

    name: str
    known: Sequence[Costs]
    not_measured: Mapping[str, Reason]
    """By candidate, why the run has no process of it."""
    not_steady: Mapping[str, Reason]
    """By candidate, why its warm calls may not stand for later ones."""
    cases: Sequence[CaseResult] = ()
    """Cases with costs."""


def gather(name: str, cases: Sequence[CaseResult]) -> CostGroup:
    """Return what is known of the cases of a group; a failed one has no costs."""
    known, measured, missing, moving = [], [], {}, {}
    for case, levelled in zip(cases, levelled_cases(cases), strict=True):
        if case.status == "failed" or not case.observations:
            missing[case.candidate] = case.reason or because("unstated")
            continue
        known.append(_costs(levelled))
        measured.append(case)
        if case.warm and not case.warm.steady.steady:
            moving[case.candidate] = case.warm.steady.reason
    return CostGroup(name, known, missing, moving, measured)
