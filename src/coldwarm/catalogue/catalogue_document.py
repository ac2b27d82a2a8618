"""Patterns and claims in words: the table of results, the page of each, and the progress."""

from __future__ import annotations

import re
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table

from coldwarm.catalogue.spec import PatternSpec, specs
from coldwarm.contracts.catalogue import PatternResult, PatternResults
from coldwarm.report import provenance, units
from coldwarm.report.document import Paragraph
from coldwarm.report.provenance import machine_line
from coldwarm.report.sentences import words
from coldwarm.report.shown import line, told
from coldwarm.report.verdict_table import VERDICTS, VerdictRow, VerdictTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from coldwarm.catalogue.spec import Article, ClaimSpec, Spec
    from coldwarm.catalogue.verdict import PooledVerdict
    from coldwarm.contracts.catalogue import Bound, Fact, Kind, NotJudged, Result, Results
    from coldwarm.contracts.environment import Environment
    from coldwarm.contracts.reasons import Reason

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
    "facts": "behaviour",
}
_TITLES = {"patterns": "Patterns: DO against DON’T", "claims": "Claims: what articles say"}
_HEADINGS = {
    "patterns": (
        "Pattern",
        "Measured",
        "DO",
        "DON’T",
        "The source says",
        "DON’T over DO",
        "Verdict",
    ),
    "claims": ("Claim", "The source says", "Measured here", "Verdict"),
}
_SIDE_NAMES = {"do": "DO", "dont": "DON'T"}
_MOST_FIGURES = 3
"""Figures of one claim in the table of all."""


def verdict_table(
    index: Results,
    environment: Environment | None,
    not_judged: Mapping[str, Reason] = MappingProxyType({}),
    n_unproved: int = 0,
) -> VerdictTable:
    """Return what is told of patterns or of claims, and of where they were measured.

    Args:
        index: The results, judged again.
        environment: Where they were measured.
        not_judged: Those whose verdict was not judged again, and why.
        n_unproved: How many values were stored otherwise by another version.
    """
    kind: Kind = "patterns" if isinstance(index, PatternResults) else "claims"
    known = specs(kind)
    return VerdictTable(
        kind=kind,
        title=_TITLES[kind],
        about=(*_about(index, environment), *provenance.rows(n_unproved)),
        summary=_summary([VERDICTS[one.verdict][0] for one in index.results]),
        headings=_HEADINGS[kind],
        rows=tuple(_row(one, known.get(one.id), not_judged.get(one.id)) for one in index.results),
    )


def _row(one: Result, spec: Spec | None, left: Reason | None) -> VerdictRow:
    whys = [_why(one)]
    if left is not None:
        whys.append(f"not proved: not judged again, {words(left)}")
    source, here = _figures_of(spec), _here(one)
    cells = [source, here]
    if isinstance(one, PatternResult):
        sides = [_quantity(one.measures, value) for value in (one.do, one.dont)]
        cells = [MEASURES.get(one.measures, one.measures), *sides, source, here]
    return VerdictRow(
        name=one.id,
        title=spec.title if spec else "",
        cells=tuple(cells),
        verdict=one.verdict,
        said=VERDICTS[one.verdict][0],
        why="; ".join(filter(None, whys)),
    )


def _why(one: Result) -> str:
    """Return the reason of a verdict in words; empty where the figures say it."""
    return "" if one.reason is None or one.verdict == "as_stated" else words(one.reason)


def _articles(spec: Spec) -> Sequence[Article]:
    return spec.articles if isinstance(spec, PatternSpec) else (spec.article,)


def _figures_of(spec: Spec | None) -> str:
    """Return the figures that sources give."""
    found = (one.figure for one in _articles(spec) if one.figure) if spec else ()
    return ", ".join(found) or units.MISSING


def _quantity(measures: str, value: float | None) -> str:
    """Return a figure with its unit, which the name of what is measured ends with."""
    if value is None:
        return units.MISSING
    if measures.endswith("_s"):
        return units.duration(value)
    return units.size(round(value)) if measures.endswith("_bytes") else f"{value:g}"


def _here(one: Result) -> str:
    """Return what was measured: of a pattern DON'T over DO, of a claim what its rule looked at."""
    if not isinstance(one, PatternResult):
        return "; ".join(_named_figures(one.figures)) or units.MISSING
    if one.measures == "facts":
        return units.MISSING
    if one.points:
        known = [
            units.MISSING if each.ratio is None else f"{each.ratio:.3g}" for each in one.points
        ]
        return f"{' → '.join(known)}×"
    if one.ratio is None:
        both = [f"{value:.3g}" for value in (one.do, one.dont) if value is not None]
        return " → ".join(both) if len(both) == len(_SIDE_NAMES) else units.MISSING
    if one.low is None or one.high is None or one.low == one.high:
        return f"{one.ratio:.3g}×"
    return f"{one.low:.3g}–{one.high:.3g}×"


