"""Documents of a history: its figures, and what has changed in it."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Literal

from coldwarm.report import units
from coldwarm.report.comparison_text import figure
from coldwarm.report.document import Cell, Document, Notice, Paragraph, Terms, table, terms
from coldwarm.report.sentences import counted, words
from coldwarm.stats.change_points import FEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from coldwarm.contracts.history import (
        BackfilledOutcome,
        BisectedCommit,
        BisectedSide,
        HistoryAddition,
        HistoryBackfill,
        HistoryBisection,
        HistoryChange,
        HistoryCheck,
        HistoryFigure,
        HistoryMeasurement,
        HistoryPool,
        HistoryRow,
        HistoryRows,
        RunOfChange,
    )
    from coldwarm.report.document import Block

MOST_ROWS = 40
_MOST_LEFT_OUT = 8
_DIGITS = 8
"""Of a commit."""


def added(made: HistoryAddition) -> Document:
    """Return what was added."""
    said = f"{counted(len(made.added), 'run')} added to {made.folder}"
    said += f"; {made.n_there} there already" if made.n_there else ""
    if made.n_removed:
        said += f"; the raw results of {counted(made.n_removed, 'run')} removed"
    blocks: list[Block] = [Paragraph(f"{said}.")]
    items = [(name, words(why)) for name, why in made.left_out.items()]
    blocks += terms(items[:_MOST_LEFT_OUT], title="Left out")
    if len(items) > _MOST_LEFT_OUT:
        text = f"… and {counted(len(items) - _MOST_LEFT_OUT, 'benchmark')}: --format json has all"
        blocks.append(Paragraph(text, "dim"))
    return Document("coldwarm history add", tuple(blocks))


def measured(made: HistoryMeasurement) -> Document:
    """Return what became of runs on several machines."""
    said = f"{made.n_kept} of {counted(made.n_runs, 'run')} kept in {made.folder}."
    blocks: list[Block] = [Paragraph(said, "strong" if made.n_kept == made.n_runs else "failure")]
    blocks += [Paragraph(f"{one}.") for one in made.lost]
    for machine, share in made.noisy.items():
        text = f"{machine} was left out: it is too noisy to show less than {100 * share:.2g} %"
        blocks.append(Paragraph(f"{text} in a minute.", "failure"))
    return Document("coldwarm history measure", tuple(blocks))


def checked(found: HistoryCheck) -> Document:
    """Return what has changed."""
    changes = counted(len(found.changes), "change")
    runs = f"{counted(found.n_runs, 'run')}, {counted(found.n_series, 'figure')}"
    blocks: list[Block] = [Paragraph(f"{changes} in {runs}.", "strong")]
    if found.n_failing:
        text = f"{counted(found.n_failing, 'change')} beyond the limit."
        blocks.append(Paragraph(text, "failure"))
    shown = found.changes[:MOST_ROWS]
    if shown:
        columns = ("case", "figure", "change", "95 % interval", "from run of", "runs since")
        blocks.append(table(columns, map(_change_row, shown), labels=2))
    several = len({one.machine for one in found.changes}) > 1
    machines = found.machines if several else {}
    blocks += [one for change in shown for one in _terms(change, machines)]
    blocks += [_notice(one) for one in found.changes if one.fails_beyond is not None]
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
        Cell(one.case, style="name"),
        _metric(one),
        Cell(_percent(one.ratio), verdict=_verdict(one)),
        f"{low} to {high}",
        one.after.started_at[:10],
        str(one.n_since),
    )


def _verdict(one: HistoryChange) -> Literal["slower", "faster", "more", "less"]:
    if one.kind == "memory":
        return "more" if one.ratio > 1 else "less"
    return "slower" if one.ratio > 1 else "faster"


def _notice(one: HistoryChange) -> Notice:
    """Return a change beyond the limit as a remark in a workflow's log."""
    title = f"coldwarm history: {one.case}, {figure(one.metric)}"
    text = f"{_percent(one.ratio)} since the run of {_date(one.after)}"
    return Notice("error", title, f"{text}, {_commits(one)}")


def _metric(one: HistoryChange) -> str:
    named = figure(one.metric)
    said = f"{named}, the baseline" if one.baseline == one.case else named
    return said if one.fails_beyond is None else f"{said}, FAIL"


def _commits(one: HistoryChange) -> str:
    """Return between which commits it lies, as far as they are known."""
    sides = [_commit(side) for side in (one.before, one.after)]
    return f"{sides[0]}..{sides[1]}" if all(sides) else units.MISSING


def _commit(run: RunOfChange) -> str:
    return (run.commit or "")[:_DIGITS]


def _terms(one: HistoryChange, machines: Mapping[str, str]) -> Iterator[Terms]:
    """Yield what else is known of a change: its machine, what changed too, where it may lie."""
    items = [("commits", _commits(one))] if one.after.commit else []
    items += [("machine", name)] if (name := machines.get(one.machine)) else []
    items += [("also changed", f"{each.name}: {each.a} → {each.b}") for each in one.software]
    if one.earliest != one.latest:
        dates = " to ".join(map(_date, (one.earliest, one.latest)))
        items.append(("may begin", dates))
    if items:
        yield Terms(tuple(items), title=f"{one.case}  {figure(one.metric)}")


_SIDES: dict[BisectedSide, str] = {"good": "good", "bad": "bad", "left_out": "left out"}


