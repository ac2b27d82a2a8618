"""A plan as a document; nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.contracts.base import READINGS
from coldwarm.contracts.reasons import because
from coldwarm.report import answer_text, filled, units
from coldwarm.report.document import Cell, Document, Heading, Paragraph, name, table, terms
from coldwarm.report.sentences import CAUTION_ADVICE, words
from coldwarm.report.units import count
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import BreakEven, Plan, PlanReport, PlanTotal, Sweep
    from coldwarm.contracts.base import Reading
    from coldwarm.report.document import Block, Table

_CACHES = {
    "cold": "all caches empty in every process",
    "warm": "all caches filled in every process",
    "kept": "caches empty in the first process, kept for the others",
}
_ONE_PROCESS = {"kept": "caches empty", "cold": "caches empty", "warm": "caches filled"}
_READINGS: dict[Reading, str] = {
    "process": "whole process,\nempty caches",
    "imported": "import paid,\nempty caches",
    "cached": "whole process,\nfilled caches",
}
_MARK = "◂"
_BEYOND = "*"
_FEW_FOR_A_PROCESS = 8
"""Rounds below which simulated intervals held with less than 93 % where 95 % are stated."""
_CANDIDATES_OF_SWEEP = 6
"""Columns of a sweep that stand side by side in 80 characters."""
EXTRAPOLATED = "beyond the calls that were measured: if later ones cost what the last of those did"


def document(report: PlanReport) -> Document:
    """Return every group's plan with its answer, and once what the words mean."""
    blocks: list[Block] = []
    for plan, answer in zip(report.plans, report.answers, strict=True):
        blocks += _plan(plan)
        said = ((one.label, one.pieces) for one in answer_text.lines(answer))
        blocks += terms(said, "answer", answer_text.TITLE)
    blocks += terms(_legend(report.plans), "legend", "How to read this")
    return Document("coldwarm plan", tuple(blocks))


def _plan(plan: Plan) -> Iterator[Block]:
    yield Heading(plan.group, 1)
    yield Paragraph(_job(plan), "dim")
    yield Paragraph(_answer(plan), "strong")
    yield _totals(plan)
    if plan.sweep:
        yield Heading(f"Totals by {plan.sweep.over}")
        yield from _sweep(plan.sweep, _measured(plan))
        yield from (
            Paragraph(f"from {count(one.value)} {plan.sweep.over} on: {one.cheapest} is cheapest")
            for one in plan.sweep.crossings
        )
    if plan.baseline and plan.break_even:
        yield Heading(f"Calls of one process from which it costs no more than {plan.baseline}")
        yield table_of_break_even(plan)
    by_default = [(name, _by_default(plan, name)) for name in plan.filled_by_default_s]
    yield from filled.blocks(filled.needed(plan.filled_by), by_default)
    yield from terms(_remarks(plan), "note")


def _remarks(plan: Plan) -> list[tuple[str, str]]:
    """Return what to know: unsteady warm calls, missing costs, what was not measured."""
    moving = ", ".join(plan.not_steady)
    text = f"the warm calls of {moving} did not become steady: later ones may cost something else"
    remarks = [("not steady", text)] if moving else []
    then = f"and the intervals reach down to that; {CAUTION_ADVICE['allocator']}"
    remarks += [
        ("memory", f"{name}: {words(reason)}, {then}")
        for name, reason in plan.memory_returned.items()
    ]
    remarks += _extrapolated(plan) + _making(plan) + _few(plan)
    remarks += [
        ("no total", words(total.null_reasons["total_s"]))
        for total in plan.totals
        if total.total_s is None
    ]
    reasons: dict[str, list[str]] = {}
    for candidate, reason in plan.not_measured.items():
        reasons.setdefault(words(reason), []).append(candidate)
    return remarks + [("not measured", f"{why}: {', '.join(who)}") for why, who in reasons.items()]


def _extrapolated(plan: Plan) -> list[tuple[str, str]]:
    """Say up to how many calls the totals of a plan are measured, where it has more."""
    measured = {
        total.candidate: total.measured_calls
        for total in plan.totals
        if total.measured_calls is not None and total.measured_calls < plan.calls
    }
    if not measured:
        return []
    names = ", ".join(f"{name} {count(calls)}" for name, calls in measured.items())
    then = "later ones are taken to cost what the last of those did, on average"
    return [("extrapolated", f"calls of a process that were measured: {names}; {then}")]


def _measured(plan: Plan) -> int | None:
    known = [one.measured_calls for one in plan.totals if one.measured_calls is not None]
    return min(known, default=None)


def _by_default(plan: Plan, candidate: str) -> str:
    """Write a start without the settings that the totals have, beside one with them."""
    ours, default = plan.filled_s[candidate], plan.filled_by_default_s[candidate]
    return f"a start of {units.duration(default)}, not {units.duration(ours)}"


