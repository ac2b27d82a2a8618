"""What stands folded at the end of the page: how and where it was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.figures import group_name
from coldwarm.report.sentences import words
from coldwarm.report.words import mode_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, Protocol

    Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Folded:
    """A table of two columns that is closed at first."""

    title: str
    rows: Pairs


def limitations(cases: Sequence[CaseResult]) -> Pairs:
    """Return what could not be controlled, and of which candidates."""
    found: dict[str, list[str]] = {}
    for case in cases:
        for reason in case.limitations:
            found.setdefault(words(reason), []).append(case.candidate)
    every = {case.candidate for case in cases if case.limitations}
    return [(text, _who(names, every)) for text, names in found.items()]


def _who(names: Iterable[str], every: set[str]) -> str:
    named = list(dict.fromkeys(names))
    return "all candidates" if len(every) > 1 and set(named) == every else ", ".join(named)


def protocols(cases: Sequence[CaseResult]) -> Iterator[Folded]:
    """Yield how each workload was measured: what all its candidates share, then by candidate."""
    grouped: dict[str, list[CaseResult]] = {}
    for case in cases:
        grouped.setdefault(group_name(case), []).append(case)
    for title, members in grouped.items():
        rows = _shared(members)
        for case in members:
            rows.append((case.candidate, _of_candidate(case.protocol)))
        yield Folded(title, rows)


def _shared(cases: Sequence[CaseResult]) -> Pairs:
    one = cases[0].protocol
    effort = one.effort
    budget = "none" if effort.time_budget_s is None else units.duration(effort.time_budget_s)
    asked = (
        f"±{100 * effort.precision:g} % of each median, from {effort.min_runs} to "
        f"{effort.max_runs} processes of each cache mode; time budget: {budget}"
    )
    if effort.decide is not None:
        asked += f"; until verdicts at {100 * effort.decide:g} % were clear"
    threads = "each library's own default" if one.threads is None else str(one.threads)
    return [
        ("inputs", f"{one.data_layout}; seed {one.seed}"),
        ("cache modes", "; ".join(mode_name(mode) for mode in one.cache_modes)),
        ("effort asked for", asked),
        ("threads", f"{threads}; processors {', '.join(map(str, one.affinity))}"),
        ("order", one.interleaving),
        ("warm-up", one.warmup_policy),
        ("source of the workload", f"SHA-256 {one.workload_sha256}"),
        *((f"window: {name.replace('_', ' ')}", text) for name, text in one.windows.items()),
        ("coldwarm", f"{one.harness_version}, SHA-256 {one.harness_sha256}"),
    ]


def _of_candidate(one: Protocol) -> str:
    variables = ", ".join(f"{key}={value}" for key, value in one.environment_variables.items())
    said = [f"backend {one.backend}", f"synchronised by {one.sync_policy}"]
    if variables:
        said.append(f"set: {variables}")
    if one.own is not None:
        said += [f"checked: {one.own.checked}", f"arguments: {', '.join(one.own.arguments)}"]
    return "; ".join(said)


def environment(one: Environment) -> Iterator[Folded]:
    """Yield the machine, the interpreter, and what was installed and set."""
    yield Folded("Machine", list(_machine(one)))
    python = one.python
    rows = [
        ("Python", f"{python.implementation} {python.version}, {python.build}, {python.compiler}"),
        ("coldwarm", f"{one.harness.version}, commit {one.harness.git_commit or 'not known'}"),
        *((f"set: {name}", value) for name, value in one.variables.items()),
        *((f"set: {name}", "value withheld") for name in one.withheld_variables),
        *(
            (f"threads of {pool.library}", f"{pool.threads} ({pool.internal_api})")
            for pool in one.thread_pools or []
        ),
    ]
    yield Folded("Interpreter and settings", rows)
    yield Folded("Installed distributions", sorted(one.distributions.items()))


def _machine(one: Environment) -> Iterator[tuple[str, str]]:
    cpu, system = one.cpu, one.system
    yield "processor", cpu.model or "not known"
    cores = (("physical", cpu.physical_cores), ("logical", cpu.logical_cores))
    told = [f"{number} {name}" for name, number in cores if number is not None]
    if cpu.usable_cores is not None:
        told.append(f"{cpu.usable_cores} usable")
    yield "cores", ", ".join(told) or "not known"
    for cache in cpu.caches or []:
        yield f"cache, level {cache.level} {cache.kind}", units.size(cache.size_bytes)
    frequency = (cpu.frequency.driver, cpu.frequency.governor)
    yield "frequency", ", ".join(filter(None, frequency)) or "not told by this system"
    yield "memory", "not known" if system.ram_bytes is None else units.size(system.ram_bytes)
    yield "operating system", one.platform
    yield "virtualisation", system.virtualization or "not known"
    yield "container", system.container or "not known"
    for gpu in one.gpus or []:
        yield "GPU", f"{gpu.model}, driver {gpu.driver}"
    if one.gpus is not None and not one.gpus:
        yield "GPU", "none"
    yield "collected", one.collected_at


def machine_line(one: Environment) -> str:
    """Return the machine in a few words."""
    cores = one.cpu.usable_cores or one.cpu.logical_cores
    parts = [
        one.cpu.model or one.cpu.architecture,
        f"{cores} processors" if cores else "",
        *(gpu.model for gpu in one.gpus or []),
        f"{one.system.os} {one.system.kernel}",
        f"Python {one.python.version}",
    ]
    return ", ".join(filter(None, parts))
