"""What changed from one result to another, for the page that holds two against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldwarm.report import compare
from coldwarm.report.page.making import filled
from coldwarm.report.page.surroundings import Folded
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import ComparedMetric, RunComparison
    from coldwarm.report.page.places import Section

    Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Change:
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
class _Changes:
    """All that the page says of a comparison."""

    summary: str
    sides: Pairs
    remarks: Pairs
    legend: Pairs
    rows: tuple[_Change, ...]
    sections: Sequence[Section]
    software: Folded | None


def changes(comparison: RunComparison, sections: Sequence[Section]) -> _Changes:
    """Return what the page says of two results, with sections of figures of both."""
    differing = [(one.name, f"{one.a} in A, {one.b} in B") for one in comparison.software]
    return _Changes(
        summary=compare.summary(comparison),
        sides=tuple(compare.sides(comparison)),
        remarks=tuple(compare.remarks(comparison)),
        legend=tuple(compare.legend(comparison)),
        rows=tuple(map(_change, comparison.metrics)),
        sections=sections,
        software=Folded("What else differs", differing) if differing else None,
    )


def _change(item: ComparedMetric) -> _Change:
    row = compare.row(item)
    return _Change(
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


def page(found: _Changes, paths: Sequence[str]) -> str:
    """Return the page of what changed from one result to another, which lie at ``paths``."""
    return filled(
        "compared.html.j2",
        found.sections,
        changes=found,
        title="coldwarm: B against A",
        subtitle=" against ".join(reversed(paths)),
        whats=list(dict.fromkeys(one.what for one in found.rows)),
        told=list(dict.fromkeys(one.verdict for one in found.rows)),
    )
