"""One page for each pattern, the table of all by topic, and the index by symptom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from _generate import evidence, figures, measured
from _generate.evidence import version
from _generate.rst import code, heading, literal, plain, table, toctree
from coldwarm.catalogue.catalogue_document import MEASURES
from coldwarm.catalogue.spec import FACTS, SIDES, claims, patterns
from coldwarm.contracts.catalogue import PatternResult, at_point
from coldwarm.doctor.rules import findings_of
from coldwarm.report import units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from _generate.evidence import Evidence, OfPattern
    from coldwarm.catalogue.spec import Article, PatternSpec
    from coldwarm.contracts.catalogue import PatternPoint

_TITLES = {"do": "Do", "dont": "Don't"}


def pages(package: Path) -> dict[str, str]:
    """Return a page for each pattern, and the pages above them."""
    every = evidence.stored(package)
    found = {
        name: _page(spec, evidence.of_pattern(every, name)) for name, spec in patterns().items()
    }
    return {"index": _index(every), "symptoms": _symptoms(), **found}


def ratio(one: PatternResult | PatternPoint, *, in_short: bool = False) -> str:
    """Return DON'T over DO with its bounds and, if not in short, their confidence.

    Of a grid, in short, it is that of each point, in order.
    """
    if isinstance(one, PatternResult) and one.points:
        known = [
            units.MISSING if each.ratio is None else units.times(each.ratio) for each in one.points
        ]
        return " → ".join(known) if in_short else units.MISSING
    if one.ratio is None:
        return units.MISSING
    if one.low is None or one.high is None or one.low == one.high:
        return units.times(one.ratio)
    low, high = (units.times(end).removesuffix("×") for end in (one.low, one.high))
    confidence = "" if in_short else measured.at(one.confidence)
    return f"{units.times(one.ratio)} ({low}–{high}×{confidence})"


def said_by(article: Article) -> str:
    """Return a source in a line: the article, the heading, its figure."""
    figure = f": {plain(article.figure)}" if article.figure else ""
    return (
        f":ref:`article {article.article} <article-{article.article}>`, *{_place(article)}*{figure}"
    )


def _place(article: Article) -> str:
    return plain(article.place)


def _page(spec: PatternSpec, found: Sequence[OfPattern]) -> str:
    """Return the page of one pattern."""
    framework = measured.NAMES[spec.framework]
    topic = spec.topic.replace("_", " ")
    facts = f"{literal(spec.id)} · {framework} · {topic} · compared by {MEASURES[spec.measures]}"
    if found:
        first = found[0].result
        facts += (
            f" · {measured.verdict(first.verdict)} {ratio(first).strip(units.MISSING)}".rstrip()
        )
    named = ", ".join(map(literal, findings_of(spec.id)))
    found_as = f"\n- ``coldwarm doctor`` finds it, as {named}." if named else ""
    resting = [name for name, claim in claims().items() if spec.id in claim.patterns]
    parts = [
        heading(plain(spec.title.rstrip(".")), label=f"pattern-{spec.id}"),
        f"{facts}\n\n{plain(spec.mechanism)}\n\n",
        *(
            f".. rst-class:: {side}\n\n{heading(_TITLES[side], 1)}" + code(spec.code[side])
            for side in SIDES
        ),
        heading("What the sources say", 1),
        _sources(spec),
        heading("Measured", 1),
        _measured(spec, found),
        heading("When it does not hold", 1),
        f"{plain(spec.exception)}\n\n",
        heading("How to notice it", 1),
        f"- While a program runs: {plain(spec.symptom)}{found_as}\n\n",
        heading("See also", 1),
        "".join(f"- {address}\n" for address in spec.docs),
        "".join(f"- The claim :ref:`claim-{name}` rests on this pattern.\n" for name in resting),
    ]
    return "".join(parts)


def _sources(spec: PatternSpec) -> str:
    if not spec.articles:
        return "None of the articles has it; practice has taught it.\n\n"
    return "".join(f"- {said_by(one)}\n" for one in spec.articles) + "\n"


def _measured(spec: PatternSpec, found: Sequence[OfPattern]) -> str:
    """Return the table, the figure, and where and when all that was measured."""
    if not found:
        return measured.NOTHING_YET
    stated = f"Stated: {plain(' '.join(spec.stated.split()))}\n\n" if spec.stated else ""
    now = spec.sha256
    return (
        stated
        + measured.changed([(one.result.sha256, now) for one in found])
        + _figure(spec, found)
        + (measured.sides(found) if spec.measures == FACTS else "")
        + table(("", *map(version, found)), _rows(spec, found), "measured")
        + measured.where(found)
    )


def _rows(spec: PatternSpec, found: Sequence[OfPattern]) -> list[tuple[str, ...]]:
    results = [one.result for one in found]
    rows: list[tuple[str, ...]] = [("verdict", *(measured.verdict(one.verdict) for one in results))]
    if any(one.verdict != "as_stated" for one in results):
        rows.append(("because", *(measured.because(one.reason) for one in results)))
    if any(one.do is not None for one in results):
        what = MEASURES[spec.measures]
        rows += [
            (f"{what}, DO", *(measured.quantity(one.measures, one.do) for one in results)),
            (f"{what}, DON'T", *(measured.quantity(one.measures, one.dont) for one in results)),
            ("DON'T over DO", *map(ratio, results)),
        ]
    points = [{at_point(each.given): each for each in one.points} for one in results]
    for at in dict.fromkeys(name for known in points for name in known):
        rows += _of_point(spec.measures, at, [known.get(at) for known in points])
    if any(one.n_rounds is not None for one in results):
        rows.append(("rounds", *(str(one.n_rounds or units.MISSING) for one in results)))
    return [*rows, *measured.when(found)]


def _of_point(
    measures: str, at: str, found: Sequence[PatternPoint | None]
) -> list[tuple[str, ...]]:
    """Return the figures at one point of a grid."""

    def cells(told: Callable[[PatternPoint], str]) -> list[str]:
        return [units.MISSING if one is None else told(one) for one in found]

    def both(one: PatternPoint) -> str:
        sides = (measured.quantity(measures, value) for value in (one.do, one.dont))
        return " → ".join(sides)

    def peaks(one: PatternPoint) -> str:
        sides = (one.do_peak_bytes, one.dont_peak_bytes)
        return " → ".join(measured.quantity("peak_rss_bytes", value) for value in sides)

    def said(one: PatternPoint) -> str:
        return f"{ratio(one)}, {measured.verdict(one.verdict)}"

    return [
        (f"**{at}**: DON'T over DO", *cells(said)),
        (f"{MEASURES[measures]}, DO → DON'T", *cells(both)),
        *([("peak memory, DO → DON'T", *cells(peaks))] if measures != "peak_rss_bytes" else []),
    ]


def _figure(spec: PatternSpec, found: Sequence[OfPattern]) -> str:
    """Return DON'T over DO with its interval, beside what the sources say; of facts the counts."""
    rows = [row for one in found for row in _drawn(one, main=one is found[0])]
    if not rows:
        return ""
    stated = [
        figures.Row(
            f"article {one.article}",
            plain(one.figure),
            None,
            min(one.low, one.high),
            max(one.low, one.high),
            "source",
        )
        for one in spec.articles
        if one.low and one.high
    ]
    title = f"DON'T over DO: {MEASURES[spec.measures]}"
    unit = "what was counted" if spec.measures == FACTS else MEASURES[spec.measures]
    return f"DON'T over DO, {unit}; the dashed line is no difference:\n\n" + figures.drawn(
        f"pattern-{spec.id}", title, [*stated, *rows], "ratio"
    )


