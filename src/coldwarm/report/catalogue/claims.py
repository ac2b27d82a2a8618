"""Claims in a terminal: the table of verdicts, and the page of one claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.syntax import Syntax
from rich.table import Table

from coldwarm.report.catalogue.patterns import measured_with, under
from coldwarm.report.sentences import words
from coldwarm.report.shown import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import RenderableType
    from rich.text import Text

    from coldwarm.catalogue.claims import ClaimSpec
    from coldwarm.contracts.catalogue import Bound, ClaimResult

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


def table(specs: Mapping[str, ClaimSpec], results: Iterable[ClaimResult]) -> RenderableType:
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


def page(spec: ClaimSpec, code: str, result: ClaimResult | None) -> RenderableType:
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
        parts += [line(""), line("Verdict: ", "bold") + verdict(result), *_shown(result)]
    parts += [line(""), *(line(address, "dim") for address in spec.docs)]
    return Group(*parts)


def _shown(result: ClaimResult) -> list[RenderableType]:
    """Return the figures that a verdict rests on, and when they were measured."""
    made = Table(box=None, pad_edge=False, show_header=False)
    for bound in result.figures:
        made.add_row(line(bound.name), line(figure(bound)))
    return [*([made] if result.figures else []), line(measured_with(result), "dim")]
