"""The answer of each workload in words: at most three lines, the same in every view."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from coldwarm.contracts.base import WARM
from coldwarm.report import units
from coldwarm.report.document import Piece
from coldwarm.report.headline import bounds, ratio
from coldwarm.report.sentences import counted, words
from coldwarm.report.words import LOOP_HEADINGS, MARKS, MODE_NAMES, MOST_NAMED, either

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from coldwarm.contracts.answer import Answer, ByCalls, CallRange, Judged, Lead
    from coldwarm.contracts.reasons import Reason

TITLE = "The answer"
_CHEAPEST = "cheapest"
_CANNOT = "this run cannot tell"
_EXTRAPOLATED = " (extrapolated)"
_DIGITS = 2
"""Digits of an estimate, whose bounds are told exactly."""


class Line(NamedTuple):
    """A label and what is said of it."""

    label: str
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """All of it, without the label."""
        return "".join(piece.text for piece in self.pieces)


def lines(answer: Answer) -> tuple[Line, ...]:
    """Return what a run says of a workload: the cheapest by calls, the first result, warm calls.

    Nothing where there is one candidate alone.
    """
    return (*_calls(answer), *_figures(answer))


def _name(answer: Answer) -> str:
    """Name the workload, size and dtype that an answer is of."""
    if answer.own:
        return answer.workload
    return f"{answer.workload} · {answer.size} · {answer.dtype}"


def _calls(answer: Answer) -> Iterator[Line]:
    if answer.scenario and len(answer.candidates) > 1:
        yield Line("by calls", (Piece(words(answer.null_reasons["by_calls"])),))
    if not answer.by_calls:
        return
    by = answer.reading("process") or answer.by_calls[0]
    if len(by.candidates) + len(by.left_out) <= 1:
        return
    said = [*_ranges(by)]
    if answer.reading("process") is None:
        said.append(Piece(" with filled caches"))
    if by.ranges:
        sure = [f"{100 * by.confidence:g} %{_reach(by)}", counted(by.n_rounds or 0, "round")]
        sure += [f"without {without}"] if (without := _without(answer, by)) else []
        said.append(Piece(f" ({', '.join(sure)})"))
    changed = [one for one in answer.changes if one.code != "longer_process"]
    said += [Piece(f"; {words(one)}{_beyond(answer, one)}") for one in changed]
    yield Line(_CHEAPEST, tuple(said))


def _beyond(answer: Answer, change: Reason) -> str:
    """Say where a change with filled caches begins beyond what was measured."""
    filled = answer.reading("cached")
    calls = change.values.get("n_calls")
    if change.code != "filled_caches" or filled is None or not isinstance(calls, int):
        return ""
    return _EXTRAPOLATED if filled.is_extrapolated(calls) else ""


def _reach(by: ByCalls) -> str:
    """Say up to how many calls that was measured, where anything is said of more."""
    measured = by.measured_calls
    if measured is None or by.ranges[-1].to_calls is not None:
        return ""
    return f" up to {units.count(measured)} calls, from there extrapolated"


def _ranges(by: ByCalls) -> Iterator[Piece]:
    """Say who is the cheapest from how many calls on, and where nobody can tell."""
    if not by.ranges:
        yield Piece(_CANNOT, "undecided")
        yield Piece(f": {words(by.reason)}" if by.reason else "")
        return
    told = by.told
    if not told:
        yield Piece(_CANNOT, "undecided")
        yield Piece(f" at any number of calls: {either(by.candidates)}")
        return
    joined = _joined(told)
    for place, one in enumerate(joined):
        yield from _range(by, joined, place, one)
    gaps = _gaps(told)
    if not gaps and len(joined) == 1:
        yield Piece(" at any number of calls")
    if gaps:
        yield Piece(f"; {' and '.join(gaps)} ")
        yield Piece(_CANNOT, "undecided")


def _joined(told: Sequence[CallRange]) -> list[CallRange]:
    """Return the ranges with those that name the same candidates one after another as one."""
    found: list[CallRange] = []
    for one in told:
        if found and found[-1].among == one.among:
            found[-1] = replace(found[-1], to_calls=one.to_calls)
        else:
            found.append(one)
    return found


def _range(by: ByCalls, told: Sequence[CallRange], place: int, one: CallRange) -> Iterator[Piece]:
    beyond = by.is_extrapolated(one.from_calls)
    names = f"{either(one.among)}{_EXTRAPOLATED if beyond else ''}"
    who = Piece(names, _CHEAPEST if one.cheapest and not beyond else "")
    of = " calls of a process" if place == 0 else ""
    last = place == len(told) - 1
    if place == 0 and one.from_calls == 1:
        yield who
        if last and one.to_calls is not None:
            yield Piece(f" up to {units.count(one.to_calls)}{of}")
        elif not last:
            yield Piece(f" below {_begin(by, told, 1)}{of}")
        return
    if place == 1 and told[0].from_calls == 1:
        yield Piece(", from there ")
    else:
        yield Piece(f"{', ' if place else ''}from {_begin(by, told, place)}{of} ")
    yield who


def _begin(by: ByCalls, told: Sequence[CallRange], place: int) -> str:
    """Write from how many calls on a range holds: as estimated, where others lie before it."""
    one = told[place]
    after = (told[place - 1].to_calls or 0) if place else one.from_calls
    begun = [
        each.value
        for each in by.estimates
        if after < each.value <= one.from_calls and each.cheapest in one.among
    ]
    if not begun or begun[-1] == one.from_calls:
        return units.count(one.from_calls)
    return f"about {units.count(int(float(f'{begun[-1]:.{_DIGITS - 1}e}')))}"


def _gaps(told: Sequence[CallRange]) -> list[str]:
    """Name the numbers of calls at which nobody can tell."""
    gaps = []
    if told[0].from_calls > 1:
        gaps.append(f"below {units.count(told[0].from_calls)}")
    for before, after in pairwise(told):
        end = before.to_calls or 0
        if after.from_calls - end > 1:
            gaps.append(f"between {units.count(end)} and {units.count(after.from_calls)}")
    if told[-1].to_calls is not None:
        gaps.append(f"above {units.count(told[-1].to_calls)}" if len(told) > 1 else "above")
    return gaps


def _without(answer: Answer, by: ByCalls) -> str:
    """Name what was not compared: with too few processes, and what was not measured at all.

    What needs a device that is not here is no choice here; the list of cases has it.
    """
    few = _listed([*by.left_out])
    lacking = [k for k, why in answer.not_measured.items() if why.code != "gpu_unavailable"]
    if len(lacking) > MOST_NAMED:
        return " and ".join(filter(None, (few, f"{len(lacking)} not measured")))
    return ", ".join(filter(None, (few, *lacking)))


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
    """Say who is the fastest, and how the others stand to the baseline."""
    if lead.mode != WARM:
        yield Piece(f"{MODE_NAMES[lead.mode]}: ")
    if not lead.judged:
        yield Piece(_CANNOT, "undecided")
        yield Piece(f": {_held(lead)}")
        return
    yield from _told(lead)
    if lead.held_back:
        yield Piece(f"; {_held(lead)}")


def _held(lead: Lead) -> str:
    """Say of whom nothing is told, and why in a word."""
    marks: dict[str, list[str]] = {}
    for candidate, why in lead.held_back.items():
        marks.setdefault(MARKS[why.code][1], []).append(candidate)
    return "; ".join(f"{', '.join(names)} {mark}" for mark, names in marks.items())


def _told(lead: Lead) -> Iterator[Piece]:
    if len(lead.judged) == 1:
        yield from _alone(lead.judged[0], lead.baseline)
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
    verdict = judged.verdict
    if verdict == "same":
        yield Piece(f"{judged.candidate} is ")
        yield Piece("the same", verdict)
        yield Piece(f" as {baseline}, within {100 * judged.threshold:g} %")
    elif verdict == "undecided":
        yield Piece(f"{judged.candidate} against {baseline}: ")
        yield Piece("undecided", verdict)
        between = bounds(judged)
        yield Piece(f" ({between})" if between else "")
    else:
        yield Piece(f"{judged.candidate} is ")
        yield Piece(ratio(judged), verdict)
        yield Piece(f" than {baseline}")


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
    if len(judged) > MOST_NAMED and fastest is None:
        return [_span(judged)]
    first, rest = judged[0], judged[1:]
    begin = " is the fastest: " if fastest == first.candidate else " "
    pieces = [Piece(f"{first.candidate}{begin}"), _verdict(first)]
    if len(rest) >= MOST_NAMED:
        return [*pieces, Piece(", "), _span(rest)]
    for one in rest:
        pieces += [Piece(f", {one.candidate} "), _verdict(one)]
    return pieces


def _verdict(judged: Judged) -> Piece:
    return Piece(ratio(judged), judged.verdict)


def _span(judged: Sequence[Judged]) -> Piece:
    """Say how far many candidates are from the baseline, from the least bound to the largest."""
    verdict = judged[0].verdict
    lows = [one.low for one in judged if one.low]
    highs = [one.high for one in judged if one.high]
    text = f"{len(judged)} others {verdict}"
    if lows and highs and verdict in {"faster", "slower"}:
        text = f"{len(judged)} others {units.factor(min(lows), max(highs), verdict)}"
    return Piece(text, verdict)


def _names(judged: Iterable[Judged]) -> str:
    return _listed([one.candidate for one in judged])