def _named_figures(figures: Sequence[Bound]) -> list[str]:
    """Return figures with their names, without the bench that all of them are of."""
    of_one = len({one.name.partition(": ")[0] for one in figures}) == 1
    names = [one.label.partition(": ")[2] * of_one or one.label for one in figures]
    told = [re.sub(r"_s\b", " (s)", name).replace("_", " ") for name in names]
    return [f"{name} = {_figure(one)}" for name, one in zip(told, figures, strict=True)]


def _figure(bound: Bound) -> str:
    """Return a figure with its bounds, where they are not the same."""
    if bound.low == bound.high:
        return f"{bound.value:.3g}"
    return f"{bound.low:.3g}–{bound.high:.3g}"


def _about(index: Results, environment: Environment | None) -> list[tuple[str, str]]:
    """Return when, with what and where it was measured."""
    versions = {k: v for one in index.results for k, v in one.versions.items()}
    rows = [("measured", f"{index.started_at[:16]} by coldwarm {index.harness_version}")]
    if versions:
        rows.append(("with", ", ".join(f"{name} {versions[name]}" for name in sorted(versions))))
    if environment is not None:
        rows.append(("on", machine_line(environment)))
    if not index.complete:
        rows.append(("interrupted", "what had been measured is here"))
    return rows


def _summary(said: Sequence[str]) -> str:
    """Return how often each verdict was given."""
    counts = ", ".join(f"{number} {name}" for name, number in Counter(said).most_common())
    return f"{len(said)} in all: {counts}." if said else "None was measured."


def table(kind: Kind, results: Iterable[Result]) -> RenderableType:
    """Return one row for each: what it says, the source's figure, the measured one, the verdict."""
    known, has_ratio = specs(kind), kind == "patterns"
    made = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    made.add_column(kind.removesuffix("s"), overflow="fold", ratio=1)
    if has_ratio:
        made.add_column("here", justify="right", no_wrap=True)
    made.add_column("verdict", no_wrap=True)
    for one in results:
        here = [line(_here(one))] if has_ratio else []
        made.add_row(_named(one, known.get(one.id)), *here, line(*VERDICTS[one.verdict]))
    return made


def pooled(kind: Kind, rows: Sequence[PooledVerdict], results: Sequence[str]) -> RenderableType:
    """Return for each pattern or claim in how many results it has its verdict, and where not."""
    made = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    made.add_column(kind.removesuffix("s"), overflow="fold", ratio=1)
    made.add_column("verdict", overflow="fold", ratio=1)
    numbers = {result: str(number) for number, result in enumerate(results, start=1)}
    for one in rows:
        usual = one.usual
        said = line(*VERDICTS[usual])
        said += line(f" in {len(one.on(usual))} of {len(one.verdicts)}", "dim")
        for other in dict.fromkeys(one.verdicts.values()):
            if other != usual:
                places = ", ".join(numbers[result] for result in one.on(other))
                said += line("; ") + line(*VERDICTS[other]) + line(f" in {places}", "dim")
        made.add_row(line(one.name), said)
    legend = [line(told(f"{number}: {result}"), "dim") for result, number in numbers.items()]
    return Group(made, line(""), *legend)


def _named(one: Result, spec: Spec | None) -> RenderableType:
    """Return a name, and below it what there is to know of it."""
    source = _figures_of(spec)
    about = [f"the source: {source}"] if source != units.MISSING else []
    lines = []
    if isinstance(one, PatternResult):
        about.insert(0, MEASURES.get(one.measures, one.measures))
    else:
        lines += [line(spec.title)] if spec else []
        about += [f"here: {_in_short(one.figures)}"] if one.figures else []
    said = "; ".join(filter(None, (*about, _why(one))))
    lines += [line(said, "dim")] if said else []
    return Group(line(one.id), *(Padding(text, (0, 0, 0, 2)) for text in lines))


def _in_short(figures: Sequence[Bound]) -> str:
    """Return the first figures that the rule looked at."""
    few = "; ".join(_named_figures(figures)[:_MOST_FIGURES])
    left = len(figures) - _MOST_FIGURES
    return f"{few}; {left} more" if left > 0 else few


def _verdict_line(one: Result) -> Text:
    """Return the verdict in its colour, with the reason if there is one to tell."""
    why = _why(one)
    return line(*VERDICTS[one.verdict]) + line(f" ({why})" if why else "", "dim")


def _outcome(one: Result) -> Text:
    """Return what was just measured, in a line."""
    here = f", {_here(one)}" if isinstance(one, PatternResult) else ""
    return line(f"{one.id}: ") + _verdict_line(one) + line(here)


