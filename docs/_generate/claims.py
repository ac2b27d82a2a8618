"""One page for each claim, and the table of all by article and heading."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import TYPE_CHECKING

from _generate import evidence, figures, measured
from _generate.evidence import version
from _generate.patterns import ratio, said_by
from _generate.rst import code, heading, literal, plain, table, toctree
from coldwarm.catalogue.spec import claims, defined
from coldwarm.report import units
from coldwarm.report.verdict_table import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from _generate.evidence import Evidence, OfClaim
    from coldwarm.catalogue.spec import ClaimSpec
    from coldwarm.contracts.catalogue import ClaimResult

_VERDICTS = {
    "confirmed": "what the rule asks for was seen",
    "refuted": "what the rule asks for was surely not seen",
    "inconclusive": "the bounds leave room for both",
    "depends": "it holds at some points of the grid, and not at others",
    "outdated": "what the source speaks of is no longer so made",
}


def pages(package: Path) -> dict[str, str]:
    """Return a page for each claim, and the page above them."""
    every = evidence.stored(package)
    found = {name: _page(spec, evidence.of_claim(every, name)) for name, spec in claims().items()}
    return {"index": _index(every), **found}


def _page(spec: ClaimSpec, found: Sequence[OfClaim]) -> str:
    """Return the page of one claim."""
    note = heading("What to know about it", 1) + f"{plain(spec.note)}\n\n" if spec.note else ""
    seen = "".join(f"- {address}\n" for address in spec.docs)
    seen += "".join(f"- The pattern :ref:`pattern-{name}`\n" for name in spec.patterns)
    parts = [
        heading(plain(spec.title.rstrip(".")), label=f"claim-{spec.id}"),
        f"{literal(spec.id)} · from {said_by(spec.article)}\n\n",
        heading("Verdict", 1),
        _measured(spec, found),
        note,
        heading("What is measured, and how", 1),
        f"{plain(spec.quantity)} {plain(spec.protocol)}\n\n",
        heading("What decides", 1),
        f"{plain(spec.rule)}{_written_before(spec, found)}\n\n",
        heading("The code", 1),
        _code(spec),
        heading("See also", 1) + seen if seen else "",
    ]
    return "".join(parts)


def _measured(spec: ClaimSpec, found: Sequence[OfClaim]) -> str:
    """Return the table of verdicts and figures, the figure, and what the functions have shown."""
    if not found:
        return measured.NOTHING_YET
    now = spec.sha256
    sheets = [(one, measured.functions(one)) for one in found]
    titled = len([text for _, text in sheets if text]) > 1
    return (
        measured.changed([(one.result.sha256, now) for one in found])
        + table(("", *map(version, found)), _rows(found), "measured")
        + _figures(spec, found)
        + "".join(
            (f"With {version(one)}:\n\n" if titled else "What the functions have shown:\n\n") + text
            for one, text in sheets
            if text
        )
        + measured.where(found)
    )


def _rows(found: Sequence[OfClaim]) -> list[tuple[str, ...]]:
    results = [one.result for one in found]
    rows: list[tuple[str, ...]] = [
        ("verdict", *(measured.verdict(one.verdict) for one in results)),
        ("because", *map(_because, results)),
    ]
    by_name = [{bound.label: bound for bound in one.figures} for one in results]
    for name in dict.fromkeys(name for known in by_name for name in known):
        cells = (measured.interval(at[name]) if name in at else units.MISSING for at in by_name)
        rows.append((plain(measured.words_of(name)), *cells))
    shown = [{one.id: one for one in result.patterns} for result in results]
    for name in dict.fromkeys(name for known in shown for name in known):
        verdicts = (
            f"{measured.verdict(at[name].verdict)} {ratio(at[name]).removeprefix(units.MISSING)}"
            if name in at
            else units.MISSING
            for at in shown
        )
        rows.append((f"the pattern :ref:`{name} <pattern-{name}>`", *verdicts))
    return [*rows, *measured.when(found)]


def _because(result: ClaimResult) -> str:
    if result.reason is not None:
        return measured.because(result.reason)
    return _VERDICTS.get(result.verdict, "the result says no reason")


def _written_before(spec: ClaimSpec, found: Sequence[OfClaim]) -> str:
    """Say that the rule is older than what it judges, where it is the one that was measured by."""
    now = spec.sha256
    if not found or any(one.result.sha256 != now for one in found):
        return ""
    return " This rule was written down before anything was measured."


def _figures(spec: ClaimSpec, found: Sequence[OfClaim]) -> str:
    """Return the figures that have an interval, a drawing for each unit."""
    by_axis: dict[figures.Axis, dict[str, list[figures.Row]]] = {}
    for one in found:
        for bound in one.result.figures:
            if 0 < bound.low < bound.high:
                of: figures.Of = "main" if one is found[0] else "other"
                ends = (bound.value, bound.low, bound.high)
                row = figures.Row(version(one), measured.interval(bound), *ends, of)
                rows = by_axis.setdefault(_axis(bound.name), {})
                rows.setdefault(measured.words_of(bound.label), []).append(row)
    text = ""
    for axis, rows in by_axis.items():
        unity = "; the dashed line is no difference" if axis == "ratio" else ""
        every = [row for name, under in rows.items() for row in (figures.Row(name), *under)]
        text += f"The figures with their bounds{unity}:\n\n"
        text += figures.drawn(f"claim-{spec.id}-{axis}", spec.title, every, axis)
    return text


def _axis(name: str) -> figures.Axis:
    bare = measured.unit_name(name)
    if measured.is_ratio(name):
        return "ratio"
    if bare.endswith("_s"):
        return "seconds"
    return "bytes" if bare.endswith("_bytes") else "number"


def _code(spec: ClaimSpec) -> str:
    """Return what a claim's file and those that it shares define."""
    if not (spec.calls or spec.benches):
        return "It runs no code of its own: the patterns that it rests on are measured.\n\n" + code(
            defined(spec.source.path)
        )
    shared = "".join(
        f"From {literal(path.name)}, which several claims share:\n\n"
        + code(defined(path, spec.functions()))
        for path in spec.source.shared
    )
    return code(defined(spec.source.path)) + shared


