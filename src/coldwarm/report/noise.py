"""Report of what can be detected on a machine, as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import units
from coldwarm.report.bench import metric_name
from coldwarm.report.document import Document, Heading, table, terms
from coldwarm.report.sentences import words

if TYPE_CHECKING:
    from coldwarm.contracts.bench import NoiseFigure, NoiseHorizon, NoiseReport
    from coldwarm.report.document import Block

_HEADINGS = [
    "bench of",
    "pairs",
    "interval",
    "seen by\n1 in 2 benches",
    "seen by\n19 in 20",
    "equal\nfunctions",
]
_MINUTES_FROM_S = 120.0
_FEW = 10
"""Pairs below which the noise itself is hardly known."""


def document(report: NoiseReport) -> Document:
    """Return what differences a bench of this program can detect here, and in what time."""
    blocks: list[Block] = [Heading(f"What can be detected here: {report.target} against itself", 1)]
    for figure in report.figures:
        blocks += [Heading(_title(figure)), table(_HEADINGS, map(_row, figure.horizons))]
        blocks += terms(_remarks(figure))
    return Document("coldwarm noise", (*blocks, *terms(_notes(report), "legend", "What it means")))


def _title(figure: NoiseFigure) -> str:
    name = metric_name(figure.comparison.metric).replace("first,", "first result,")
    title = f"{name[0].upper()}{name[1:]}"
    if figure.pair_s is None:
        return title
    return f"{title}: {figure.pairs} pairs of processes, {units.duration(figure.pair_s)} each"


def _row(one: NoiseHorizon) -> list[str]:
    star = "*" if one.extrapolated else ""
    cells = [_length(one.seconds), f"{one.pairs}{star}"]
    if one.half_width is None or one.detectable is None or one.reliable is None:
        return [*cells, *[units.MISSING] * 4]
    cells += [units.spread(one.half_width), _share(one.detectable), _share(one.reliable)]
    return [*cells, "same" if one.tells_same else "undecided"]


def _length(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < _MINUTES_FROM_S else f"{seconds / 60:g} min"


def _share(difference: float) -> str:
    return units.spread(difference).removeprefix("±")


def _remarks(figure: NoiseFigure) -> list[tuple[str, str]]:
    equal = figure.comparison
    if equal.ratio is None or equal.low is None or equal.high is None:
        return [
            (
                "measured",
                f"{words(figure.null_reasons['pair_s'])}; --time-budget measures for longer",
            )
        ]
    ends = units.interval(equal.low, equal.high, " … ")
    here = f"{equal.verdict}: the ratio is {units.significant(equal.ratio)}, its interval {ends}"
    if equal.verdict in {"faster", "slower"}:
        here += "; but they are equal: verdicts cannot be trusted here as it is now"
    missing = [
        (f"bench of {_length(one.seconds)}", words(one.null_reasons["half_width"]))
        for one in figure.horizons
        if "half_width" in one.null_reasons
    ]
    return [("measured", here), *missing]


def _notes(report: NoiseReport) -> list[tuple[str, str]]:
    shown = (
        "the smallest true difference that this share of benches of that length would find;"
        f" a difference counts from {_share(report.threshold)} on (--threshold)"
    )
    notes = [("seen by", shown), ("equal", "what a bench of two equal functions would say")]
    far = [one.extrapolated or 0.0 for figure in report.figures for one in figure.horizons]
    if any(far):
        text = (
            f"up to {units.times(max(far))} the pairs that were measured: true only if the noise"
            " does not change meanwhile; --time-budget measures for longer"
        )
        notes.append(("*", text))
    few = min((one.pairs for one in report.figures if one.pair_s is not None), default=_FEW)
    if few < _FEW:
        text = f"{few} pairs say little of the noise: what is said here may be off by a factor"
        notes.append(("few", f"{text} of two; --time-budget measures for longer"))
    return notes