def _drawn(one: OfPattern, *, main: bool) -> list[figures.Row]:
    """Return the ratio of a result, or those of the counts that both its sheets have."""
    result = one.result
    of: figures.Of = "main" if main else "other"
    known: list[tuple[str, PatternPoint | PatternResult]] = [
        (at_point(each.given), each) for each in result.points
    ]
    drawn = [
        figures.Row(
            ", ".join(filter(None, (at, version(one)))),
            ratio(each),
            each.ratio,
            each.low,
            each.high,
            of,
        )
        for at, each in known or [("", result)]
        if each.ratio and each.low and each.high
    ]
    if drawn:
        return drawn
    if len(result.sheets) != len(SIDES):
        return []
    do, dont = (sheet.facts for sheet in result.sheets)
    rows = []
    for name in do:
        first, second = do[name], dont.get(name)
        if _count(first) and _count(second) and first != second:
            share = second / first  # type: ignore[operator]
            label = f"{measured.fact_name(name)}, {version(one)}"
            said = f"{units.times(share)} ({first} → {second})"
            rows.append(figures.Row(label, said, share, share, share, of))
    return rows


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _index(every: Sequence[Evidence]) -> str:
    """Return the table of all patterns, topic by topic."""
    specs = list(patterns().values())
    main = every[0].patterns if every else {}
    topics = dict.fromkeys(spec.topic for spec in specs)
    text = (
        heading("Patterns", label="patterns")
        + f"{len(specs)} patterns: what to do, what not to do, and what the difference is. *Here*\n"
        + "is DON'T over DO, with its bounds; a dash where sides are compared by what is seen.\n"
        + ":doc:`/how-to/patterns` says how to measure them on another machine, and\n"
        + ":doc:`symptoms` finds a pattern by what a program does.\n\n"
    )
    text += _place_of(every)
    head = ("pattern", "what to do", "source", "here", "verdict")
    for topic in topics:
        rows = [_row(spec, main.get(spec.id)) for spec in specs if spec.topic == topic]
        text += heading(topic.replace("_", " ").capitalize(), 1) + table(head, rows, "catalogue")
    return text + toctree(["symptoms", *(spec.id for spec in specs)], hidden=True)


def _place_of(every: Sequence[Evidence]) -> str:
    machine = every[0].machine if every else ""
    return f"Measured on: {plain(machine)}.\n\n" if machine else ""


def _row(spec: PatternSpec, result: PatternResult | None) -> tuple[str, ...]:
    said = ", ".join(dict.fromkeys(plain(one.figure) for one in spec.articles if one.figure))
    here, verdict = units.MISSING, "not measured yet"
    if result is not None:
        here, verdict = ratio(result, in_short=True), measured.verdict(result.verdict)
    ours = f":ref:`{spec.id} <pattern-{spec.id}>`"
    return ours, plain(spec.title), said or units.MISSING, here, verdict


def _symptoms() -> str:
    """Return the patterns by what is seen of them."""
    found: dict[str, list[PatternSpec]] = {}
    for spec in patterns().values():
        found.setdefault(spec.symptom, []).append(spec)
    rows = [
        (
            plain(symptom[0].upper() + symptom[1:]),
            "; ".join(f":ref:`{spec.id} <pattern-{spec.id}>`" for spec in found[symptom]),
            ", ".join(literal(name) for spec in found[symptom] for name in findings_of(spec.id))
            or units.MISSING,
        )
        for symptom in sorted(found, key=lambda text: text.strip("`").casefold())
    ]
    return (
        heading("Patterns by symptom", label="symptoms")
        + "What is seen while a program runs, the patterns that can be behind it, and what\n"
        + "``coldwarm doctor`` calls them.\n\n"
        + table(("symptom", "patterns", "findings"), rows, "symptoms")
    )