def _index(every: Sequence[Evidence]) -> str:
    """Return the table of all claims, by article and heading."""
    specs = sorted(claims().values(), key=lambda spec: spec.article.article)
    main = every[0] if every else None
    text = (
        heading("Claims", label="claims")
        + f"{len(specs)} statements of the articles, each put to a test by a rule that was\n"
        + "written down before. *Here* are the figures that it looks at, with their bounds\n"
        + "where they have some; the confidence stands on each page.\n\n"
        + ":doc:`/how-to/patterns` says how to test them on another machine, and\n"
        + ":ref:`sources` has every item of the articles with what covers it.\n\n"
    )
    if main and main.machine:
        text += f"Measured on: {plain(main.machine)}.\n\n{_tally(main)}\n"
    for article, group in groupby(specs, key=lambda spec: spec.article.article):
        text += heading(f"Article {article}", 1)
        by_place: dict[str, list[ClaimSpec]] = {}
        for spec in group:
            by_place.setdefault(spec.article.place.partition(": ")[0], []).append(spec)
        for place, under in by_place.items():
            rows = [_row(spec, main.claims.get(spec.id) if main else None) for spec in under]
            text += heading(plain(place), 2)
            text += table(("claim", "statement", "source", "here", "verdict"), rows, "catalogue")
    return text + toctree([spec.id for spec in specs], hidden=True)


def _tally(main: Evidence) -> str:
    """Return how many claims of each article had which verdict."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, one in main.claims.items():
        if name in claims():
            counts[claims()[name].article.article][one.verdict] += 1
    kinds = [kind for kind in VERDICTS if any(of[kind] for of in counts.values())]
    rows = [(article, *(str(of[kind]) for kind in kinds)) for article, of in sorted(counts.items())]
    return table(("article", *(VERDICTS[kind][0] for kind in kinds)), rows, "measured")


def _row(spec: ClaimSpec, result: ClaimResult | None) -> tuple[str, ...]:
    here, verdict = units.MISSING, "not measured yet"
    if result is not None:
        verdict = measured.verdict(result.verdict)
        here = measured.in_short(result.figures)
    ours = f":ref:`{spec.id} <claim-{spec.id}>`"
    return ours, plain(spec.title), plain(spec.article.figure) or units.MISSING, here, verdict
