"""What changed from one result to another, for the page that holds two against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.report.charts import compared
from coldwarm.report.charts.every import charts
from coldwarm.report.compare import terminal
from coldwarm.report.page.sections import Section, of_charts
from coldwarm.report.page.surroundings import Folded
from coldwarm.report.reasons import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from coldwarm.contracts.comparison import ComparedMetric, RunComparison
    from coldwarm.contracts.measured import Measured
    from coldwarm.report.charts.chart import Chart
    from coldwarm.report.charts.workload import Workload

    Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Change:
    """A figure in A and in B; a ``…_value`` is what its column sorts by, empty: it is missing."""

    case: str
    what: str
    a: str
    a_value: float | str
    b: str
    b_value: float | str
    ratio: str
    ratio_value: float | str
    interval: str
    verdict: str
    said: str
    shows: str
    why: str


@dataclass(frozen=True)
class Changes:
    """All that the page says of a comparison."""

    summary: str
    sides: Pairs
    remarks: Pairs
    legend: Pairs
    rows: tuple[Change, ...]
    sections: tuple[Section, ...]
    software: Folded | None


def changes(comparison: RunComparison, sides: tuple[Measured, Measured]) -> Changes:
    """Return what the page says of two results."""
    differing = [(one.name, f"{one.a} in A, {one.b} in B") for one in comparison.software]
    return Changes(
        summary=terminal.summary(comparison),
        sides=tuple(terminal.sides(comparison)),
        remarks=tuple(terminal.remarks(comparison)),
        legend=tuple(terminal.legend(comparison)),
        rows=tuple(map(_change, comparison.metrics)),
        sections=tuple(_sections(comparison, sides)),
        software=Folded("What else differs", differing) if differing else None,
    )


def _change(item: ComparedMetric) -> Change:
    row = terminal.row(item)
    return Change(
        case=item.case,
        what=row.figure,
        a=row.a,
        a_value=_value(item.a),
        b=row.b,
        b_value=_value(item.b),
        ratio=row.ratio,
        ratio_value=_value(item.ratio),
        interval=row.interval,
        verdict=item.verdict,
        said=row.verdict,
        shows=row.shows,
        why=words(item.reason),
    )


def _value(figure: float | None) -> float | str:
    return "" if figure is None else figure


def _sections(comparison: RunComparison, sides: tuple[Measured, Measured]) -> Iterator[Section]:
    where = "Measured here, in the runs A and B"

    def judged(width: int) -> list[Chart]:
        return [one for one in [compared.ratios(comparison, width)] if one is not None]

    yield from of_charts(judged, "All figures", "ratios", where)
    for place, workload in enumerate(compared.pairs(*sides)):

        def drawn(width: int, workload: Workload = workload) -> list[Chart]:
            return charts(workload, width, compared.KINDS)

        looks = {name: look.colour for name, look in workload.looks.items()}
        yield from of_charts(drawn, workload.title, f"w{place}", where, looks)
