"""The start that candidates have in common, before anything of their own runs. Pure.

Functions of one module, with the same interpreter and variables, start alike: the interpreter
comes up, the module is imported with its frameworks, and the devices are asked for. How long that
takes differs from process to process, and is no difference between the candidates. Of two
functions of JAX the ratio scattered by 7.9 % with empty and 16.8 % with filled caches, and without
what is in common by 5.3 and 3.7 % (22 and 31 rounds, on a shared machine). So where
candidates are compared, each process of a round counts the mean of that round for it.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult, OwnCandidate


class _Start(NamedTuple):
    """What a process took, in seconds."""

    import_s: float
    whole_s: float
    """From before the process to where its inputs are made."""


def starts_as(case: CaseResult) -> str | None:
    """Return the first candidate that starts as this one does; ``None``: no other does."""
    return None if case.protocol.own is None else case.protocol.own.starts_as


def starts_alike(one: OwnCandidate | None, other: OwnCandidate | None) -> bool:
    """Say whether the processes of two candidates do the same before they make their inputs."""
    first, second = (None if own is None else own.starts_as for own in (one, other))
    return first is not None and first == second


def levelled(sides: Sequence[Sequence[Observation]]) -> list[list[Observation]]:
    """Return the observations of candidates that start alike, each with the mean start.

    The mean is that of a round in a cache mode, over all sides that have it. Rounds of one side
    alone, and processes that did not come so far, are as they were.
    """
    places: dict[tuple[int, str], list[list[_Start]]] = defaultdict(lambda: [[] for _ in sides])
    for at, side in enumerate(sides):
        for one in side:
            if (start := _start(one)) is not None:
                places[_place(one)][at].append(start)
    means = {
        place: _mean([*filter(None, starts)])
        for place, starts in places.items()
        if sum(map(bool, starts)) > 1
    }
    return [[_with_start(one, means.get(_place(one))) for one in side] for side in sides]


def levelled_cases(cases: Sequence[CaseResult]) -> list[CaseResult]:
    """Return cases with levelled observations, where others among them start alike."""
    names = [*map(starts_as, cases)]
    found = {
        name: iter(levelled([case.observations for case in cases if starts_as(case) == name]))
        for name in names
        if name is not None
    }
    return [
        case if name is None else replace(case, observations=next(found[name]))
        for case, name in zip(cases, names, strict=True)
    ]


def _place(one: Observation) -> tuple[int, str]:
    return one.round, one.cache_mode


def _start(one: Observation) -> _Start | None:
    import_s = one.phase_s("import")
    setup_s = next((phase.start_s for phase in one.phases if phase.name == "setup"), None)
    if one.status != "ok" or one.ttfr_s is None or import_s is None or setup_s is None:
        return None
    return _Start(import_s, setup_s)


def _mean(sides: Sequence[Sequence[_Start]]) -> _Start:
    """Return the mean of the sides, each of which counts once."""
    import_s, whole_s = (
        fmean(fmean(one[part] for one in side) for side in sides) for part in range(2)
    )
    return _Start(import_s, whole_s)


def _with_start(one: Observation, mean: _Start | None) -> Observation:
    start = _start(one)
    if mean is None or start is None or one.ttfr_s is None:
        return one
    further_s = mean.whole_s - start.whole_s
    whole_s, loop = one.ttfr_process_s, one.loop
    return replace(
        one,
        ttfr_s=one.ttfr_s + mean.import_s - start.import_s,
        ttfr_process_s=None if whole_s is None else whole_s + further_s,
        loop=None if loop is None else replace(loop, total_s=loop.total_s + further_s),
    )
