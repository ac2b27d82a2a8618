"""The verdicts of stored patterns and claims, judged again, and how those of two differ. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from coldwarm.contracts.catalogue import ChangedVerdict
from coldwarm.stats.catalogue.claims import Seen, judged
from coldwarm.stats.catalogue.patterns import of_cases, of_facts
from coldwarm.stats.catalogue.versions import versions_of, versions_told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coldwarm.contracts.catalogue import ClaimResult, FactSheet, PatternResult
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.catalogue.patterns import Holds

    Cases = Mapping[str, CaseResult]
    """Of one run, by candidate."""


def claim_again(
    stored: ClaimResult, rule: Callable[[Seen], str], cases: Mapping[str, Cases]
) -> ClaimResult:
    """Return a stored claim with the verdict that its rule gives on its evidence.

    ``cases`` are those of its runs, by the name of the bench.
    """
    patterns = {one.pattern: one for one in stored.patterns}
    seen = Seen(cases=cases, sheets=stored.sheets, patterns=patterns)
    verdict, reason = judged(rule, seen)
    versions = versions_told(stored.sheets)
    for one in cases.values():
        versions |= versions_of(one.values())
    for known in stored.patterns:
        versions |= known.versions
    return replace(stored, verdict=verdict, reason=reason, figures=seen.asked, versions=versions)


def pattern_again(
    stored: PatternResult, measures: str, holds: Holds | None, cases: Cases
) -> PatternResult:
    """Return a stored pattern with the verdict and the figures that follow from its evidence.

    ``measures`` and ``holds`` are as the pattern declares them, ``cases`` of its run.

    Raises:
        LookupError: a side is not there.
    """
    if holds is not None:
        do, dont = (_sheet(stored.sheets, side) for side in ("do", "dont"))
        shown, versions = of_facts(do, dont, holds), do.versions
    else:
        shown = of_cases(measures, cases["do"], cases["dont"])
        versions = versions_of(cases.values())
    return replace(stored, measures=measures, versions=versions, **vars(shown))


def _sheet(sheets: Iterable[FactSheet], side: str) -> FactSheet:
    found = {one.function: one for one in sheets}
    return found[side]


def changed(a: Mapping[str, str], b: Mapping[str, str]) -> list[ChangedVerdict]:
    """Return what differs of two sets of verdicts by id, in the order of A and then of B."""
    names = [*a, *(name for name in b if name not in a)]
    return [
        ChangedVerdict(name=name, a=a.get(name), b=b.get(name))
        for name in names
        if a.get(name) != b.get(name)
    ]