def bisected(found: HistoryBisection) -> Document:
    """Return which commit changed a figure."""
    steps = counted(len(found.steps), "commit")
    said = f"{found.first} is the first with the change, {_percent(found.ratio)}."
    if found.first is None:
        said = f"One of {len(found.left)} commits has the change, {_percent(found.ratio)}."
    rows_ = [
        (
            Cell(one.commit[:_DIGITS], style="name"),
            Cell(_SIDES[one.side], verdict="undecided" if one.side == "left_out" else ""),
            Cell() if one.ratio is None else Cell(f"{one.ratio:.3g}", below=_bounds(one)),
        )
        for one in found.steps
    ]
    blocks: list[Block] = [
        Paragraph(said, "strong"),
        table(("commit", "side", f"ratio to {found.good[:_DIGITS]}"), rows_, labels=2),
        Paragraph(
            f"{steps} of {found.n_commits} measured: {figure(found.metric)} of {found.target}",
            "dim",
        ),
    ]
    if found.left:
        blocks += terms([("left", ", ".join(one[:_DIGITS] for one in found.left))])
    return Document("coldwarm history bisect", tuple(blocks))


def pooled(found: HistoryPool) -> Document:
    """Return figures over machines."""
    text = f"{counted(len(found.figures), 'figure')} over machines."
    blocks: list[Block] = [Paragraph(text, "strong")]
    shown = [
        (
            Cell(one.case, style="name"),
            figure(one.metric),
            str(len(one.machines)),
            Cell(f"{one.ratio:.3g}", below=f"{one.low:.3g} to {one.high:.3g}"),
            f"{one.predicted_low:.3g} to {one.predicted_high:.3g}",
            f"{100 * one.between:.1f} %",
        )
        for one in found.figures[:MOST_ROWS]
    ]
    if shown:
        heads = ("case", "figure", "machines", "ratio to baseline", "on another one", "differ by")
        blocks.append(table(heads, shown, labels=2))
    for one in found.figures[:MOST_ROWS]:
        if one.otherwise:
            names = "; ".join(one.otherwise)
            blocks += terms([(f"{one.case}, {figure(one.metric)}", f"otherwise on {names}")])
    if found.n_few:
        few = counted(found.n_few, "figure")
        text = f"{few} of fewer than three machines, or without an interval: nothing is said"
        blocks.append(Paragraph(text, "dim"))
    return Document("coldwarm history pool", tuple(blocks))


_OUTCOMES: dict[BackfilledOutcome, str] = {
    "added": "added",
    "there": "there already",
    "failed": "failed",
}


def backfilled(found: HistoryBackfill) -> Document:
    """Return which commits were measured."""
    n_added = sum(one.outcome == "added" for one in found.steps)
    text = f"{counted(n_added, 'commit')} of {found.n_commits} measured and added to {found.folder}"
    blocks: list[Block] = [
        Paragraph(f"{text}, each beside {found.newest[:_DIGITS]}.", "strong"),
        table(
            ("commit", "outcome"),
            [
                (
                    Cell(one.commit[:_DIGITS], style="name"),
                    Cell(_OUTCOMES[one.outcome], below=one.text),
                )
                for one in found.steps
            ],
            labels=2,
        ),
    ]
    return Document("coldwarm history backfill", tuple(blocks))


def rows(found: HistoryRows) -> Document:
    """Return figures of runs, the newest last."""
    text = counted(len(found.rows) + found.n_older, "figure")
    said = f"{text} of {counted(len(found.machines), 'machine')}."
    blocks: list[Block] = [Paragraph(said, "strong")]
    newest = sorted(found.rows, key=lambda one: one.started_at)[-MOST_ROWS:]
    shown = sorted(newest, key=lambda one: (one.figure.case, one.figure.metric, one.started_at))
    told = [
        (
            Cell(one.figure.case, style="name"),
            figure(one.figure.metric),
            _date(one),
            (one.commit or units.MISSING)[:_DIGITS],
            _value(one.figure),
            _ratio(one.figure),
        )
        for one in shown
    ]
    if told:
        columns = ("case", "figure", "run", "commit", "value", "ratio to baseline")
        blocks.append(table(columns, told, labels=2))
    if n_older := found.n_older + len(found.rows) - len(shown):
        rest = counted(n_older, "older figure")
        blocks.append(Paragraph(f"… and {rest}: --format csv has all", "dim"))
    return Document("coldwarm history query", tuple(blocks))


_COLUMNS = ("machine", "started_at", "run_id", "commit", "case", "metric", "kind", "value")
_COLUMNS_OF_RATIO = ("baseline", "ratio", "low", "high", "confidence")


def csv_text(found: HistoryRows) -> str:
    """Return figures of runs as a table that other programs read: seconds, bytes, ratios."""
    written = io.StringIO()
    table_ = csv.writer(written, lineterminator="\n")
    table_.writerow((*_COLUMNS, *_COLUMNS_OF_RATIO))
    for one in found.rows:
        of_run = (one.machine, one.started_at, one.run_id, one.commit or "")
        names = (*_COLUMNS[len(of_run) :], *_COLUMNS_OF_RATIO)
        numbers = (getattr(one.figure, name) for name in names)
        table_.writerow((*of_run, *("" if number is None else number for number in numbers)))
    return written.getvalue()


def _value(figure: HistoryFigure) -> str:
    return (units.size if figure.kind == "memory" else units.duration)(figure.value)


def _ratio(figure: HistoryFigure) -> Cell:
    if figure.ratio is None:
        return Cell()
    return Cell(f"{figure.ratio:.3g}", below=_bounds(figure))


def _bounds(one: HistoryFigure | BisectedCommit) -> str:
    return "" if one.low is None or one.high is None else f"{one.low:.3g} to {one.high:.3g}"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f} %"


def _date(run: RunOfChange | HistoryRow) -> str:
    return run.started_at[:16].replace("T", " ")
