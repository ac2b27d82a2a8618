"""The answer above the tables: what the verdicts on a group come to, in a line or two."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.base import WARM
from coldwarm.report import units
from coldwarm.report.words import LOOP_HEADINGS, MODE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.plan import BreakEven
    from coldwarm.contracts.summary import Comparison
    from coldwarm.stats.plan.leading import Judged, Lead

_NAMED = 3
"""Candidates of one verdict that are named; of more, their number is told."""
_READINGS = {"process": "empty caches", "cached": "filled caches"}


class Piece(NamedTuple):
    """Part of a line: its text, and the verdict that it gives or else nothing."""

    text: str
    verdict: str = ""


class Line(NamedTuple):
    """A label and what is said of it."""

    label: str
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """All of it, without the label."""
        return "".join(piece.text for piece in self.pieces)


def lines(leads: Sequence[Lead], payoffs: Sequence[BreakEven], *, loop: bool) -> tuple[Line, ...]:
    """Return what leads: the warm call, first results, and from when what pays off."""
    found = [Line(_label(lead, loop=loop), tuple(_said(lead))) for lead in leads]
    found += _paying(payoffs)
    shown: list[Line] = []
    for line in found:
        again = shown and line.label in {one.label for one in shown}
        shown.append(Line("" if again else line.label, line.pieces))
    return tuple(shown)


def ratio(comparison: Comparison) -> str:
    """Write a verdict as the bounds of its ratio, or as the word."""
    verdict = comparison.verdict
    if verdict in {"faster", "slower"} and comparison.low and comparison.high:
        return units.factor(comparison.low, comparison.high, verdict)
    return verdict


def bounds(comparison: Comparison) -> str:
    """Write the bounds of a ratio whose verdict is none of a direction, ``0.92–1.4×``."""
    if not comparison.low or not comparison.high:
        return ""
    return f"{units.significant(comparison.low)}–{units.significant(comparison.high)}×"


def _label(lead: Lead, *, loop: bool) -> str:
    if lead.mode == WARM:
        return LOOP_HEADINGS[WARM][0] if loop else "warm call"
    return "whole loop" if loop else "first result"


def _said(lead: Lead) -> Iterator[Piece]:
    """Say who is the fastest, and how the others stand to the baseline."""
    if lead.mode != WARM:
        yield Piece(f"{MODE_NAMES[lead.mode]}: ")
    told = [*lead.faster, *lead.same, *lead.slower, *lead.undecided]
    if len(told) == 1:
        yield from _alone(told[0], lead.baseline)
        return
    leads = lead.fastest == lead.baseline
    if leads:
        yield Piece(f"{lead.baseline} is the fastest")
    parts = [*_parts(lead)]
    for place, part in enumerate(parts):
        if place or leads:
            yield Piece("; ")
        yield from part
        if place == 0 and not leads:
            yield Piece(f" {_as(lead)} {lead.baseline}")


def _as(lead: Lead) -> str:
    if lead.faster or (lead.slower and not lead.same):
        return "than"
    return "as" if lead.same else "against"


def _alone(judged: Judged, baseline: str) -> Iterator[Piece]:
    """Say how the only other candidate stands to the baseline."""
    comparison = judged.comparison
    verdict = comparison.verdict
    if verdict == "same":
        yield Piece(f"{judged.candidate} is ")
        yield Piece("the same", verdict)
        yield Piece(f" as {baseline}, within {100 * comparison.threshold:g} %")
    elif verdict == "undecided":
        yield Piece(f"{judged.candidate} against {baseline}: ")
        yield Piece("undecided", verdict)
        yield Piece(_around(comparison))
    else:
        yield Piece(f"{judged.candidate} is ")
        yield Piece(ratio(comparison), verdict)
        yield Piece(f" than {baseline}")


def _around(comparison: Comparison) -> str:
    between = bounds(comparison)
    return f" ({between})" if between else ""


def _parts(lead: Lead) -> Iterator[list[Piece]]:
    """Yield what is said of each verdict's candidates."""
    if lead.faster:
        yield _directed(lead.faster, lead.fastest)
    if lead.same:
        yield [Piece(_names(lead.same)), Piece(" the same", "same")]
    if lead.slower:
        yield _directed(lead.slower, None)
    if lead.undecided:
        yield [Piece(f"{_names(lead.undecided)} "), Piece("undecided", "undecided")]


def _directed(judged: Sequence[Judged], fastest: str | None) -> list[Piece]:
    """Name candidates with the bounds of their ratios, the first as the fastest where it is."""
    if len(judged) > _NAMED and fastest is None:
        return [_range(judged)]
    first, rest = judged[0], judged[1:]
    begin = " is the fastest: " if fastest == first.candidate else " "
    pieces = [Piece(f"{first.candidate}{begin}"), _verdict(first)]
    if len(rest) >= _NAMED:
        return [*pieces, Piece(", "), _range(rest)]
    for one in rest:
        pieces += [Piece(f", {one.candidate} "), _verdict(one)]
    return pieces


def _verdict(judged: Judged) -> Piece:
    return Piece(ratio(judged.comparison), judged.comparison.verdict)


def _range(judged: Sequence[Judged]) -> Piece:
    """Say how far many candidates are from the baseline, from the least bound to the largest."""
    verdict = judged[0].comparison.verdict
    lows = [one.comparison.low for one in judged if one.comparison.low]
    highs = [one.comparison.high for one in judged if one.comparison.high]
    text = f"{len(judged)} others {verdict}"
    if lows and highs and verdict in {"faster", "slower"}:
        text = f"{len(judged)} others {units.factor(min(lows), max(highs), verdict)}"
    return Piece(text, verdict)


def _names(judged: Iterable[Judged]) -> str:
    names = [one.candidate for one in judged]
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} others"


def _paying(payoffs: Sequence[BreakEven]) -> list[Line]:
    """Say for each candidate from how many calls of a process it costs no more."""
    candidates = dict.fromkeys(one.candidate for one in payoffs)
    found = []
    for candidate in candidates:
        own = [one for one in payoffs if one.candidate == candidate]
        told = [one for one in own if one.verdict != "undecided"]
        if not told:
            text = f"{candidate}: from how many calls on, is undecided"
            found.append(Line("pays off", (Piece(text),)))
            continue
        parts = "; ".join(f"{_from(one)} with {_READINGS[one.reading]}" for one in told)
        text = f"{candidate} costs no more than {told[0].baseline} {parts}"
        found.append(Line("pays off", (Piece(text),)))
    return found


def _from(judged: BreakEven) -> str:
    if judged.verdict == "at_once" or judged.calls is None:
        return "from the first call on"
    return f"from {units.count(judged.calls)} calls on{_between(judged)}"


def _between(judged: BreakEven) -> str:
    if judged.low is None or judged.high is None:
        return ""
    return f" ({units.count(judged.low)}–{units.count(judged.high)})"
