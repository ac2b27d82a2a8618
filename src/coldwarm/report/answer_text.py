"""The answer of each workload in words: a row for each range of calls, the same in every view."""

from __future__ import annotations

import math
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from coldwarm.contracts.base import EMPTY, FILLED, WARM
from coldwarm.report import units
from coldwarm.report.document import Piece
from coldwarm.report.headline import bounds, n_few, ratio, seen
from coldwarm.report.sentences import advice, counted, words
from coldwarm.report.words import LOOP_HEADINGS, MARKS, MODE_NAMES, MOST_NAMED, either
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from coldwarm.contracts.answer import Answer, ByCalls, CallRange, Crossing, Judged, Lead

TITLE = "The answer"
_EXTRAPOLATED = " (extrapolated)"
_DIGITS = 2
"""Digits of an estimate, whose bounds are told exactly."""
_NEEDED = FEWEST_FOR_CONFIDENCE
_FOR_HALF = 4
"""How many times the rounds halve an interval."""
_SPARE = 1.3
"""A budget over the time of its processes: candidates are inspected first, and some retried."""
_LONG_S, _MINUTE_S, _TENS_S = 180.0, 60, 10
_OF_CONTROL = "control_differs"
"""Code of a reason that more rounds may not remove."""
_MOST_ROWS = 4
"""Ranges of which each has a row; of more, open neighbours are told together."""


class Line(NamedTuple):
    """A label and what is said of it."""

    label: str
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """All of it, without the label."""
        return "".join(piece.text for piece in self.pieces)


def budget_option(seconds: float) -> str:
    """Write a time budget as an option: in whole tens of seconds, a long one in minutes."""
    if seconds > _LONG_S:
        return f"--time-budget {math.ceil(seconds / _MINUTE_S)}m"
    return f"--time-budget {seconds:.0f}s"


def lines(
    answer: Answer, *, budget: Callable[[float], str] | None = budget_option
) -> tuple[Line, ...]:
    """Return what a run says of a workload: the cheapest by calls, the first result, warm calls.

    Then what to do about what is open. Nothing where there is one candidate alone.

    Args:
        answer: What is told.
        budget: Writes how a time budget is given; ``None``: no more time is to be asked for.
    """
    steps = () if budget is None else _next_step(answer, budget)
    return (*_calls(answer), *_figures(answer), *steps)


def _name(answer: Answer) -> str:
    """Name the workload, size and dtype that an answer is of."""
    if answer.own:
        return answer.workload
    return f"{answer.workload} · {answer.size} · {answer.dtype}"


def _calls(answer: Answer) -> Iterator[Line]:
    """Yield a row for each range of calls, then what else is known of them."""
    if answer.scenario and len(answer.candidates) > 1:
        yield Line("by calls", (Piece(words(answer.null_reasons["by_calls"])),))
    empty, filled = answer.reading("process"), answer.reading("cached")
    if empty is not None and len(empty.candidates) + len(empty.left_out) > 1:
        yield from _rows(empty)
    if filled is not None and len(filled.candidates) + len(filled.left_out) > 1:
        yield Line(MODE_NAMES[FILLED], tuple(_joined(filled)))
    if answer.by_calls and not answer.scenario and (missing := left_out(answer)):
        yield Line("not judged", (Piece(missing),))
    yield from (
        Line("further shape", (Piece(words(one)),))
        for one in answer.changes
        if one.code == "more_shapes"
    )


def _rows(by: ByCalls) -> Iterator[Line]:
    """Yield who is the cheapest in each range, and how sure that is."""
    if not by.ranges:
        yield Line("by calls", tuple(_nobody(by)))
        return
    first, *others = _shown(by)
    rounds = counted(by.n_rounds or 0, "round")
    sure = Piece(f" · {100 * by.confidence:g} %, {rounds}", style="dim")
    yield Line(_numbers(first, " calls"), (*_who(by, first), sure, *_reach(by, first)))
    yield from (Line(_numbers(one, ""), (*_who(by, one), *_reach(by, one))) for one in others)


