"""Patterns and claims in words: tables, pages, progress and what changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table

from coldwarm.catalogue.claims import claims
from coldwarm.catalogue.patterns import patterns
from coldwarm.contracts.catalogue import PatternResults
from coldwarm.report import markdown, units, unproved
from coldwarm.report.document import Cell, Document, Heading, Paragraph, table, terms
from coldwarm.report.document import row as cells
from coldwarm.report.page.surroundings import machine_line
from coldwarm.report.sentences import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from coldwarm.catalogue.claims import ClaimSpec
    from coldwarm.catalogue.patterns import Article, PatternSpec
    from coldwarm.contracts.catalogue import (
        Bound,
        ChangedVerdict,
        ClaimResult,
        ClaimResults,
        Fact,
        NotJudged,
        PatternResult,
    )
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.reasons import Reason
    from coldwarm.report.document import Block
    from coldwarm.runner.catalogue.kept import Begun


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


def as_markdown(told: Told) -> str:
    """Return a heading, how often each verdict was given, a table, on what it was measured."""
    rows = (
        cells(
            Cell(one.name, below=one.title, style="name"),
            *one.cells,
            Cell(one.said, below=one.why),
        )
        for one in told.rows
    )
    blocks: tuple[Block, ...] = (
        Heading(told.title, 0),
        Paragraph(told.summary),
        table(told.headings, rows, labels=len(told.headings)),
        *terms(told.about),
    )
    return markdown.text(Document(told.title, blocks))


class Progress:
    """A line that says what is measured now, below the results so far."""

    def __init__(self, console: Console) -> None:
        """Write to this console."""
        self._console = console
        able = console.is_terminal and not console.is_dumb_terminal
        self._live = (
            Live(
                console=console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            if able
            else None
        )

    def __enter__(self) -> Self:
        """Start showing."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Take the line away; the results stay."""
        if self._live is not None:
            self._live.stop()

    def begun(self, what: Begun) -> None:
        """Show what is measured now."""
        if self._live is not None:
            left = f"about {units.clock(what.left_s)} left"
            text = line(f"{what.number} of {what.of}: {what.name} …, {left}", "bold")
            self._live.update(text, refresh=True)

    def told(self, result: Text) -> None:
        """Print a result, which stays."""
        self._console.print(result)


VERDICTS = {
    "as_stated": ("as stated", "green"),
    "opposite": ("the opposite", "bold red"),
    "same": ("no difference", "yellow"),
    "undecided": ("undecided", "yellow"),
    "not_tested": ("not tested", "dim"),
    "failed": ("failed", "bold red"),
}
"""What each verdict is called, and its style."""
_SIDE_NAMES = {"do": "DO", "dont": "DON'T"}
MEASURES = {
    "first_result_s": "time to first result",
    "first_call_s": "first call",
    "warm_call_s": "warm call",
    "programs": "programs compiled",
    "equations": "equations traced",
    "instructions": "instructions",
    "peak_rss_bytes": "peak memory",
    "kernels": "kernels",
    "signatures": "signatures",
    "facts": "what is seen",
}


def table_of_patterns(
    specs: Mapping[str, PatternSpec], results: Iterable[PatternResult]
) -> RenderableType:
    """Return one row for each pattern: the source's figure, the measured one, the verdict."""
    made = _rows_of("pattern")
    for one in results:
        spec = specs.get(one.pattern)
        about = [MEASURES.get(one.measures, one.measures)]
        said = figures(spec.articles) if spec else units.MISSING
        about += [f"the source: {said}"] if said != units.MISSING else []
        about += [words(one.reason)] if one.verdict != "as_stated" else []
        text, style = VERDICTS[one.verdict]
        made.add_row(under(one.pattern, about), line(measured(one)), line(text, style))
    return made


