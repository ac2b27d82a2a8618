"""Figures of a result for other tools: its valid figures, process by process. Pure.

A figure is exported as the run has it. Left out are cases without a valid answer, and processes
whose evidence does not prove the cache mode: they are in no figure of the run either.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from coldwarm import __version__
from coldwarm.contracts.base import WARM
from coldwarm.contracts.reasons import because
from coldwarm.report import shown
from coldwarm.report.sentences import with_advice
from coldwarm.report.shown import json_text
from coldwarm.stats import summarise
from coldwarm.stats.comparable import failure
from coldwarm.stats.intervals import group_medians
from coldwarm.stats.selection import counted, warm_processes
from coldwarm.stats.steady import steady_places

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.answer import Summary
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult, ColdSummary, Measured
    from coldwarm.stats.selection import WarmProcess


What = Literal["call", "first_result", "whole_start", "whole_loop", "peak_memory"]
_SECONDS: dict[What, str] = {
    "first_result": "ttfr",
    "whole_start": "ttfr_process",
    "whole_loop": "total",
}
"""The figures of a cold start, and their keys in ``ColdSummary.seconds``."""


class Process(NamedTuple):
    """Values of one process for a figure, in seconds or bytes."""

    observation: Observation
    values: tuple[float, ...]
    """Steady samples of warm calls, each for one call; else the one value."""
    warmups: tuple[float, ...] = ()
    """Samples of warm calls before the steady state."""
    batch: int = 1
    """Calls that one sample holds."""
    cpu_s: float | None = None
    """Processor time of one steady call, all threads together; ``None``: not known."""


@dataclass(frozen=True)
class Figure:
    """A figure of a case in one cache mode."""

    case: CaseResult
    mode: CacheMode
    what: What
    summary: Summary
    processes: tuple[Process, ...]

    @property
    def name(self) -> str:
        """Its name in other formats: the case, the cache mode, and what was measured."""
        return f"{self.case.case}/{self.mode}/{self.what}"

    @property
    def unit(self) -> Literal["s", "bytes"]:
        """The unit of its values."""
        return "bytes" if self.what == "peak_memory" else "s"

    @property
    def medians(self) -> list[float]:
        """The median of each process; their median is that of ``summary``."""
        return [float(value) for value in group_medians([one.values for one in self.processes])]

    @property
    def steady(self) -> bool:
        """Whether the calls were steady; a start is always."""
        return self.what != "call" or self.case.warm is None or self.case.warm.steady.steady


class Commit(NamedTuple):
    """A commit of a repository."""

    sha: str
    """Its whole hash."""
    committed_ms: int
    """When, in milliseconds since 1970."""


@dataclass(frozen=True)
class Exported:
    """Material of a format."""

    measured: Measured
    figures: list[Figure]
    left_out: list[tuple[str, str]]
    """Cases and figures that are not exported, and why."""
    commits: Mapping[str, Commit] = field(default_factory=dict)
    """The commit that a case was measured of, where the format asks for it."""


def exported(measured: Measured) -> Exported:
    """Return the figures of a result."""
    figures: list[Figure] = []
    left_out: list[tuple[str, str]] = []
    for case in measured.cases.values():
        why = failure(case)
        found = [] if why is not None else list(_of_case(case))
        figures += found
        if not found:
            left_out.append((case.case, with_advice(why or case.reason or _NONE)))
    return Exported(measured, figures, left_out)


_NONE = because("no_valid_process")


def without(made: Exported, why_not: Mapping[str, str]) -> Exported:
    """Return what is left without the figures named, and the reasons for these."""
    kept = [figure for figure in made.figures if figure.name not in why_not]
    return replace(made, figures=kept, left_out=[*made.left_out, *why_not.items()])


def _of_case(case: CaseResult) -> Iterator[Figure]:
    for mode in case.protocol.cache_modes:
        if mode == WARM:
            yield from _warm(case)
            continue
        summary = next((one for one in case.cold if one.cache_mode == mode), None)
        if summary is not None:
            yield from _cold(case, summary)


def _warm(case: CaseResult) -> Iterator[Figure]:
    processes = warm_processes(case.observations)
    if case.warm is not None and case.warm.call_s is not None and processes:
        seen = tuple(map(_calls, processes))
        yield Figure(case, WARM, "call", case.warm.call_s, seen)


def _calls(process: WarmProcess) -> Process:
    samples = [block.samples_s for block in process.blocks]
    batch = process.blocks[0].batch
    return Process(
        observation=process.observation,
        values=process.steadiness.samples,
        warmups=tuple(chain.from_iterable(samples))[: process.steadiness.warmup],
        batch=batch,
        cpu_s=_cpu_s(process, set(steady_places(samples))),
    )


def _cpu_s(process: WarmProcess, steady: set[int]) -> float | None:
    """Return the processor time of a call, over the blocks that are steady from end to end."""
    ends = accumulate((len(block.samples_s) for block in process.blocks), initial=0)
    whole = [
        block
        for block, (start, stop) in zip(process.blocks, pairwise(ends), strict=True)
        if steady.issuperset(range(start, stop))
    ]
    used_s = [block.cpu_s for block in whole if block.cpu_s is not None]
    if not whole or len(used_s) < len(whole):
        return None
    return sum(used_s) / sum(block.batch * len(block.samples_s) for block in whole)


def _cold(case: CaseResult, summary: ColdSummary) -> Iterator[Figure]:
    mode = summary.cache_mode
    valid = counted(case.observations, mode)
    for what, key in _SECONDS.items():
        if key in summary.seconds:
            values = [(one, summarise.figure(one, key)) for one in valid]
            seen = tuple(Process(one, (value,)) for one, value in values if value is not None)
            yield Figure(case, mode, what, summary.seconds[key], seen)
    if summary.peak_rss_bytes is not None:
        peaks = [(one, one.peak_rss_bytes) for one in valid]
        seen = tuple(Process(one, (float(peak),)) for one, peak in peaks if peak is not None)
        yield Figure(case, mode, "peak_memory", summary.peak_rss_bytes, seen)


_GIB = 2**30


def told(text: str) -> str:
    """Return foreign text in one line, with secrets as ``***``."""
    return shown.told(text).strip()


def json_bytes(document: Mapping[str, Any] | list[dict[str, Any]]) -> bytes:
    """Return plain values as JSON; numbers are written so that they read back the same."""
    return json_text(json.dumps(document, indent=1)).encode() + b"\n"


def coldwarm_version(measured: Measured) -> str:
    """Return the version of coldwarm that measured a result."""
    place = measured.environment
    return __version__ if place is None else told(place.harness.version)


def machine(place: Environment | None) -> dict[str, str]:
    """Return where a result was measured, as far as it is known; no name of the machine."""
    if place is None:
        return {}
    found = {
        "cpu": place.cpu.model,
        "cores": _text(place.cpu.usable_cores),
        "architecture": place.cpu.architecture,
        "os": f"{place.system.os} {place.system.kernel}",
        "ram": _ram(place.system.ram_bytes),
    }
    return {name: text for name, value in found.items() if value and (text := told(value))}


def versions(figure: Figure) -> dict[str, str]:
    """Return what its processes had loaded; where they differ, what the last one had."""
    found: dict[str, str] = {}
    for process in figure.processes:
        found |= process.observation.versions
    return {told(name): text for name, value in found.items() if (text := told(value))}


def identity(figure: Figure) -> dict[str, str]:
    """Return what was measured, by the names of the contract."""
    case = figure.case
    return {
        "case": case.case,
        "workload": case.workload,
        "candidate": case.candidate,
        "backend": case.backend,
        "device": case.device,
        "size": str(case.size),
        "dtype": case.dtype,
        "cache_mode": figure.mode,
    }


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _ram(size_bytes: int | None) -> str | None:
    return None if size_bytes is None else f"{round(size_bytes / _GIB)} GiB"