def _reach(by: ByCalls, one: CallRange) -> Iterator[Piece]:
    """Yield from which calls on a range is extrapolated that begins within the measured ones."""
    measured, is_told = by.measured_calls, one.cheapest is not None or one.same_within is not None
    if measured is None or not is_told or by.is_extrapolated(one.from_calls):
        return
    if one.to_calls is None or one.to_calls > measured:
        yield Piece(f"; beyond {units.count(measured)} calls extrapolated", style="dim")


def _joined(by: ByCalls) -> Iterator[Piece]:
    """Yield the same in one line."""
    if not by.ranges:
        yield from _nobody(by)
        return
    for place, one in enumerate(_shown(by)):
        yield Piece(f"{' · ' if place else ''}{_numbers(one, ' calls' if place == 0 else '')}: ")
        yield from _who(by, one, brief=True)


def _nobody(by: ByCalls) -> Iterator[Piece]:
    yield Piece("no answer yet", "undecided")
    if by.reason is not None and not by.left_out:
        yield Piece(f": {words(by.reason)}")
    if guess := _guesses(by.estimates):
        yield Piece(f" (best guess: {guess})")


def _shown(by: ByCalls) -> list[CallRange]:
    """Return the ranges; of many, open neighbours joined. What is decided has a row of its own."""
    found = [*by.ranges]
    while len(found) > _MOST_ROWS:
        pairs = [
            place
            for place, (one, other) in enumerate(pairwise(found))
            if _is_open(one) and _is_open(other)
        ]
        if not pairs:
            break
        place = min(pairs, key=lambda at: _lost(*found[at : at + 2]))
        one, other = found[place : place + 2]
        among = [name for name in by.candidates if name in {*one.among, *other.among}]
        joined = replace(one, to_calls=other.to_calls, among=among, cheapest=None, same_within=None)
        found[place : place + 2] = [joined]
    return found


def _is_open(one: CallRange) -> bool:
    return one.cheapest is None and one.same_within is None


def _lost(one: CallRange, other: CallRange) -> tuple[float, float]:
    """Return how many candidates become open again, and where, if two ranges are told together."""
    among = {*one.among, *other.among}
    widths = [(len(among) - len(each.among), _width(each)) for each in (one, other)]
    return sum(n * width for n, width in widths if n), sum(width for _, width in widths)


def _width(one: CallRange) -> float:
    return math.inf if one.to_calls is None else math.log(one.to_calls / one.from_calls)


def _numbers(one: CallRange, noun: str) -> str:
    """Write the numbers of calls of a range."""
    begin, end = units.count(one.from_calls), one.to_calls
    if end is None:
        return f"from {begin}{noun}" if one.from_calls > 1 else "any number of calls"
    if end == one.from_calls:
        return f"{begin}{noun.removesuffix('s') if end == 1 else noun}"
    return f"{begin}–{units.count(end)}{noun}"


def _who(by: ByCalls, one: CallRange, *, brief: bool = False) -> Iterator[Piece]:
    """Yield who is the cheapest in a range; where that is open, who may be.

    Then also a best guess and who cannot be, but in a ``brief`` text.
    """
    extrapolated = _EXTRAPOLATED if by.is_extrapolated(one.from_calls) else ""
    if one.cheapest is not None:
        yield Piece(one.cheapest, "" if extrapolated else "cheapest")
        yield Piece(extrapolated)
        return
    if one.same_within is not None:
        yield Piece(either(one.among))
        yield Piece(f": the same within {100 * one.same_within:g} %", "same")
        yield Piece(extrapolated)
        return
    yield Piece("not decided", "undecided")
    out = [name for name in by.candidates if name not in one.among]
    names = ", ".join(out) if len(out) <= MOST_NAMED else f"the {len(out)} others"
    named = either(one.among) if brief else _open_names(by, one)
    yield Piece(f": {named}{f'; not {names}' if out and not brief else ''}")


