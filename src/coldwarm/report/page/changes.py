"""Page of what changed from one result to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import compare
from coldwarm.report.page.making import filled
from coldwarm.report.page.surroundings import Folded
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.report.page.places import Section


def page(comparison: RunComparison, sections: Sequence[Section], paths: Sequence[str]) -> str:
    """Return the page of two results, which lie at ``paths``, with sections of figures of both."""
    differing = [(one.name, f"{one.a} in A, {one.b} in B") for one in comparison.software]
    rows = [(item, compare.row(item), words(item.reason)) for item in comparison.metrics]
    return filled(
        "compared.html.j2",
        sections,
        changes={
            "summary": compare.summary(comparison),
            "sides": compare.sides(comparison),
            "remarks": compare.remarks(comparison),
            "legend": compare.legend(comparison),
            "rows": rows,
            "sections": sections,
            "software": Folded("What else differs", differing) if differing else None,
        },
        title="coldwarm: B against A",
        subtitle=" against ".join(reversed(paths)),
        whats=list(dict.fromkeys(what.text for _, (what, *_), _ in rows)),
        told=list(dict.fromkeys(item.verdict for item, _, _ in rows)),
    )
