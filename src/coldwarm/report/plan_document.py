"""A plan as a document; nothing is computed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from coldwarm.contracts.base import READINGS
from coldwarm.contracts.reasons import because
from coldwarm.report import filled, units
from coldwarm.report.document import Cell, Document, Heading, Paragraph, name, table, terms
from coldwarm.report.sentences import CAUTION_ADVICE, with_advice, words
from coldwarm.report.units import count
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
_OTHERWISE = 0.01
"""Share of a total from which on another difference beside it is seen."""
_CANDIDATES_OF_SWEEP = 6
"""Columns of a sweep that stand side by side in 80 characters."""
EXTRAPOLATED = "beyond the calls that were measured: if later ones cost what the last of those did"


def document(report: PlanReport) -> Document:
    """Return every group's plan, and once what the words mean."""
    blocks: list[Block] = []
    is_short = report.run_id is None and not any(plan.sweep for plan in report.plans)
    if is_short:
        blocks += _by_size(report.plans)
    else:
        for plan in report.plans:
            blocks += _plan(plan)
    legend = _LEGEND_BY_SIZE if is_short else _legend(report.plans)
    blocks += terms(legend, "legend", "How to read this")
    return Document("coldwarm plan", tuple(blocks))


def _plan(plan: Plan) -> Iterator[Block]:
    yield Heading(plan.group, 1)
    yield Paragraph(_job(plan), "dim")
    yield Paragraph(_answer(plan), "strong")
    if plan.cheapest is not None:
        yield from _tables(plan)
    by_default = [(name, _by_default(plan, name)) for name in plan.filled_by_default_s]
    yield from filled.blocks(filled.needed(plan.filled_by), by_default)
    yield from terms(_remarks(plan), "note")


def _by_size(plans: Sequence[Plan]) -> Iterator[Block]:
    """Yield the totals at each size of a sweep, and how to see more of one."""
    yield Heading(f"Totals by size ({_MARK} the lowest)", 1)
    yield Paragraph(_job(plans[0]), "dim")
    names = list(dict.fromkeys(one.candidate for plan in plans for one in plan.totals))
    for at in range(0, len(names), _CANDIDATES_OF_SWEEP):
        some = names[at : at + _CANDIDATES_OF_SWEEP]
        rows = [[Cell(plan.group), *_totals_of(plan, some), _told(plan)] for plan in plans]
        yield table(["size", *(one.replace("_", "\n") for one in some), "cheapest"], rows)
    yield Paragraph(f"all of one size: --group {plans[0].group}")


def _totals_of(plan: Plan, names: Sequence[str]) -> Iterator[Cell]:
    totals = {one.candidate: one.total_s for one in plan.totals}
    for candidate in names:
        best = candidate == plan.cheapest
        total_s = totals.get(candidate)
        text = units.MISSING if total_s is None else units.duration(total_s)
        yield Cell(f"{text} {_MARK if best else ' '}", verdict="cheapest" if best else "")


def _told(plan: Plan) -> Cell:
    """Write which candidate is the cheapest, if the data can tell."""
    if plan.cheapest is None or plan.verdict == "undecided":
        return Cell("undecided", style="dim")
    return Cell(f"{plan.cheapest}{_BEYOND if plan.verdict == 'extrapolated' else ''}")


def _tables(plan: Plan) -> Iterator[Block]:
    yield _totals(plan)
    if plan.sweep:
        yield Heading(f"Totals by {plan.sweep.over} ({_MARK} the lowest)")
        yield from _sweep(plan.sweep, _measured(plan))
        yield from (
            Paragraph(f"best guess: {one.cheapest} from about {count(one.value)} {plan.sweep.over}")
            for one in plan.sweep.crossings
        )
    if plan.baseline and plan.break_even:
        yield Heading(break_even_title(plan))
        yield table_of_break_even(plan)


def break_even_title(plan: Plan) -> str:
    """Return the heading over ``table_of_break_even``."""
    return f"From how many calls of a process it costs no more than {plan.baseline}"


