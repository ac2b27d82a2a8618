"""Two snapshots held against each other, as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from coldwarm.report.catalogue import changes
from coldwarm.report.compare import terminal
from coldwarm.report.sentences import counted, words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from coldwarm.contracts.base import Difference
    from coldwarm.contracts.checked import ComparedRuns, ComparedSnapshots

_SHOWN = 6
"""Differences of one kind that are named."""


def render(found: ComparedSnapshots, console: Console) -> None:
    """Print what differs, run by run, and the figures of each."""
    for text in _lines(found):
        console.print(line(text))
    for kind, changed in (("pattern", found.patterns), ("claim", found.claims)):
        if changed is not None:
            console.print(Text())
            console.print(line(f"{kind}s", "bold"))
            console.print(changes.table(changed, kind))
    for run in found.runs:
        console.print(Text())
        console.print(line(run.suite, "bold"))
        for text in _of_run(run):
            console.print(line(f"  {text}"))
        if run.timings is not None:
            terminal.render(run.timings, console, everything=False)


def _lines(found: ComparedSnapshots) -> Iterator[str]:
    """Yield what the two are, and how many of their files are the same."""
    for label, side in (("A", found.a), ("B", found.b)):
        yield f"{label}  {side.snapshot_id}, index {side.snapshot_index_sha256}"
    n_same = found.files.overlap_paths - len(found.files.mismatches)
    text = f"{counted(n_same, 'file')} the same, {len(found.files.mismatches)} other bytes"
    yield f"{text}, {len(found.only_a)} only in A, {len(found.only_b)} only in B"
    for label, names in (("A", found.runs_only_a), ("B", found.runs_only_b)):
        if names:
            yield f"measured only in {label}: {', '.join(names)}"


def _of_run(run: ComparedRuns) -> Iterator[str]:
    """Yield what differs in the inputs, answers and statuses of one suite."""
    kinds = (("inputs", run.datasets), ("answers", run.gates), ("status", run.statuses))
    for named, differences in kinds:
        yield from _listed(named, differences)
    if not any(differences for _, differences in kinds):
        yield "inputs, answers and statuses are the same"
    if "timings" in run.null_reasons:
        yield f"timings not compared: {words(run.null_reasons['timings'])}"


def _listed(named: str, differences: list[Difference]) -> Iterator[str]:
    for one in differences[:_SHOWN]:
        yield f"{named} differ: {one.name}: A has {one.a[:16]}, B has {one.b[:16]}"
    if len(differences) > _SHOWN:
        yield f"{named} differ in {len(differences) - _SHOWN} more cases"
