"""What a run says of each workload: the answer, from the results of its cases alone. Pure.

Which candidate is the cheapest by the number of calls of a process (``plan.cheapest``), who leads
each figure (``plan.leading``), and what would change it. Whoever has the cases of a run gets
the same answers from them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts.answer import Answer
from coldwarm.contracts.base import FILLED, READINGS, WARM
from coldwarm.contracts.reasons import because
from coldwarm.stats.cautions import held_back
from coldwarm.stats.compare.control import differing, doubt, is_control
from coldwarm.stats.plan.cheapest import by_calls, without_ranges
from coldwarm.stats.plan.costs import EMPTY, WARM_CALL
from coldwarm.stats.plan.expected import middle_s
from coldwarm.stats.plan.gathering import gather
from coldwarm.stats.plan.leading import leads, metric
from coldwarm.stats.selection import counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.answer import ByCalls, CallRange
    from coldwarm.contracts.base import CacheMode, Reading
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.plan.costs import Costs

_FEWEST = 2
"""Candidates of which one can be the cheapest."""
MODES: dict[Reading, CacheMode] = {"process": EMPTY, "imported": EMPTY, "cached": FILLED}
"""The cache mode in which the processes of a reading start."""


def answers(cases: Sequence[CaseResult]) -> list[Answer]:
    """Return the answer of each group of cases, in the order in which the groups stand."""
    groups: dict[str, list[CaseResult]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    return [answer(members) for members in groups.values()]


def answer(cases: Sequence[CaseResult]) -> Answer:
    """Return what is known of one case or more of one workload, size and dtype."""
    others = [case for case in cases if not is_control(case)] or cases
    controls = [case for case in cases if is_control(case)]
    first = others[0]
    gathered = gather(first.group, others)
    led = leads(others, _asked(others))
    ranges = [] if first.scenario else list(_by_calls(gathered.known, others, controls))
    held = {case.candidate for case in others if held_back(case) is not None}
    no_ranges = because("whole_loops") if first.scenario else _not_asked(others)
    valid = [
        one
        for case in gathered.cases
        for one in case.observations
        if any(counts(one, mode) for mode in case.protocol.cache_modes)
    ]
    told = {one.candidate for one in gathered.known}
    return Answer(
        group=first.group,
        workload=first.workload,
        size=first.size,
        dtype=first.dtype,
        scenario=first.scenario,
        own=first.protocol.own is not None,
        baseline=next((c.candidate for c in others if c.baseline and c.candidate in told), None),
        candidates=[one.candidate for one in gathered.known],
        leads=led,
        by_calls=ranges,
        changes=list(changes(ranges, [one for one in gathered.known if one.candidate not in held])),
        not_measured=dict(gathered.not_measured),
        not_steady=dict(gathered.not_steady),
        n_processes=len(valid),
        n_rounds=_n_rounds(valid),
        null_reasons={} if ranges else {"by_calls": no_ranges},
    )


def _asked(cases: Iterable[CaseResult]) -> list[CacheMode]:
    """Return the cache modes that were asked for, each once."""
    return list(dict.fromkeys(mode for case in cases for mode in case.protocol.cache_modes))


def _not_asked(cases: Iterable[CaseResult]) -> Reason:
    """Say which cache modes of a start and later calls were not measured."""
    asked = _asked(cases)
    return because("not_asked_for", mode_names=[m for m in (EMPTY, WARM) if m not in asked])


def _n_rounds(observations: Iterable[Observation]) -> int:
    return len({one.round for one in observations})


def _by_calls(
    known: Sequence[Costs], cases: Sequence[CaseResult], controls: Sequence[CaseResult]
) -> Iterator[ByCalls]:
    """Yield the readings whose cache modes were measured."""
    asked = set(_asked(cases))
    held = {case.candidate: why for case in cases if (why := held_back(case)) is not None}
    needed = {reading: {MODES[reading], WARM} for reading in READINGS}
    measured = [reading for reading in READINGS if asked >= needed[reading]]
    for reading in measured:
        why = _doubt(controls, needed[reading])
        if why:
            yield without_ranges(reading, why)
            continue
        told = [one for one in known if one.candidate not in held]
        found = by_calls(told, reading, len(measured))
        few = (
            min(held.values(), default=None, key=lambda one: one.code)
            if len(told) < _FEWEST
            else None
        )
        yield replace(found, left_out={**held, **found.left_out}, reason=few or found.reason)


def _doubt(controls: Iterable[CaseResult], modes: set[CacheMode]) -> Reason | None:
    """Return why nothing is told where a program differs from itself in one of these modes."""
    for control, one in differing(controls):
        if one.metric in {metric(control, mode) for mode in modes}:
            return doubt(control, one, one.reason)
    return None


def changes(ranges: Sequence[ByCalls], known: Sequence[Costs]) -> Iterator[Reason]:
    """Yield what would change the answer for a process with empty caches."""
    readings = {one.reading: one for one in ranges}
    empty, filled = readings.get("process"), readings.get("cached")
    if empty is not None:
        for before, after in pairwise(empty.told):
            if after.among != before.among:
                yield _change("longer_process", after)
    if empty is not None and filled is not None and filled.ranges:
        yield from _of_filled_caches(empty, filled)
    for each in known:
        new, warm = each.series.get("empty.new"), each.series.get(WARM_CALL)
        if new and warm and each.compiles:
            extra_s = middle_s([(1.0, new)]) - middle_s([(1.0, warm)])
            yield because("more_shapes", candidate=each.candidate, extra_s=max(0.0, extra_s))


def _of_filled_caches(empty: ByCalls, filled: ByCalls) -> Iterator[Reason]:
    """Yield from when who is the cheapest then, where that is not so with empty ones already."""
    begins = {tuple(one.among): one.from_calls for one in reversed(empty.told)}
    for one in filled.told:
        begun = begins.setdefault(tuple(one.among), one.from_calls + 1)
        if one.from_calls < begun:
            yield _change("filled_caches", one)
    if empty.told and not filled.told:
        yield because("filled_caches_open")


def _change(code: str, one: CallRange) -> Reason:
    return because(code, candidate_names=one.among, n_calls=one.from_calls)
