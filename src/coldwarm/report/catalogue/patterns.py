"""Patterns in a terminal: the table of results, and the page of one pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table

from coldwarm.report import units
from coldwarm.report.sentences import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import RenderableType
    from rich.text import Text

    from coldwarm.catalogue.patterns import Article, PatternSpec
    from coldwarm.contracts.catalogue import ClaimResult, Fact, PatternResult

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


def table(specs: Mapping[str, PatternSpec], results: Iterable[PatternResult]) -> RenderableType:
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


def page(spec: PatternSpec, result: PatternResult | None) -> RenderableType:
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
        parts += [line(""), line("Measured: ", "bold") + _verdict(result), *_shown(result)]
    parts += [line(""), *(line(address, "dim") for address in spec.docs)]
    return Group(*parts)


def measured_with(one: PatternResult | ClaimResult) -> str:
    """Return when, and with which versions."""
    versions = ", ".join(f"{name} {release}" for name, release in one.versions.items())
    return " with ".join(filter(None, (one.measured_at[:10], versions)))


def _shown(result: PatternResult) -> list[RenderableType]:
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
