"""What a candidate's processes cost, one value for each process, and how two of them differ.

A total is a sum, so a warm call costs the *mean* of a process's steady samples here: calls that
the machine held up are paid for as well. Elsewhere the median stands for a warm call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from coldwarm.stats.bootstrap import (
    FEWEST_FOR_INTERVAL,
    RESAMPLES,
    bounds,
    by_range,
    extended_range,
    median_interval,
    tails,
)
from coldwarm.stats.selection import by_round, common_rounds, counted, warm_processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

    Series = Mapping[str, float]

EMPTY: CacheMode = "cold_process_cold_cache"
FILLED: CacheMode = "cold_process_warm_cache"
WARM = "warm"
STATES: dict[str, CacheMode] = {"empty": EMPTY, "filled": FILLED}
IN_WORDS = {"empty": "with empty caches", "filled": "with filled caches", WARM: "that were warm"}
_COMPILING = ("trace_s", "lower_s", "compile_s", "cache_read_s")


@dataclass(frozen=True)
class Costs:
    """A measured case: seconds of each process under its round, by what they were spent on.

    With ``empty`` and ``filled`` for the caches: ``empty.first`` is from the start of the process
    to the first result, of a scenario to the end of its loop; ``empty.two`` to the second one;
    ``empty.call`` is the first call alone, ``empty.new`` one with a shape that its process has not
    seen, where that was measured; ``imported.first`` and ``imported.two`` leave out all
    before wrapping. ``warm`` is the mean steady call.
    """

    case: str
    candidate: str
    baseline: bool
    compiles: bool
    """Whether its first calls traced, lowered, compiled or read a cache."""
    series: Mapping[str, Series]
    by_shape: Series = field(default_factory=dict)
    """What a call with each new shape took in empty caches: its median over processes."""
    made_s: float | None = None
    """Seconds that making beforehand took, in no other figure; ``None``: nothing is made."""

    def missing(self, names: Iterable[str]) -> str | None:
        """Say which of these costs no valid process has, or ``None`` where all are there."""
        for name in names:
            if not self.series.get(name):
                state = "empty" if name.startswith("imported") else name.partition(".")[0]
                return f"{self.candidate} has no valid processes {IN_WORDS[state]}"
        return None


@dataclass(frozen=True)
class Bounded:
    """A figure in seconds; ``low`` and ``high`` are ``None`` where there are too few processes."""

    middle: float
    low: float | None
    high: float | None


def costs(case: CaseResult) -> Costs:
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
    series["empty.new"] = _by_round((o, (new_shape_s(o),)) for o in valid)
    series["imported.first"] = _by_round((o, _imported(o)) for o in valid)
    series["imported.two"] = _by_round((o, (*_imported(o), _second(o))) for o in valid)
    processes = warm_processes(case.observations)
    means = ((p.observation, (math.fsum(p.steadiness.samples),)) for p in processes)
    sums = _by_round(means)
    lengths = by_round((p.observation, [len(p.steadiness.samples)]) for p in processes)
    series[WARM] = {key: sums[key] / lengths[key][0] for key in sums}
    return Costs(
        case.case,
        case.candidate,
        case.baseline,
        compiles,
        series,
        by_shape=_by_shape(valid),
        made_s=making_s(case),
    )


def making_s(case: CaseResult) -> float | None:
    """Return the median over a case's makings of the whole process; ``None``: there is none."""
    walls = [making.wall_s for making in case.made]
    return _median(walls) if walls else None


def new_shape_s(observation: Observation) -> float | None:
    """Return the mean of a process's calls with shapes that it had not seen, in seconds."""
    calls = [p.duration_s for p in observation.phases if p.name.startswith("new_shape_")]
    return math.fsum(calls) / len(calls) if calls else None


def _by_shape(observations: Sequence[Observation]) -> Series:
    found: dict[str, list[float]] = {}
    for observation in observations:
        for phase in observation.phases:
            if phase.name.startswith("new_shape_"):
                found.setdefault(phase.name, []).append(phase.duration_s)
    return {name: _median(values) for name, values in found.items()}


def _second(observation: Observation) -> float | None:
    return observation.phase_s("second_call")


def _imported(observation: Observation) -> tuple[float | None, float | None]:
    return observation.phase_s("wrap"), _call_s(observation)


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


def median(series: Series) -> float:
    """Return the median of one process or more."""
    return _median(list(series.values()))


def estimate(series: Series, confidence: float) -> Bounded:
    """Return the median of one process or more, and its interval from two on."""
    found = median_interval([[value] for value in series.values()], confidence=confidence)
    return Bounded(median(series), found.low, found.high)


def hull(one: Bounded, other: Bounded) -> Bounded:
    """Return the first figure within the bounds of both; unbounded where one of them is."""
    lows, highs = (one.low, other.low), (one.high, other.high)
    if None in lows or None in highs:
        return Bounded(one.middle, None, None)
    low = min(bound for bound in lows if bound is not None)
    return Bounded(one.middle, low, max(bound for bound in highs if bound is not None))


def difference(ours: Series, theirs: Series, confidence: float) -> Bounded:
    """Return by how much the median of ours exceeds that of theirs, with its interval.

    Processes of the same round ran next to each other: they are paired where enough rounds are
    common (``common_rounds``), and the others are then left out. Exchanging the two sides only
    changes the sign.
    """
    common = common_rounds(ours, theirs)
    first = [ours[key] for key in common or ours]
    second = [theirs[key] for key in common or theirs]
    # Resampling treats one side after the other: a fixed order makes the exchange exact.
    if sorted(first) > sorted(second):
        found = _difference(second, first, confidence, paired=bool(common))
        low, high = found.low, found.high
        return Bounded(
            -found.middle, None if high is None else -high, None if low is None else -low
        )
    return _difference(first, second, confidence, paired=bool(common))


def _difference(
    first: Sequence[float], second: Sequence[float], confidence: float, *, paired: bool
) -> Bounded:
    middle = _median(first) - _median(second)
    if min(len(first), len(second)) < FEWEST_FOR_INTERVAL:
        return Bounded(middle, None, None)
    low, high = (_paired if paired else _unpaired)(first, second, confidence)
    return Bounded(middle, min(low, middle), max(high, middle))


def _paired(
    first: Sequence[float], second: Sequence[float], confidence: float
) -> tuple[float, float]:
    ours, theirs = np.asarray(first), np.asarray(second)
    n = len(ours)
    if by_range(n, confidence):
        return extended_range(ours - theirs, confidence)
    picks = np.random.default_rng(0).integers(0, n, size=(RESAMPLES, n))
    drawn = np.median(ours[picks], axis=1) - np.median(theirs[picks], axis=1)
    low, high = np.quantile(drawn, tails(n, confidence))
    return float(low), float(high)


def _unpaired(
    first: Sequence[float], second: Sequence[float], confidence: float
) -> tuple[float, float]:
    """Join the intervals of both sides (see ``compare``: recovered variances)."""
    low_1, high_1 = bounds([[value] for value in first], confidence=confidence)
    low_2, high_2 = bounds([[value] for value in second], confidence=confidence, seed=1)
    middle_1, middle_2 = _median(first), _median(second)
    down = math.hypot(middle_1 - low_1, high_2 - middle_2)
    up = math.hypot(high_1 - middle_1, middle_2 - low_2)
    return middle_1 - middle_2 - down, middle_1 - middle_2 + up


def _median(values: Sequence[float]) -> float:
    return float(np.median(np.asarray(values)))