def _open_names(by: ByCalls, one: CallRange) -> str:
    """Name who may be the cheapest in an open range, and a best guess."""
    guess = _guess(by, one)
    if guess in one.among and len(one.among) <= MOST_NAMED:
        return either([f"{name}{' (best guess)' * (name == guess)}" for name in one.among])
    return f"{either(one.among)}{f' (best guess: {guess})' if guess else ''}"


def _guess(by: ByCalls, one: CallRange) -> str:
    """Say what the costs say of an open range without their scatter."""
    before = [each for each in by.estimates if each.value <= one.from_calls]
    within = [
        each
        for each in by.estimates
        if one.from_calls < each.value and (one.to_calls is None or each.value <= one.to_calls)
    ]
    return _guesses([*before[-1:], *within])


def _guesses(found: Sequence[Crossing]) -> str:
    """Say who is the cheapest from how many calls on; nothing of very many."""
    parts = [each.cheapest for each in found[:1]]
    parts += [f"{each.cheapest} from about {_rounded(each.value)}" for each in found[1:]]
    return ", ".join(parts) if len(parts) <= MOST_NAMED else ""


def _rounded(number: int) -> str:
    return units.count(int(float(f"{number:.{_DIGITS - 1}e}")))


def left_out(answer: Answer) -> str:
    """Return of whom nothing is said, and why; empty where all are judged.

    What needs a device that is not here is no choice here; the list of cases has it.
    """
    why = {name: reason for by in answer.by_calls[:1] for name, reason in by.left_out.items()}
    why |= {k: one for k, one in answer.not_measured.items() if one.code != "gpu_unavailable"}
    said: dict[str, list[str]] = {}
    for candidate, reason in why.items():
        said.setdefault(words(reason), []).append(candidate)
    return "; ".join(f"{_listed(names)}: {reason}" for reason, names in said.items())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} others"


def _figures(answer: Answer) -> Iterator[Line]:
    """Say who leads the first result and the warm call."""
    cold = answer.cold or next((one for one in answer.leads if one.mode != WARM), None)
    for lead in (cold, answer.warm):
        if lead is not None:
            yield Line(_label(lead, loop=answer.scenario), tuple(_said(lead)))


def _label(lead: Lead, *, loop: bool) -> str:
    if lead.mode == WARM:
        return LOOP_HEADINGS[WARM][0] if loop else "warm call"
    return "whole loop" if loop else "first result"


def _said(lead: Lead) -> Iterator[Piece]:
    """Say how the others stand to the baseline; in which caches, where these are not empty."""
    if lead.mode not in {WARM, EMPTY}:
        yield Piece(f"{MODE_NAMES[lead.mode]}: ")
    parts = [*_parts(lead)]
    if lead.untried:
        seen = (f"{one.candidate} {ratio(one)}" for one in lead.untried[:MOST_NAMED])
        parts.append([Piece("not decided", "undecided"), Piece(f": {', '.join(seen)}")])
    if not parts:
        yield Piece("not decided", "undecided")
        yield Piece(f": {_held(lead)}")
        return
    yield Piece(f"vs {lead.baseline}: ")
    for place, part in enumerate(parts):
        yield Piece("; " if place else "")
        yield from part
    if lead.held_back:
        yield Piece(f"; {_held(lead)}")


def _held(lead: Lead) -> str:
    """Say of whom nothing is told, and why in a word."""
    marks: dict[str, list[str]] = {}
    for candidate, why in lead.held_back.items():
        marks.setdefault(MARKS[why.code][1], []).append(candidate)
    return "; ".join(f"{', '.join(names)} {mark}" for mark, names in marks.items())