def _rows_of(what: str) -> Table:
    """Return an empty table of results, whose first column takes what the others leave."""
    made = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    made.add_column(what, overflow="fold", ratio=1)
    made.add_column("here", justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    return made


def under(name: str, about: Iterable[str], title: str = "") -> RenderableType:
    """Return a name, and below it what there is to know of it."""
    lines = [line(title)] if title else []
    said = "; ".join(one for one in about if one)
    lines += [line(said, "dim")] if said else []
    return Group(line(name), *(Padding(one, (0, 0, 0, 2)) for one in lines))


def figures(articles: Iterable[Article]) -> str:
    """Return the figures that sources give."""
    return ", ".join(one.figure for one in articles if one.figure) or units.MISSING


def measured(one: PatternResult) -> str:
    """Return the ratio of DON'T over DO, with its bounds where there are any."""
    if one.measures == "facts":
        return "–"
    if one.ratio is None:
        both = [f"{value:.3g}" for value in (one.do, one.dont) if value is not None]
        return " → ".join(both) if len(both) == 2 else "–"  # noqa: PLR2004 - DO and DON'T
    if one.low is None or one.high is None or one.low == one.high:
        return f"{one.ratio:.3g}×"
    return f"{one.low:.3g}–{one.high:.3g}×"


def _verdict(one: PatternResult) -> Text:
    """Return the verdict in its colour, with the reason where it is not as stated."""
    text, style = VERDICTS[one.verdict]
    reason = "" if one.verdict == "as_stated" else f" ({words(one.reason)})"
    return line(text, style) + line(reason, "dim")


def page_of_pattern(spec: PatternSpec, result: PatternResult | None) -> RenderableType:
    """Return all there is to say about a pattern: both sides, why, and what was measured."""

    def code(text: str) -> RenderableType:
        return Syntax(text.rstrip(), "python", background_color="default", word_wrap=True)

    parts: list[RenderableType] = [
        line(spec.title, "bold"),
        line(f"{spec.id} · {spec.framework} · {MEASURES[spec.measures]}", "dim"),
        line(""),
        line("Do", "bold green"),
        code(spec.code["do"]),
        line(""),
        line("Don't", "bold red"),
        code(spec.code["dont"]),
        line(""),
        line(spec.mechanism),
        line(""),
        line(f"When the DON'T is right: {spec.exception}"),
    ]
    if result is not None:
        parts += [line(""), line("Measured: ", "bold") + _verdict(result), *_shown_pattern(result)]
    parts += [line(""), *(line(address, "dim") for address in spec.docs)]
    return Group(*parts)


def measured_with(one: PatternResult | ClaimResult) -> str:
    """Return when, and with which versions."""
    versions = ", ".join(f"{name} {release}" for name, release in one.versions.items())
    return " with ".join(filter(None, (one.measured_at[:10], versions)))


def _shown_pattern(result: PatternResult) -> list[RenderableType]:
    """Return a pattern's ratio, or what both sides have shown, and when it was measured."""
    if not result.sheets:
        ratio = line(f"DON'T over DO: {measured(result)}")
        return [ratio, line(measured_with(result), "dim")]
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", *(_SIDE_NAMES.get(one.function, one.function) for one in result.sheets)):
        made.add_column(name, overflow="fold")
    for fact in dict.fromkeys(name for sheet in result.sheets for name in sheet.seen):
        made.add_row(line(fact), *(_fact(sheet.seen.get(fact)) for sheet in result.sheets))
    return [made, line(measured_with(result), "dim")]


def _fact(value: Fact) -> Text:
    """Return what a side has shown, with few digits."""
    if value is None:
        return line(units.MISSING)
    return line(f"{value:.4g}" if isinstance(value, float) else value)


_MOST_FIGURES = 3
"""Of one claim that stand in the table of all."""
_STYLES = {
    "confirmed": "green",
    "refuted": "bold red",
    "inconclusive": "yellow",
    "outdated": "yellow",
    "not_tested": "dim",
    "failed": "bold red",
}


def table_of_claims(
    specs: Mapping[str, ClaimSpec], results: Iterable[ClaimResult]
) -> RenderableType:
    """Return one row for each claim: what it says, what was measured, and the verdict."""
    made = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    made.add_column("claim", overflow="fold", ratio=1)
    made.add_column("verdict", no_wrap=True)
    for one in results:
        spec = specs.get(one.claim)
        about = [f"the source: {spec.article.figure}"] if spec and spec.article.figure else []
        about += [f"here: {_in_short(one)}"] if one.figures else []
        about += [words(one.reason)] if one.reason else []
        text = under(one.claim, about, spec.title if spec else "")
        made.add_row(text, line(one.verdict.replace("_", " "), _STYLES[one.verdict]))
    return made


def _in_short(one: ClaimResult) -> str:
    """Return the first figures that the rule looked at."""
    few = "; ".join(f"{bound.name} {figure(bound)}" for bound in one.figures[:_MOST_FIGURES])
    left = len(one.figures) - _MOST_FIGURES
    return f"{few}; {left} more" if left > 0 else few


def seen(one: ClaimResult) -> str:
    """Return the figures that the rule looked at."""
    return "; ".join(f"{bound.name} {figure(bound)}" for bound in one.figures) or "–"


def figure(bound: Bound) -> str:
    """Return a figure with its bounds, where they are not the same."""
    if bound.low == bound.high:
        return f"{bound.value:.3g}"
    return f"{bound.low:.3g}–{bound.high:.3g}"


def verdict(one: ClaimResult) -> Text:
    """Return the verdict in its colour, with the reason if there is one."""
    text = line(one.verdict.replace("_", " "), _STYLES[one.verdict])
    return text if one.reason is None else text + line(f" ({words(one.reason)})", "dim")


def page_of_claim(spec: ClaimSpec, code: str, result: ClaimResult | None) -> RenderableType:
    """Return all there is to say about a claim, and what was measured of it."""
    parts: list[RenderableType] = [
        line(spec.title, "bold"),
        line(f"{spec.id} · article {spec.article.article}, {spec.article.place}", "dim"),
    ]
    if spec.article.figure:
        parts.append(line(f"The source says: {spec.article.figure}"))
    for name, text in (
        ("Measured", spec.quantity),
        ("How", spec.protocol),
        ("Rule", spec.rule),
        ("Note", spec.note),
    ):
        if text:
            parts += [line(""), line(name, "bold"), line(text)]
    parts += [line(""), Syntax(code.rstrip(), "python", background_color="default", word_wrap=True)]
    if result is not None:
        parts += [line(""), line("Verdict: ", "bold") + verdict(result), *_shown_claim(result)]
    parts += [line(""), *(line(address, "dim") for address in spec.docs)]
    return Group(*parts)


def _shown_claim(result: ClaimResult) -> list[RenderableType]:
    """Return the figures that a verdict rests on, and when they were measured."""
    made = Table(box=None, pad_edge=False, show_header=False)
    for bound in result.figures:
        made.add_row(line(bound.name), line(figure(bound)))
    return [*([made] if result.figures else []), line(measured_with(result), "dim")]


def table_of_changes(
    found: Sequence[ChangedVerdict],
    kind: str,
    of_a: Collection[str] = (),
    of_b: Collection[str] = (),
) -> RenderableType:
    """Return the verdicts that changed, or that none did.

    Args:
        found: Those that changed.
        kind: Pattern or claim.
        of_a: Those of which the verdict of A is not proved.
        of_b: The same of B.
    """
    if not found:
        return line("no verdict changed")
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in (kind, "A", "B"):
        made.add_column(name)
    for one in found:
        sides = ((one.a, one.name in of_a), (one.b, one.name in of_b))
        said = [
            f"{told_verdict(text)}, not proved" if left else told_verdict(text)
            for text, left in sides
        ]
        made.add_row(line(one.name), *map(line, said))
    return made


def told_verdict(verdict: str | None) -> str:
    """Return a verdict in words."""
    return "absent" if verdict is None else verdict.replace("_", " ")


def not_judged(found: Sequence[NotJudged], side: str = "") -> RenderableType:
    """Return what was not judged again, a line each; ``side``: of two, of which."""
    of_side = f" of {side}" if side else ""
    return Group(
        *(line(f"{one.name}{of_side}: not judged again, {words(one.reason)}") for one in found)
    )