def _few(plan: Plan) -> list[tuple[str, str]]:
    """Say how much the intervals are worth that rest on few rounds, by how many they rest on."""
    by_basis: dict[str, list[str]] = {}
    for total in plan.totals:
        few = total.n_rounds is not None and total.n_rounds < _FEW_FOR_A_PROCESS
        if total.rests_on is not None and (few or total.rests_on.code != "whole_rounds"):
            by_basis.setdefault(words(total.rests_on), []).append(total.candidate)
    pays: dict[str, list[str]] = {}
    for one in plan.break_even:
        told = one.baseline == plan.baseline and one.rests_on is not None
        if told and one.rests_on and one.rests_on.code != "common_rounds":
            pays.setdefault(words(one.rests_on), []).append(one.candidate)
    remarks = [("from, until", f"from {_by_basis(pays)}")] if pays else []
    if not by_basis:
        return remarks
    held = f"with fewer than {_FEW_FOR_A_PROCESS}, the range of one process misses 1 in 7"
    return [("rests on", f"{_by_basis(by_basis)}; {held}"), *remarks]


def _by_basis(candidates: Mapping[str, Sequence[str]]) -> str:
    """Write what intervals rest on, and of which candidates; an alike one of several once."""
    who = {what: ", ".join(dict.fromkeys(names)) for what, names in candidates.items()}
    return "; ".join(f"{names}: {what}" for what, names in who.items())


def _making(plan: Plan) -> list[tuple[str, str]]:
    """Say what was compiled ahead of time, which no total has, and what paying it changes."""
    made = [(t.candidate, t.made_s) for t in plan.totals if t.made_s is not None]
    if not made:
        return []
    each = "once for each shape" if plan.shapes > 1 else "once"
    took = ", ".join(f"{candidate} {units.duration(seconds)}" for candidate, seconds in made)
    changed = plan.cheapest_with_making != plan.cheapest
    then = f"{plan.cheapest_with_making} is the cheapest" if changed else "the cheapest is the same"
    return [("ahead of time", f"{took}, {each}, not in the totals; paid for as well, {then}")]


def _job(plan: Plan) -> str:
    several = plan.processes > 1
    caches = (_CACHES if several else _ONE_PROCESS)[plan.caches]
    shapes = "of one shape" if plan.shapes == 1 else f"of {plan.shapes} shapes"
    each = " each" if several else ""
    calls = f"{_counted(plan.calls, 'call')}{each}, {shapes}"
    return f"{_counted(plan.processes, 'process', 'es')}: {calls}; {caches}"


def _counted(number: int, noun: str, ending: str = "s") -> str:
    return f"{count(number)} {noun}{'' if number == 1 else ending}"


def _totals(plan: Plan) -> Table:
    """Return a row for each candidate, intervals under the figures that they bound."""
    several = plan.shapes > 1 and not plan.new_shapes_measured
    columns = ["candidate", "total", "one process", "beyond\nthe cheapest"]
    if several:
        columns.insert(3, "new shapes,\nat most")
    rows = []
    for total in plan.totals:
        best = total.candidate == plan.cheapest
        figure = _bounded(total.total_s, total.low_s, total.high_s)
        margin = _bounded(total.margin_s, total.margin_low_s, total.margin_high_s, _signed)
        new = [_bounded(total.new_shapes_s)] if several else []
        last = Cell("cheapest", verdict="cheapest") if best else margin
        rows.append([name(total.candidate), figure, _range(total), *new, last])
    return table(columns, rows)


def _range(total: PlanTotal) -> Cell:
    """Write where one process will lie."""
    if total.process_low_s is None or total.process_high_s is None:
        return Cell()
    low, high = (units.duration(one) for one in (total.process_low_s, total.process_high_s))
    return Cell(f"{low}\n… {high}", style="dim")


def _bounded(
    middle_s: float | None,
    low_s: float | None = None,
    high_s: float | None = None,
    write: Callable[[float], str] = units.duration,
) -> Cell:
    """Write a figure, and under it its interval where it has one."""
    if middle_s is None:
        return Cell()
    if low_s is None or high_s is None:
        return Cell(write(middle_s))
    return Cell(write(middle_s), below=f"{write(low_s)} … {write(high_s)}")


def _signed(seconds: float) -> str:
    return f"{'−' if seconds < 0 else '+'}{units.duration(abs(seconds))}"


def _answer(plan: Plan) -> str:
    if plan.cheapest is None:
        return f"No total: {words(plan.reason)}"
    if plan.verdict == "extrapolated":
        return f"{plan.cheapest} has the lowest total: {words(plan.reason)}"
    if plan.verdict == "told_apart":
        return f"{plan.cheapest} is the cheapest: {words(plan.reason)}"
    return f"{plan.cheapest} has the lowest total, undecided: {words(plan.reason)}"


