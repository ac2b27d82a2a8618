"""Starts of processes: the median of each part laid end to end, and every process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.stats.selection import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult

BEFORE = ("start", "import", "build", "wrap")
OF_CALL = ("trace", "lower", "compile", "cache_read", "rest")


class Part(NamedTuple):
    """A part of a start, from where the parts before it end; ``seconds`` is its median.

    Medians do not add up: the last end may lie a little beside the median of the whole.
    """

    candidate: str
    cache_mode: CacheMode
    part: str
    order: int
    start_s: float
    end_s: float
    seconds: float


class Whole(NamedTuple):
    """The median of a whole with its interval, or the range of so few that there is none."""

    candidate: str
    cache_mode: CacheMode
    median_s: float
    low_s: float | None
    high_s: float | None
    n_processes: int


class Start(NamedTuple):
    """One process."""

    candidate: str
    cache_mode: CacheMode
    process: int
    seconds: float


def parts(cases: Sequence[CaseResult]) -> list[Part]:
    """Return the parts from the start of a process to its result, of a scenario to its end."""
    return [part for case in cases for part in _stacked(case, (*BEFORE, *_call(case)))]


def call_parts(cases: Sequence[CaseResult]) -> list[Part]:
    """Return the parts of the first call alone, of a scenario those of its loop."""
    return [part for case in cases for part in _stacked(case, _call(case))]


def _call(case: CaseResult) -> tuple[str, ...]:
    return tuple(f"{'loop' if case.scenario else 'first_call'}.{part}" for part in OF_CALL)


def _stacked(case: CaseResult, keys: Sequence[str]) -> Iterator[Part]:
    for cold in case.cold:
        end_s = 0.0
        for order, key in enumerate(keys):
            if key not in cold.seconds:
                continue
            start_s, seconds = end_s, cold.seconds[key].median
            end_s = start_s + seconds
            name = key.rpartition(".")[2]
            yield Part(case.candidate, cold.cache_mode, name, order, start_s, end_s, seconds)


def wholes(cases: Sequence[CaseResult]) -> list[Whole]:
    """Return the time from the start of a process to its result, of a scenario to its end."""
    return list(_wholes(cases, "ttfr_process", "total"))


def call_wholes(cases: Sequence[CaseResult]) -> list[Whole]:
    """Return the time of the first call, of a scenario of its loop."""
    return list(_wholes(cases, "first_call", "loop"))


def _wholes(cases: Sequence[CaseResult], usual: str, of_scenario: str) -> Iterator[Whole]:
    for case in cases:
        for cold in case.cold:
            found = cold.seconds.get(of_scenario if case.scenario else usual)
            if found is not None:
                yield Whole(
                    case.candidate,
                    cold.cache_mode,
                    found.median,
                    found.low,
                    found.high,
                    found.n_processes,
                )


def starts(cases: Sequence[CaseResult]) -> list[Start]:
    """Return what each process took to its result, of a scenario to its end."""
    return list(_each(cases, call=False))


def calls(cases: Sequence[CaseResult]) -> list[Start]:
    """Return what the first call of each process took, of a scenario its loop."""
    return list(_each(cases, call=True))


def _each(cases: Sequence[CaseResult], *, call: bool) -> Iterator[Start]:
    for case in cases:
        for cold in case.cold:
            mode = cold.cache_mode
            for number, seen in enumerate(counted(case.observations, mode), 1):
                seconds = _call_s(seen) if call else _whole_s(seen)
                if seconds is not None:
                    yield Start(case.candidate, mode, number, seconds)


def _whole_s(seen: Observation) -> float | None:
    return seen.ttfr_process_s if seen.loop is None else seen.loop.total_s


def _call_s(seen: Observation) -> float | None:
    return seen.phase_s("first_call") if seen.loop is None else seen.loop.loop_s
