"""How it was measured: by which protocol, on which machine, and what the words mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.document import Folded, Terms, terms
from coldwarm.report.headline import group_name
from coldwarm.report.sections import ReportSection
from coldwarm.report.words import mode_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, Protocol
    from coldwarm.report.document import Block
    from coldwarm.report.sections import ShownResult

    Pairs = Iterator[tuple[str, str]]

_LIBRARIES = ("numpy", "scipy", "jax", "jaxlib", "torch", "triton", "numba", "llvmlite")


def _blocks(shown: ShownResult) -> Iterator[Block]:
    grouped: dict[str, list[CaseResult]] = {}
    for case in shown.cases:
        grouped.setdefault(group_name(case), []).append(case)
    found = {title: list(_of_workload(cases[0].protocol)) for title, cases in grouped.items()}
    shared = [row for row in next(iter(found.values())) if all(row in of for of in found.values())]
    yield Terms(tuple(shared))
    for title, cases in grouped.items():
        own = [row for row in found[title] if row not in shared]
        own += [(case.candidate, _of_candidate(case.protocol)) for case in cases]
        yield Folded(f"Protocol: {title}", (Terms(tuple(own)),))
    if (environment := shown.measured.environment) is not None:
        yield Terms(tuple(_environment(environment)), title="Machine and software")
        installed = sorted(environment.distributions.items())
        yield Folded("Installed distributions", (Terms(tuple(installed)),))
    if shown.view is not None:
        yield from terms(shown.view.legend, "legend", "What the words mean")


def _of_workload(one: Protocol) -> Pairs:
    """Yield what all candidates of a workload share."""
    effort = one.effort
    budget = "none" if effort.time_budget_s is None else units.duration(effort.time_budget_s)
    asked = (
        f"±{100 * effort.precision:g} % of each median, from {effort.min_runs} to "
        f"{effort.max_runs} processes of each cache mode; time budget: {budget}"
    )
    if effort.decide is not None:
        asked += f"; until verdicts at {100 * effort.decide:g} % were clear"
    threads = "each library's own default" if one.threads is None else str(one.threads)
    yield "inputs", f"{one.data_layout}; seed {one.seed}"
    yield "cache modes", "; ".join(mode_name(mode) for mode in one.cache_modes)
    yield "effort asked for", asked
    yield "threads", f"{threads}; processors {', '.join(map(str, one.affinity))}"
    yield "order", one.interleaving
    yield "warm-up", one.warmup_policy
    yield "source of the workload", f"SHA-256 {one.workload_sha256}"
    for name, text in one.windows.items():
        yield f"window: {name.replace('_', ' ')}", text
    yield "coldwarm", f"{one.harness_version}, SHA-256 {one.harness_sha256}"


def _of_candidate(one: Protocol) -> str:
    variables = ", ".join(f"{key}={value}" for key, value in one.environment_variables.items())
    said = [f"backend {one.backend}", f"synchronised by {one.sync_policy}"]
    if variables:
        said.append(f"set: {variables}")
    if one.own is not None:
        said += [f"checked: {one.own.checked}", f"arguments: {', '.join(one.own.arguments)}"]
    return "; ".join(said)


def _environment(one: Environment) -> Pairs:
    """Yield the machine, the interpreter, and what was installed and set."""
    cpu, system, python, installed = one.cpu, one.system, one.python, one.distributions
    yield "processor", cpu.model or "not known"
    cores = (
        ("physical", cpu.physical_cores),
        ("logical", cpu.logical_cores),
        ("usable", cpu.usable_cores),
    )
    told = (f"{number} {name}" for name, number in cores if number is not None)
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
    yield "Python", f"{python.implementation} {python.version}, {python.build}, {python.compiler}"
    yield "coldwarm", f"{one.harness.version}, commit {one.harness.git_commit or 'not known'}"
    known = [f"{name} {installed[name]}" for name in _LIBRARIES if name in installed]
    yield "libraries", ", ".join(known) or f"{len(installed)} distributions"
    pools = (
        f"{pool.library} {pool.threads} ({pool.internal_api})" for pool in one.thread_pools or []
    )
    yield "threads of libraries", ", ".join(pools) or "not known"
    variables = [f"{name}={value}" for name, value in one.variables.items()]
    variables += [f"{name} (value withheld)" for name in one.withheld_variables]
    yield "variables set", ", ".join(variables) or "none of those that matter"
    yield "collected", one.collected_at


SECTION = ReportSection(place=4, anchor="how", title="How it was measured", blocks=_blocks)