def page(spec: Spec, result: Result | None) -> RenderableType:
    """Return all there is to say about a pattern or a claim, and what was measured of it."""
    is_pattern = isinstance(spec, PatternSpec)
    parts: list[RenderableType] = [line(spec.title, "bold")]
    parts += _of_pattern(spec) if isinstance(spec, PatternSpec) else _of_claim(spec)
    if result is not None:
        label = "Measured: " if is_pattern else "Verdict: "
        parts += [line(""), line(label, "bold") + _verdict_line(result), *_shown(result)]
    parts += [line(""), *(line(address, "dim") for address in spec.docs)]
    return Group(*parts)


def _of_pattern(spec: PatternSpec) -> list[RenderableType]:
    """Return both sides, and why."""
    return [
        line(f"{spec.id} · {spec.framework} · {MEASURES[spec.measures]}", "dim"),
        *_headed("Do", _code(spec.code["do"]), "bold green"),
        *_headed("Don't", _code(spec.code["dont"]), "bold red"),
        line(""),
        line(spec.mechanism),
        line(""),
        line(f"When the DON'T is right: {spec.exception}"),
    ]


def _of_claim(spec: ClaimSpec) -> list[RenderableType]:
    """Return the statement's source, what is measured and how, the rule and the code."""
    article = spec.article
    parts: list[RenderableType] = [
        line(f"{spec.id} · article {article.article}, {article.place}", "dim")
    ]
    if article.figure:
        parts.append(line(f"The source says: {article.figure}"))
    texts = {"Measured": spec.quantity, "How": spec.protocol, "Rule": spec.rule, "Note": spec.note}
    for name, text in texts.items():
        parts += _headed(name, line(text)) if text else []
    return [*parts, line(""), _code(spec.code())]


def _headed(name: str, text: RenderableType, style: str = "bold") -> list[RenderableType]:
    return [line(""), line(name, style), text]


def _code(text: str) -> RenderableType:
    """Return code with its lines as they are, to be copied."""
    made = Syntax("", "python", background_color="default").highlight(text.rstrip())
    made.rstrip()
    made.no_wrap, made.overflow = True, "ignore"
    return made


def _shown(one: Result) -> list[RenderableType]:
    """Return the figures that a verdict rests on, and when and with what they were measured."""
    versions = ", ".join(f"{name} {release}" for name, release in one.versions.items())
    when = line(" with ".join(filter(None, (one.measured_at[:10], versions))), "dim")
    if not isinstance(one, PatternResult):
        figures = Table(box=None, pad_edge=False, show_header=False)
        for bound in one.figures:
            figures.add_row(line(bound.label), line(_figure(bound)))
        return [*([figures] if one.figures else []), when]
    if one.points:
        return [_of_points(one), when]
    if not one.sheets:
        return [line(f"DON'T over DO: {_here(one)}"), when]
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", *(_SIDE_NAMES.get(sheet.function, sheet.function) for sheet in one.sheets)):
        made.add_column(name, overflow="fold")
    for fact in dict.fromkeys(name for sheet in one.sheets for name in sheet.seen):
        made.add_row(line(fact), *(_fact(sheet.seen.get(fact)) for sheet in one.sheets))
    return [made, when]


def _of_points(one: PatternResult) -> Table:
    """Return what was measured at each point of a grid."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in (", ".join(one.points[0].given), "DO", "DON'T", "DON'T over DO", "peak memory"):
        made.add_column(name, justify="right")
    made.add_column("verdict")
    for each in one.points:
        bounds = f" ({each.low:.3g}–{each.high:.3g})" if each.low and each.high else ""
        ratio = units.MISSING if each.ratio is None else f"{each.ratio:.3g}×{bounds}"
        peaks = (_quantity("_bytes", of) for of in (each.do_peak_bytes, each.dont_peak_bytes))
        made.add_row(
            ", ".join(f"{value:,}" for value in each.given.values()),
            *(_quantity(one.measures, value) for value in (each.do, each.dont)),
            ratio,
            " / ".join(peaks),
            line(*VERDICTS[each.verdict]),
        )
    return made


def _fact(value: Fact) -> Text:
    """Return what a side has shown, with few digits."""
    if value is None:
        return line(units.MISSING)
    return line(f"{value:.4g}" if isinstance(value, float) else value)


def not_judged(found: Sequence[NotJudged], side: str = "") -> list[Paragraph]:
    """Return what was not judged again, a line each; ``side``: of two, of which."""
    of_side = f" of {side}" if side else ""
    return [
        Paragraph(f"{one.name}{of_side}: not judged again, {words(one.reason)}") for one in found
    ]


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

    def begun(self, name: str, number: int, of: int, left_s: float) -> None:
        """Show what is measured now."""
        if self._live is not None:
            left = f"about {units.clock(left_s)} left"
            self._live.update(line(f"{number} of {of}: {name} …, {left}", "bold"), refresh=True)

    def ended(self, one: Result) -> None:
        """Print a result, which stays."""
        self._console.print(_outcome(one))