def _remarks(plan: Plan) -> list[tuple[str, str]]:
    """Return what to know: unsteady warm calls, missing costs, what was not measured."""
    moving = ", ".join(plan.not_steady)
    text = f"the warm calls of {moving} did not become steady: later ones may cost something else"
    remarks = [("not steady", text)] if moving else []
    if plan.memory_returned:
        held = "; ".join(f"{name}: {words(one)}" for name, one in plan.memory_returned.items())
        remarks.append(("memory", f"{held}; {CAUTION_ADVICE['allocator']}"))
    remarks += _extrapolated(plan) + _making(plan) + _few(plan) + _unlike(plan)
    remarks += [
        ("no total", f"{total.candidate}: {words(total.null_reasons['total_s'])}")
        for total in plan.totals
        if total.total_s is None and plan.cheapest is not None
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
    """Name the candidates whose intervals rest on few rounds."""
    few = {
        one.candidate: one.n_rounds
        for one in plan.totals
        if one.rests_on is not None and (one.n_rounds is None or one.n_rounds < _FEW_FOR_A_PROCESS)
    }
    names = ", ".join(f"{name} ({n or 'too few with all figures'})" for name, n in few.items())
    return [("few rounds", names)] if few else []


def _unlike(plan: Plan) -> list[tuple[str, str]]:
    """Name the candidates whose totals differ by something else than is told beside them."""
    best = next((one for one in plan.totals if one.candidate == plan.cheapest), None)
    if best is None or best.total_s is None or _has_shapes(plan):  # half of these is no total's
        return []
    names = [
        one.candidate
        for one in plan.totals
        if one.total_s is not None
        and one.margin_s is not None
        and abs(one.total_s - best.total_s - one.margin_s) > _OTHERWISE * one.total_s
    ]
    text = (
        f"{', '.join(names)}: the difference to {best.candidate} is from the rounds that both have;"
        " each total is from all rounds of its candidate"
    )
    return [("different rounds", text)] if names else []


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
    columns = ["candidate", "total", "one process,\n95 %", "beyond\nthe cheapest"]
    if several:
        columns.insert(3, "new\nshapes,\nat most")
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
    return Cell(f"{low} … {high}", style="dim")


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
        return f"No total: {with_advice(plan.reason) or 'nothing was measured'}"
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
    low, high = _bound(judged, "low"), _bound(judged, "high")
    few = judged.n_rounds is not None and judged.n_rounds < FEWEST_FOR_CONFIDENCE
    bounds = f"{low} … {high}{f' ({judged.n_rounds})' if few else ''}"
    mark = _BEYOND if judged.extrapolated else ""
    calls = _bound(judged, "calls")
    said = calls if judged.calls == 0 else f"{judged.verdict} {calls}"
    return Cell(f"{said}{mark}", below=bounds)


def _bound(judged: BreakEven, name: Literal["calls", "low", "high"]) -> str:
    """Write a number of calls; of none, and of more than anyone makes, what that means."""
    number = getattr(judged, name)
    if number:
        return count(number)
    if number is None and judged.null_reasons[name].code not in {"never", "at_once", "many_calls"}:
        return units.MISSING
    return "always" if number is None and judged.verdict == "until" else "never"


def _known(judged: BreakEven) -> str:
    if not judged.low:
        return ""
    never = judged.null_reasons["high"].code == "never"
    return f"\n{count(judged.low)} … never" if never else f"\nuntil {count(judged.low)} or more"


_BELOW = "below it, its 95 % interval; from fewer than 5 rounds, the least and the largest seen"


def _legend(plans: Sequence[Plan]) -> list[tuple[str, str]]:
    told = [plan for plan in plans if plan.cheapest is not None]
    if not told:
        return []
    one = (
        "95 of 100 processes lie between these; where caches are kept, of those after the first. "
        f"From fewer than {_FEW_FOR_A_PROCESS} rounds, 1 in 7 may lie beyond"
    )
    terms = [
        ("total", f"what all processes are expected to cost, starts included; {_BELOW}"),
        ("one process", one),
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
    if half and any(plan.sweep for plan in plans):
        terms.append((_MARK, "totals have half of what new shapes may cost"))
    if any(plan.break_even for plan in told):
        pays = (
            "from, or up to, so many calls it costs no more; below it, its 95 % interval, which "
            "ends with never, or always, where the warm calls cannot be distinguished; (3): it is "
            "from 3 rounds only"
        )
        terms.append(("from, until", pays))
    swept = any(plan.sweep is not None and plan.sweep.over == "calls" for plan in plans)
    if swept or any(one.extrapolated for plan in plans for one in plan.break_even):
        terms.append((_BEYOND, EXTRAPOLATED))
    return terms


_LEGEND_BY_SIZE = [
    ("total", "what all processes are expected to cost, starts included"),
    ("cheapest", "with 95 % confidence; undecided: the data cannot tell which one it is"),
    (_BEYOND, EXTRAPOLATED),
]


def _has_shapes(plan: Plan) -> bool:
    swept = plan.sweep is not None and plan.sweep.over == "shapes"
    return swept or (plan.shapes > 1 and not plan.new_shapes_measured)