def _sweep(sweep: Sweep, measured: int | None) -> Iterator[Table]:
    """Yield the totals in as many tables as the candidates need in 80 columns."""
    names = list(sweep.rows[0].ranked_s) if sweep.rows else []
    for at in range(0, len(names), _CANDIDATES_OF_SWEEP):
        yield _sweep_of(sweep, names[at : at + _CANDIDATES_OF_SWEEP], measured)


def _sweep_of(sweep: Sweep, names: Sequence[str], measured: int | None) -> Table:
    """Return a row for each value and a column for each candidate; the cheapest is marked."""
    rows = []
    for row in sweep.rows:
        beyond = sweep.over == "calls" and measured is not None and row.value > measured
        cells = [Cell(f"{count(row.value)}{_BEYOND if beyond else ''}")]
        for candidate in names:
            best = candidate == row.cheapest
            text = f"{units.duration(row.ranked_s[candidate])} {_MARK if best else ' '}"
            cells.append(Cell(text, verdict="cheapest" if best else ""))
        rows.append(cells)
    return table([sweep.over, *(one.replace("_", "\n") for one in names)], rows)


def table_of_break_even(plan: Plan) -> Table:
    """Return from how many calls each candidate pays off, in the three readings."""
    judged = {
        (one.candidate, one.reading): one
        for one in plan.break_even
        if one.baseline == plan.baseline
    }
    names = dict.fromkeys(candidate for candidate, _ in judged)
    rows = [
        [name(candidate), *(_paying(judged[candidate, reading]) for reading in READINGS)]
        for candidate in names
    ]
    return table(["candidate", *(_READINGS[reading] for reading in READINGS)], rows)


def _paying(judged: BreakEven) -> Cell:
    """Write a verdict, and under it the interval that it stands in."""
    if judged.verdict in {"at_once", "never"}:
        said = words(because(judged.verdict))
        return Cell(said, verdict="cheapest") if judged.calls else Cell(said, style="dim")
    if judged.verdict == "undecided":
        return Cell(f"undecided{_known(judged)}", style="dim")
    calls, low = (units.MISSING if n is None else count(n) for n in (judged.calls, judged.low))
    high = words(judged.null_reasons["high"]) if judged.high is None else count(judged.high)
    few = judged.n_rounds is not None and judged.n_rounds < FEWEST_FOR_CONFIDENCE
    bounds = f"{low} … {high}{f' ({judged.n_rounds})' if few else ''}"
    mark = _BEYOND if judged.extrapolated else ""
    return Cell(f"{judged.verdict} {calls}{mark}", below=bounds)


def _known(judged: BreakEven) -> str:
    if judged.low is None:
        return ""
    never = judged.null_reasons["high"].code == "never"
    return f"\n{count(judged.low)} … never" if never else f"\nuntil {count(judged.low)} or more"


_BELOW = "below it, its 95 % interval, or of fewer than 5 rounds the least and the largest seen"


def _legend(plans: Sequence[Plan]) -> list[tuple[str, str]]:
    total = (
        "start, second call, and later calls as they were measured, beyond that at their mean, of"
        " all processes"
    )
    pays = (
        "calls from which, or up to which, it is no dearer; the interval below ends with never "
        "(at once) where the warm calls cannot be distinguished; in brackets the number of rounds "
        "that it rests on, where they are few"
    )
    terms = [
        ("total", f"{total}: what is expected; {_BELOW}"),
        ("one process", "where one lies, with 95 %; where caches are kept, a later than the first"),
    ]
    if any(plan.new_shapes_measured for plan in plans):
        terms.append(("new shapes", "at what a call with a shape not seen before cost, measured"))
    half = any(_has_shapes(plan) for plan in plans)
    if half:
        shapes = (
            "what one costs was not measured: where calls compile, between nothing and a whole "
            "first call without import. The total has none of it, its interval all; candidates "
            "are ranked with half of it"
        )
        terms.append(("new shapes", shapes))
    if any(plan.sweep for plan in plans):
        also = "; totals have half of what new shapes may cost" if half else ""
        terms.append((_MARK, f"the cheapest at this number{also}"))
    terms.append(("from, until", pays))
    swept = any(plan.sweep is not None and plan.sweep.over == "calls" for plan in plans)
    if swept or any(one.extrapolated for plan in plans for one in plan.break_even):
        terms.append((_BEYOND, EXTRAPOLATED))
    return terms


def _has_shapes(plan: Plan) -> bool:
    swept = plan.sweep is not None and plan.sweep.over == "shapes"
    return swept or (plan.shapes > 1 and not plan.new_shapes_measured)
