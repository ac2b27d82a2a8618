"""Verdicts on patterns and claims as text for a page or a README: what each table holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from coldwarm.catalogue.claims import claims
from coldwarm.catalogue.patterns import patterns
from coldwarm.contracts.catalogue import PatternResults
from coldwarm.report import units, unproved
from coldwarm.report.catalogue.claims import seen
from coldwarm.report.catalogue.patterns import MEASURES, VERDICTS, figures, measured
from coldwarm.report.page.surroundings import machine_line
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.catalogue.claims import ClaimSpec
    from coldwarm.catalogue.patterns import PatternSpec
    from coldwarm.contracts.catalogue import (
        ClaimResult,
        ClaimResults,
        PatternResult,
    )
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.reasons import Reason

_MISSING = "–"


@dataclass(frozen=True)
class Row:
    """One pattern or claim."""

    name: str
    """Its id."""
    title: str
    """Its statement; empty where this version does not know it."""
    cells: tuple[str, ...]
    """What the table has between the statement and the verdict."""
    verdict: str
    """Its code."""
    said: str
    """The verdict in words."""
    why: str
    """Empty where the figures say it."""


@dataclass(frozen=True)
class Told:
    """All that is told of the patterns or the claims of one result."""

    kind: str
    title: str
    about: tuple[tuple[str, str], ...]
    summary: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]


def told(
    index: PatternResults | ClaimResults,
    environment: Environment | None,
    not_judged: Mapping[str, Reason] = MappingProxyType({}),
    n_unproved: int = 0,
) -> Told:
    """Return what is told of patterns or of claims, and of where they were measured.

    Args:
        index: The results, judged again.
        environment: Where they were measured.
        not_judged: Those whose verdict was not judged again, and why.
        n_unproved: How many values were stored otherwise by another version.
    """
    if isinstance(index, PatternResults):
        found = _of_patterns(index, environment, patterns())
    else:
        found = _of_claims(index, environment, claims())
    rows = [
        replace(row, why="; ".join(filter(None, (row.why, _left(not_judged[row.name])))))
        if row.name in not_judged
        else row
        for row in found.rows
    ]
    about = (*found.about, *unproved.rows(n_unproved))
    return replace(found, about=about, rows=tuple(rows))


def _left(reason: Reason) -> str:
    return f"not proved: not judged again, {words(reason)}"


def _of_patterns(
    index: PatternResults, environment: Environment | None, specs: Mapping[str, PatternSpec]
) -> Told:
    return Told(
        kind="patterns",
        title="Patterns: DO against DON’T",
        about=_about(index, environment),
        summary=_summary([VERDICTS[one.verdict][0] for one in index.results]),
        headings=(
            "Pattern",
            "Measured",
            "DO",
            "DON’T",
            "The source says",
            "DON’T over DO",
            "Verdict",
        ),
        rows=tuple(_pattern(one, specs.get(one.pattern)) for one in index.results),
    )


def _of_claims(
    index: ClaimResults, environment: Environment | None, specs: Mapping[str, ClaimSpec]
) -> Told:
    return Told(
        kind="claims",
        title="Claims: what articles say",
        about=_about(index, environment),
        summary=_summary([_plain(one.verdict) for one in index.results]),
        headings=("Claim", "The source says", "Measured here", "Verdict"),
        rows=tuple(_claim(one, specs.get(one.claim)) for one in index.results),
    )


def _pattern(one: PatternResult, spec: PatternSpec | None) -> Row:
    return Row(
        name=one.pattern,
        title=spec.title if spec else "",
        cells=(
            MEASURES.get(one.measures, one.measures),
            _figure(one.measures, one.do),
            _figure(one.measures, one.dont),
            figures(spec.articles if spec else ()),
            measured(one),
        ),
        verdict=one.verdict,
        said=VERDICTS[one.verdict][0],
        why="" if one.verdict == "as_stated" else words(one.reason),
    )


def _figure(measures: str, value: float | None) -> str:
    """Return a figure with its unit, which the name of what is measured ends with."""
    if value is None:
        return _MISSING
    if measures.endswith("_s"):
        return units.duration(value)
    return units.size(round(value)) if measures.endswith("_bytes") else f"{value:g}"


def _claim(one: ClaimResult, spec: ClaimSpec | None) -> Row:
    return Row(
        name=one.claim,
        title=spec.title if spec else "",
        cells=((spec.article.figure if spec else "") or _MISSING, seen(one)),
        verdict=one.verdict,
        said=_plain(one.verdict),
        why="" if one.reason is None else words(one.reason),
    )


def _about(
    index: PatternResults | ClaimResults, environment: Environment | None
) -> tuple[tuple[str, str], ...]:
    """Return when, with what and where it was measured."""
    versions = {k: v for one in index.results for k, v in one.versions.items()}
    rows = [("measured", f"{index.started_at[:16]} by coldwarm {index.harness_version}")]
    if versions:
        rows.append(("with", ", ".join(f"{name} {versions[name]}" for name in sorted(versions))))
    if environment is not None:
        rows.append(("on", machine_line(environment)))
    if not index.complete:
        rows.append(("interrupted", "what had been measured is here"))
    return tuple(rows)


def _summary(said: list[str]) -> str:
    """Return how often each verdict was given."""
    counts = ", ".join(f"{number} {name}" for name, number in Counter(said).most_common())
    return f"{len(said)} in all: {counts}." if said else "None was measured."


def _plain(verdict: str) -> str:
    return verdict.replace("_", " ")
