"""Where figures come from: the run, the machine, and what of them is not proved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.errors import printable
from coldwarm.report import units

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.answer import Answer, Provenance
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.result import Measured


def facts(measured: Measured) -> Iterator[tuple[str, str]]:
    """Yield when a result was measured, on what, by what, and how much of it there is."""
    suite = measured.suite
    n_seen = sum(len(case.observations) for case in measured.cases.values())
    if suite is not None:
        ended = f" to {suite.finished_at}" if suite.finished_at else ", interrupted"
        yield "measured", f"{suite.started_at}{ended}"
        yield "run", suite.run_id
        counted = f"{suite.n_warn} with a warning or not measured, {suite.n_failed} failed"
        yield "cases", f"{suite.n_ok} ok, {counted}"
    wall = f", {units.duration(suite.measured_s)} in all" if suite is not None else ""
    yield "rests on", f"{n_seen} processes{wall}"
    if measured.environment is not None:
        yield "on", machine_line(measured.environment)
        harness = measured.environment.harness
        commit = f", commit {harness.git_commit[:12]}" if harness.git_commit else ""
        yield "by", f"coldwarm {harness.version}{commit}"
    yield from rows(len(measured.otherwise))


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


_SAID: dict[Provenance, str] = {
    "measured_here": "measured here",
    "replicated": "measured again",
    "quoted": "quoted from a source",
}


def source(measured: Measured, answer: Answer | None = None) -> str:
    """Return where figures come from: how they are known, the run, its day, the processor."""
    parts = [_SAID[answer.provenance if answer else "measured_here"]]
    if measured.suite is not None:
        parts += [f"run {measured.suite.run_id[:12]}", measured.suite.started_at[:10]]
    if measured.environment is not None:
        parts.append(measured.environment.cpu.model or measured.environment.cpu.architecture)
    return printable(", ".join(parts))


_TERM = "not proved"
"""Before the sentence, in a list of what a result is."""


def sentence(n_values: int) -> str:
    """Return how many stored values are neither shown nor proved; empty: all are."""
    if not n_values:
        return ""
    values = "value" if n_values == 1 else "values"
    return (
        "measured by another version of coldwarm, as it says; from the same samples this version "
        f"computes {n_values} {values} differently, and shows its own"
    )


def rows(n_values: int) -> list[tuple[str, str]]:
    """Return the same as a row of such a list, where there is any."""
    return [(_TERM, sentence(n_values))] if n_values else []
