"""What could not be controlled, and processes that count for nothing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.report.document import Cell, Folded, Heading, Paragraph, Piece, name, table
from coldwarm.report.headline import group_name
from coldwarm.report.sections import ReportSection
from coldwarm.report.sentences import with_advice, words
from coldwarm.report.words import mode_name
from coldwarm.stats.selection import rejects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from coldwarm.contracts.result import CaseResult
    from coldwarm.report.document import Block
    from coldwarm.report.sections import ShownResult


def _blocks(shown: ShownResult) -> Iterator[Block]:
    limitations = _limitations(shown.cases)
    if not limitations:
        yield Paragraph("No limitation was recorded.")
    for text, who in limitations.items():
        yield _of(text, who)
    yield Heading("Rejected and failed processes")
    yield from _rejected(shown.cases)


def _of(text: str, who: str) -> Paragraph:
    return Paragraph((Piece(f"{text} "), Piece(f"({who})", style="dim")))


def _limitations(cases: Sequence[CaseResult]) -> dict[str, str]:
    """Return what could not be controlled, and of which candidates."""
    found: dict[str, list[str]] = {}
    for case in cases:
        for reason in case.limitations:
            found.setdefault(words(reason), []).append(case.candidate)
    every = {case.candidate for case in cases if case.limitations}
    return {
        text: "all candidates"
        if len(every) > 1 and set(names) == every
        else ", ".join(dict.fromkeys(names))
        for text, names in found.items()
    }


def _rejected(cases: Sequence[CaseResult]) -> Iterator[Block]:
    """Yield why processes count for nothing, and each of them."""
    counts: dict[str, Counter[str]] = {}
    rows = []
    for case in cases:
        for one in rejects(case.observations):
            seen, mode = one.observation, mode_name(one.mode)
            what = seen.status if seen.status != "ok" else "rejected"
            why = f"{what}: {with_advice(one.reason)}"
            counts.setdefault(why, Counter())[f"{case.candidate}, {mode}"] += 1
            place = f"round {seen.round}, try {seen.attempt + 1}"
            said = Cell(why, below=seen.stderr_tail or "")
            rows.append((group_name(case), name(case.candidate), mode, place, said))
    if not rows:
        yield Paragraph("None: every process proved its cache mode.")
        return
    yield Paragraph("They count for no figure. They are in the raw data.")
    for why, of in counts.items():
        yield _of(why, "; ".join(f"{who} ({n})" if n > 1 else who for who, n in of.items()))
    columns = ("workload", "candidate", "caches", "process", "why, and what it printed last")
    yield Folded("Each process", (table(columns, rows, labels=len(columns)),))


SECTION = ReportSection(place=3, anchor="limitations", title="Limitations", blocks=_blocks)
