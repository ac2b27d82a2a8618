"""What a candidate's processes cost, one value for each process, and how two of them differ.

A total is a sum, so calls after the second one cost what they took together (``later``), and beyond
those that were measured the *mean* of steady ones: calls that the machine held up are paid for as
well. Elsewhere the median stands for a warm call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from coldwarm.contracts.base import FILLED, WARM
from coldwarm.contracts.reasons import because
from coldwarm.stats.bounded import median_of
from coldwarm.stats.plan.later import later
from coldwarm.stats.selection import by_round, counted, warm_processes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.plan.later import Later

    Series = Mapping[str, float]

EMPTY: CacheMode = "cold_process_cold_cache"
WARM_CALL = "warm"
FEWEST = 2
"""Calls from which all further ones are warm."""
STATES: dict[str, CacheMode] = {"empty": EMPTY, "filled": FILLED}
_MODES = {**STATES, "imported": EMPTY, WARM_CALL: WARM}
"""By the beginning of a cost's name, the cache mode that it is from."""
_COMPILING = ("trace_s", "lower_s", "compile_s", "cache_read_s")


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
    """What a call with each new shape took in empty caches: its median over processes."""
    made_s: float | None = None
    """Seconds that compiling ahead of time took, in no other figure; ``None``: there was none."""
    later: Later | None = None
    """How the measured calls after the second one differ from ``warm``; ``None``: not at all."""

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
    series["empty.new"] = _by_round((o, (o.new_shape_s,)) for o in valid)
    series["imported.first"] = _by_round((o, _imported(o)) for o in valid)
    series["imported.two"] = _by_round((o, (*_imported(o), _second(o))) for o in valid)
    after = later(warm_processes(case.observations))
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
    )


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
