"""Where figures come from: machine, protocol, limitations, correctness, what counts for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.contracts.reasons import because
from coldwarm.report import units
from coldwarm.report.headline import cold_figure, comparison, group_name, headline
from coldwarm.report.sentences import with_advice, words
from coldwarm.report.words import MODE_NAMES, mode_name
from coldwarm.stats.outcome import gates
from coldwarm.stats.selection import rejects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import CaseResult, Protocol
    from coldwarm.report.view import Row

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


@dataclass(frozen=True)
class FigureRow:
    """A headline figure of a case: its median, and the verdict against the baseline."""

    workload: str
    candidate: str
    anchor: str
    """Of the workload's section."""
    what: str
    """``warm call``, ``first result, empty caches``, …"""
    median_s: float | None
    median: str
    spread: str
    verdict: str
    """``faster``, ``slower``, ``same``, ``undecided``, ``baseline``; empty: there is none."""
    ratio: str
    """The bounds of the ratio, as words."""
    ratio_value: float | None
    n_processes: int
    n_rejected: int
    status: str
    why: str
    """Of a verdict, what it rests on; of a missing figure, why."""


@dataclass(frozen=True)
class GateRow:
    """The correctness of a case: its outputs against the reference."""

    workload: str
    candidate: str
    passed: str
    """``all 12 processes``, or how many."""
    failed: bool
    error: str
    tolerance: str
    checked: str
    reason: str


@dataclass(frozen=True)
class RejectedRow:
    """A process that counts for nothing, and why."""

    workload: str
    candidate: str
    mode: str
    place: str
    what: str
    reason: str
    stderr: str


def figures(
    cases: Sequence[CaseResult], rows: dict[tuple[str, str], Row], anchors: dict[str, str]
) -> list[FigureRow]:
    """Return the headline figures of all cases in their order, also missing ones of failures."""
    return [
        _figure(case, mode, rows.get((group_name(case), case.candidate)), anchors)
        for case in cases
        for mode in MODE_NAMES
        if mode in case.protocol.cache_modes
        if case.status == "failed" or (group_name(case), case.candidate) in rows
    ]


def _figure(
    case: CaseResult, mode: CacheMode, row: Row | None, anchors: dict[str, str]
) -> FigureRow:
    summary, judged = headline(case, mode), comparison(case, mode)
    cell = row.figures.get(mode) if row else None
    told = judged.verdict if judged else "baseline" if case.baseline and summary else ""
    holder = (
        case.warm if mode == WARM else next((c for c in case.cold if c.cache_mode == mode), None)
    )
    missing = case.reason or because("unstated")
    why = words(judged.reason) if judged else "" if summary else words(missing)
    return FigureRow(
        workload=group_name(case),
        candidate=case.candidate,
        anchor=anchors.get(group_name(case), ""),
        what=_what(case, mode),
        median_s=summary.median if summary else None,
        median=cell.text if cell else units.MISSING,
        spread=cell.spread if cell else "",
        verdict=told,
        ratio=(cell.note or cell.below) if cell and judged else "",
        ratio_value=judged.ratio if judged else None,
        n_processes=summary.n_processes if summary else 0,
        n_rejected=holder.n_rejected if holder else 0,
        status=case.status,
        why=why,
    )


def _what(case: CaseResult, mode: CacheMode) -> str:
    if mode == WARM:
        return "loop again, warm" if case.scenario else "warm call"
    whole = "whole loop" if cold_figure(case) == "total" else "first result"
    return f"{whole}, {MODE_NAMES[mode]}"


def gate_rows(cases: Sequence[CaseResult]) -> Iterator[GateRow]:
    """Yield the correctness of each case that was checked."""
    for case in cases:
        found = gates(case.observations)
        if found is None:
            continue
        whole = found.n_passed == found.n_checked
        yield GateRow(
            workload=group_name(case),
            candidate=case.candidate,
            passed=f"{'all ' if whole else ''}{found.n_passed} of {found.n_checked}",
            failed=not whole,
            error="–" if found.worst is None else f"{found.worst:.2g}",
            tolerance=f"{found.tolerance:.2g}",
            checked=", ".join(name.replace("_", " ") for name in found.checked),
            reason=words(found.reason) if found.reason else "",
        )


def rejected_rows(cases: Sequence[CaseResult]) -> Iterator[RejectedRow]:
    """Yield the processes that count for nothing."""
    for case in cases:
        for one in rejects(case.observations):
            yield RejectedRow(
                workload=group_name(case),
                candidate=case.candidate,
                mode=mode_name(one.mode),
                place=f"round {one.observation.round}, try {one.observation.attempt + 1}",
                what=one.observation.status if one.observation.status != "ok" else "rejected",
                reason=with_advice(one.reason),
                stderr=one.observation.stderr_tail or "",
            )


TERM = "not proved"
"""Before the sentence, in a list of what a result is."""


def sentence(n_values: int) -> str:
    """Return how many stored values are neither shown nor proved; empty: all are."""
    if not n_values:
        return ""
    values = "value" if n_values == 1 else "values"
    return (
        f"another version of coldwarm measured it, as it says: {n_values} stored {values} not "
        "proved and not shown, as today's rules make other ones of its samples"
    )


def rows(n_values: int) -> list[tuple[str, str]]:
    """Return the same as a row of such a list, where there is any."""
    return [(TERM, sentence(n_values))] if n_values else []
