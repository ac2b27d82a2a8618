"""Whether the outputs that were checked agree with what they were held against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.document import Cell, Folded, Paragraph, name, table
from coldwarm.report.headline import group_name, held_against
from coldwarm.report.sections import ReportSection
from coldwarm.report.sentences import words
from coldwarm.stats.outcome import gates, of_group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.document import Block
    from coldwarm.report.sections import ShownResult


def _blocks(shown: ShownResult) -> Iterator[Block]:
    yield from checked(shown.cases)
    if rows := list(_each(shown.cases)):
        columns = ("workload", "candidate", "passed", "largest error", "tolerance", "checked")
        yield Folded("Each candidate", (table(columns, rows, labels=len(columns)),))


def checked(cases: Sequence[CaseResult]) -> Iterator[Block]:
    """Yield a sentence, and a row for each workload of which outputs were checked."""
    grouped: dict[str, list[CaseResult]] = {}
    for case in cases:
        grouped.setdefault(group_name(case), []).append(case)
    known = {title: found for title, them in grouped.items() if (found := of_group(them))}
    if not known:
        yield Paragraph("No output was checked: these figures are of nothing known to be right.")
        return
    n_cases = sum(one.n_cases for one in known.values())
    if n_failed := sum(len(one.failed) for one in known.values()):
        said = "cases gave wrong answers; no figure of theirs stands for anything."
        yield Paragraph(f"{n_failed} of {n_cases} {said}", "failure")
    else:
        agree = f"Outputs that were checked: all of {n_cases} cases agree, {held_against(cases)}."
        yield Paragraph(f"{agree} Errors are relative to the largest magnitude of the reference.")
    rows = (
        (
            title,
            f"{one.n_passed} of {one.n_checked}",
            ", ".join(one.failed) or "none",
            _error(one.worst),
            _error(one.tolerance),
        )
        for title, one in known.items()
    )
    yield table(("workload", "passed", "wrong", "largest error", "tolerance"), rows)


def _each(cases: Sequence[CaseResult]) -> Iterator[tuple[Cell | str, ...]]:
    for case in cases:
        if (found := gates(case.observations)) is not None:
            whole = found.n_passed == found.n_checked
            yield (
                group_name(case),
                name(case.candidate),
                Cell(
                    f"{'all ' if whole else ''}{found.n_passed} of {found.n_checked}",
                    below=words(found.reason) if found.reason else "",
                    verdict="" if whole else "failed",
                ),
                _error(found.worst),
                _error(found.tolerance),
                ", ".join(one.replace("_", " ") for one in found.checked),
            )


def _error(value: float | None) -> Cell:
    return Cell(units.MISSING if value is None else f"{value:.2g}", value=value)


SECTION = ReportSection(
    place=2, anchor="correctness", title="Correct answers", blocks=_blocks, stands_open=True
)
