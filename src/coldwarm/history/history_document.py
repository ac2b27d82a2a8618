"""Documents of a history: its figures, and what has changed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.document import Cell, Document, Paragraph, Terms, table
from coldwarm.report.sentences import counted
from coldwarm.stats.change_points import FEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.history import (
        HistoryChange,
        HistoryCheck,
        HistoryFigure,
        HistoryRow,
        HistoryRows,
        RunOfChange,
    )
    from coldwarm.report.document import Block

_MOST_ROWS = 40
_DIGITS = 8
"""Of a commit."""


def checked(found: HistoryCheck) -> Document:
    """Return what has changed."""
    changes = counted(len(found.changes), "change")
    runs = f"{counted(found.n_runs, 'run')}, {counted(found.n_series, 'figure')}"
    blocks: list[Block] = [Paragraph(f"{changes} in {runs}.", "strong")]
    if found.n_failing:
        text = f"{counted(found.n_failing, 'change')} beyond the limit."
        blocks.append(Paragraph(text, "failure"))
    shown = found.changes[:_MOST_ROWS]
    if shown:
        columns = ("figure", "change", "from run", "commit", "since")
        blocks.append(table(columns, map(_change_row, shown), labels=1))
    blocks += [one for change in shown for one in _terms(change)]
    if len(found.changes) > len(shown):
        rest = counted(len(found.changes) - len(shown), "older change")
        blocks.append(Paragraph(f"… and {rest}: --format json has all", "dim"))
    if found.n_short:
        text = f"{counted(found.n_short, 'figure')} with fewer than {FEWEST} runs: too few to tell"
        blocks.append(Paragraph(f"{text} a change.", "dim"))
    return Document("coldwarm history check", tuple(blocks))


def _change_row(one: HistoryChange) -> tuple[Cell | str, ...]:
    low, high = map(_percent, (one.low, one.high))
    return (
        Cell(one.case, below=one.metric, style="name"),
        Cell(
            _percent(one.ratio),
            below=f"{low} to {high}",
            verdict="slower" if one.ratio > 1 else "faster",
        ),
        _date(one.after),
        _commits(one),
        counted(one.n_since, "run"),
    )


def _commits(one: HistoryChange) -> str:
    """Return between which commits it lies, as far as they are known."""
    sides = [_commit(side) for side in (one.before, one.after)]
    return f"{sides[0]}..{sides[1]}" if all(sides) else units.MISSING


def _commit(run: RunOfChange) -> str:
    return (run.commit or "")[:_DIGITS]


def _terms(one: HistoryChange) -> Iterator[Terms]:
    """Yield what else is known of a change: what changed there too, and where it may lie."""
    items = [("also changed", f"{each.name}: {each.a} → {each.b}") for each in one.software]
    if one.earliest != one.latest:
        dates = " to ".join(map(_date, (one.earliest, one.latest)))
        items.append(("may begin", dates))
    if items:
        yield Terms(tuple(items), title=f"{one.case}  {one.metric}")


def rows(found: HistoryRows) -> Document:
    """Return figures of runs, the newest last."""
    text = counted(len(found.rows), "figure")
    said = f"{text} of {counted(len(found.machines), 'machine')}."
    blocks: list[Block] = [Paragraph(said, "strong")]
    shown = sorted(found.rows, key=lambda one: (one.figure.case, one.figure.metric, one.started_at))
    told = [
        (
            Cell(one.figure.case, below=one.figure.metric, style="name"),
            _date(one),
            (one.commit or units.MISSING)[:_DIGITS],
            _value(one.figure),
            _ratio(one.figure),
        )
        for one in shown[-_MOST_ROWS:]
    ]
    if told:
        columns = ("figure", "run", "commit", "value", "times the baseline")
        blocks.append(table(columns, told, labels=1))
    if len(shown) > _MOST_ROWS:
        rest = counted(len(shown) - _MOST_ROWS, "other figure")
        blocks.append(Paragraph(f"… and {rest}: --format json has all", "dim"))
    return Document("coldwarm history query", tuple(blocks))


def _value(figure: HistoryFigure) -> str:
    return (units.size if figure.kind == "memory" else units.duration)(figure.value)


def _ratio(figure: HistoryFigure) -> Cell:
    if figure.ratio is None:
        return Cell()
    low, high = figure.low, figure.high
    below = "" if low is None or high is None else f"{low:.3g} to {high:.3g}"
    return Cell(f"{figure.ratio:.3g}", below=below)


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def _date(run: RunOfChange | HistoryRow) -> str:
    return run.started_at[:16].replace("T", " ")