def _parts(lead: Lead) -> Iterator[list[Piece]]:
    """Yield what is said of each verdict's candidates."""
    if lead.faster:
        yield _directed(lead.faster)
    if lead.same:
        within = max(one.threshold for one in lead.same)
        same = Piece(f" the same within {100 * within:g} %", "same")
        yield [Piece(_listed([one.candidate for one in lead.same])), same]
    if lead.slower:
        yield _directed(lead.slower)
    if len(lead.undecided) > MOST_NAMED:
        yield [_span(lead.undecided)]
        return
    for few, members in groupby(lead.undecided, key=lambda one: n_few(one.reason)):
        yield [*_open(few, [*members])]


def _directed(judged: Sequence[Judged]) -> list[Piece]:
    """Name candidates with the bounds of their ratios; of many, only the first of those faster."""
    named = MOST_NAMED if len(judged) <= MOST_NAMED else int(judged[0].verdict == "faster")
    pieces: list[Piece] = []
    for one in judged[:named]:
        pieces += [Piece(f"{', ' if pieces else ''}{one.candidate} "), _verdict(one)]
    if judged[named:]:
        pieces += [Piece(", " if pieces else ""), _span(judged[named:])]
    return pieces


def _verdict(judged: Judged) -> Piece:
    return Piece(ratio(judged), judged.verdict)


def _open(few: int | None, judged: Sequence[Judged]) -> Iterator[Piece]:
    """Say how far candidates are from the baseline where that is no verdict.

    ``few``: the number of their rounds, where it is that which is too few for one.
    """
    for place, one in enumerate(judged):
        yield Piece(f"{', ' if place else ''}{one.candidate} ")
        between = _seen(one) if few else bounds(one)
        yield Piece(
            between if few else f"undecided{f' ({between})' if between else ''}", "undecided"
        )
        if one.reason.code == _OF_CONTROL:
            told = one.reason.values
            yield Piece(f": {told['of']} differs from itself {told['control_ratio']:.3g}×")
    if few:
        yield Piece(f" in {counted(few, 'round')}; a verdict needs {_NEEDED}")


def _seen(one: Judged) -> str:
    """Return all that was seen of a ratio, with its direction where all of it has one."""
    return seen(one) or bounds(one) or "not compared"


def _next_step(answer: Answer, budget: Callable[[float], str]) -> Iterator[Line]:
    """Say what to type for what is open."""
    reasons = [one.reason for lead in answer.leads for one in lead.undecided]
    left_out = [one for by in answer.by_calls for one in by.left_out.values()]
    few = [n for one in (*reasons, *left_out) if (n := n_few(one)) is not None]
    untried = [why for lead in answer.leads if lead.untried for why in lead.held_back.values()]
    doubtful = [one for one in reasons if one.code == _OF_CONTROL]
    if few:
        asked = _more(answer, _NEEDED / max(1, min(few)), budget) or f"--rounds {_NEEDED}"
        yield Line("next step", (Piece(f"measure again with {asked}"),))
    elif todo := next((found for why in (*untried, *doubtful) if (found := advice(why))), ""):
        yield Line("next step", (Piece(todo),))
    elif reasons or any(_is_open(one) for by in answer.by_calls for one in by.ranges):
        asked = _more(answer, _FOR_HALF, budget) or "a longer --time-budget"
        text = f"{asked}, on an idle machine, about halves the intervals"
        yield Line("next step", (Piece(text),))


def _more(answer: Answer, times: float, budget: Callable[[float], str]) -> str:
    """Write a budget for so many times what was measured; empty where others share it."""
    seconds = times * answer.measured_s * _SPARE
    return budget(_TENS_S * math.ceil(seconds / _TENS_S)) if answer.own and seconds else ""


def _span(judged: Sequence[Judged]) -> Piece:
    """Say how far many candidates are from the baseline, from the least bound to the largest."""
    verdict = judged[0].verdict
    lows = [one.low for one in judged if one.low]
    highs = [one.high for one in judged if one.high]
    text = f"{len(judged)} others {verdict}"
    if lows and highs and verdict in {"faster", "slower"}:
        text = f"{len(judged)} others {units.factor(min(lows), max(highs), verdict)}"
    return Piece(text, verdict)
