"""What many processes of a program compile or import, each for itself."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import Codes, because
from coldwarm.doctor.rules import Rule
from coldwarm.doctor.source_code import called
from coldwarm.doctor.time_account import import_s
from coldwarm.doctor.trace import DebugSettings, Framework, SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.doctor import Finding
    from coldwarm.doctor.trace import CompiledCall, ProcessTrace


_REASONS = {
    "doctor_each_numba": "{n_processes} processes compiled {n_functions:# function} of Numba's,"
    " each for itself, such as {function}: {spent_s:time}, added up",
    "doctor_each_jax": "{n_processes} processes compiled {n_functions:# function} of JAX's, each"
    " for itself, such as {function}: {spent_s:time}, added up",
    "doctor_each_imports": "{n_processes} processes were started, and each of them imported its"
    " packages again: {spent_s:time}, added up",
    "doctor_side_by_side": "the processes may run side by side",
}
_ADVICE = {
    "doctor_each_numba": "keep what is compiled with cache=True; or keep the processes, and start"
    " them once",
    "doctor_each_jax": "set a folder for JAX's persistent compilation cache"
    " (jax_compilation_cache_dir); or keep the processes, and start them once",
}
_CHANGES = {
    "compiled-per-process": "keep what is compiled on disk, or keep the processes",
    "imported-per-process": "start one pool of processes, and use it again",
}
_FEWEST = 4
"""Processes: as many as a small pool has, and their parent, compile at once."""
_MANY, _OFTEN = 8, 3
"""Processes, and those for each processor, from which on they are started again and again."""
_POOLS, _RENEWS = {"Pool", "ProcessPoolExecutor"}, "maxtasksperchild"
"""Functions that start them, and an argument with which they are started anew."""
_LEAST_SHARE, _LEAST_S = 0.05, 1.0
"""Least share of the run, and seconds, to be reported."""


def _across(processes: Sequence[ProcessTrace]) -> Iterator[Finding]:
    """Name where most was compiled, for each framework."""
    for framework in ("numba", "jax"):
        groups: dict[tuple[str, str, int], dict[int, list[CompiledCall]]] = defaultdict(dict)
        for at, trace in enumerate(processes):
            for call in trace.calls:
                place = call.definition
                is_ours = call.framework == framework and not call.is_frameworks
                if is_ours and place is not None and call.compiled and not call.hit:
                    key = call.name, place.path, place.line
                    groups[key].setdefault(at, []).append(call)
        many = [by_process for by_process in groups.values() if len(by_process) >= _FEWEST]
        if many:
            yield from _finding(processes, framework, many)
    yield from _imported(processes)


def _imported(processes: Sequence[ProcessTrace]) -> Iterator[Finding]:
    """Name the line that starts processes again and again, of which each imports its packages."""
    first, *others = processes
    times = [seconds for one in others if (seconds := import_s(one))]
    loaded = next((row.name for one in others for row in one.rows_of(Framework)), None)
    n_processors = max((row.processors for row in first.rows_of(DebugSettings)), default=0)
    if loaded is None or not n_processors or len(times) < max(_MANY, _OFTEN * n_processors):
        return
    site = next(_starts(first), None)
    # At best they import side by side.
    lasted_s = sum(times) / n_processors
    if site is not None and lasted_s >= max(_LEAST_S, _LEAST_SHARE * first.lasted_s):
        yield first.finding(
            "imported-per-process",
            site,
            because("doctor_each_imports", n_processes=len(times), spent_s=sum(times)),
            framework=loaded,
            n=len(times),
            cost_s=sum(times),
            no_saving=because("doctor_side_by_side"),
        )


def _starts(trace: ProcessTrace) -> Iterator[SourceLine]:
    """Yield the lines that make pools again and again, or pools that renew their processes."""
    done: set[SourceLine] = set()
    for spot, _ in trace.spent:
        for at, line in enumerate(spot.stack):
            if line in done:
                continue
            done.add(line)
            for call in trace.sources.calls_at(line.path, line.line):
                renews = any(one.arg == _RENEWS for one in call.keywords)
                is_again = renews or trace.in_loop(spot.stack[at:])
                if called(call) in _POOLS and is_again:
                    yield SourceLine(line.path, call.lineno, line.function)


def _finding(
    processes: Sequence[ProcessTrace], framework: str, many: list[dict[int, list[CompiledCall]]]
) -> Iterator[Finding]:
    calls = [(at, call) for by_process in many for at, of in by_process.items() for call in of]
    spent_s = sum(call.total_s for _, call in calls)
    at, most = max(calls, key=lambda one: one[1].total_s)
    site = most.site or most.definition
    if site is None or spent_s < max(_LEAST_S, _LEAST_SHARE * processes[0].lasted_s):
        return
    says = because(
        f"doctor_each_{framework}",
        n_processes=len({at for at, _ in calls}),
        n_functions=len(many),
        function=most.name,
        spent_s=spent_s,
    )
    yield processes[at].finding(
        "compiled-per-process",
        site,
        says,
        framework=framework,
        n=len(calls),
        cost_s=spent_s,
        no_saving=because("doctor_side_by_side"),
    )


RULE = Rule(
    across=_across,
    codes=Codes(_REASONS, _ADVICE),
    changes=_CHANGES,
)
