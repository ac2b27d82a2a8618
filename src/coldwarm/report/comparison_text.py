"""Two runs compared, in words: what changed, what cannot be told, and why."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.policy import DIRECTIONS
from coldwarm.errors import printable
from coldwarm.report import units
from coldwarm.report.answer_text import budget_option
from coldwarm.report.document import (
    Cell,
    Document,
    Heading,
    Notice,
    Paragraph,
    Rows,
    Table,
    name,
    table,
    terms,
)
from coldwarm.report.document import row as cells_of
from coldwarm.report.headline import bounds
from coldwarm.report.sentences import counted, with_advice, words
from coldwarm.report.words import mode_name
from coldwarm.stats.comparable import FAILED
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import CountVerdict
    from coldwarm.contracts.base import Difference
    from coldwarm.contracts.bench import BenchControl, BenchReport, BenchVerdict
    from coldwarm.contracts.comparison import (
        ComparedMetric,
        LeftOutCase,
        RunComparison,
        SideDifference,
        UnshownLimit,
    )
    from coldwarm.report.document import Block
    from coldwarm.stats.compared_results import IncomparableError, NothingValidError


_CERTAINTY = f"{100 * CONFIDENCE:g} %"
_HEADINGS = ("", "A", "B", "B over A", f"{_CERTAINTY} interval", "verdict", "shows")
_FIGURES = {
    "ttfr_s": "first result",
    "ttfr_process_s": "whole start",
    "total_s": "whole loop",
    "peak_rss_bytes": "peak memory",
    "call_s": "call",
    "time_s": "time",
    "memory_bytes": "memory",
}
_SHOWN_SOFTWARE = 4
_SHOWN_CASES = 3
_LARGEST = 9.995


def sides(comparison: RunComparison) -> list[tuple[str, str]]:
    """Return what A and B are: where they lie, and when they were measured."""
    named = [("A", comparison.a), ("B", comparison.b)]
    if comparison.a_runs:
        runs = {"A": comparison.a_runs, "B": comparison.b_runs}
        named = [(f"{label}{n}", run) for label in runs for n, run in enumerate(runs[label], 1)]
    return [
        (label, ", ".join(part for part in (side.path, side.started_at, side.tool) if part))
        for label, side in named
    ]


def shown(comparison: RunComparison, *, everything: bool) -> dict[str, list[ComparedMetric]]:
    """Return by case what is shown: everything, or what is not the same."""
    grouped: dict[str, list[ComparedMetric]] = {}
    for item in comparison.metrics:
        if everything or item.verdict != "same":
            grouped.setdefault(item.case, []).append(item)
    return grouped


def row(item: ComparedMetric) -> tuple[Cell, ...]:
    """Return a figure in cells, one for each of ``_HEADINGS``."""
    write = units.size if item.unit == "bytes" else units.duration
    a, b = (units.MISSING if value is None else write(value) for value in (item.a, item.b))
    ratio = interval = shows = units.MISSING
    if item.ratio is not None and item.low is not None and item.high is not None:
        ratio = units.significant(item.ratio)
        dash = "…" if item.confidence < CONFIDENCE else "–"
        interval = units.interval(item.low, item.high, dash)
    if (share := item.smallest_detectable) is not None:  # ``3.4%``, ``29%``, ``12×``
        shows = units.spread(share).lstrip("±") if share < _LARGEST else units.times(1 + share)
    verdict = item.verdict if item.fails_beyond is None else f"{item.verdict}, FAIL"
    if item.fails_beyond is not None and item.verdict == "undecided":
        verdict = "undecided!"  # leaves the columns their places
    return (
        Cell(figure(item.metric)),
        Cell(a, value=item.a),
        Cell(b, value=item.b),
        Cell(ratio, value=item.ratio),
        Cell(interval),
        Cell(verdict, verdict=item.verdict),
        Cell(shows),
    )


def figure(metric: str) -> str:
    """Name a metric: ``first result, empty``, ``warm call``, of another tool ``time``."""
    mode, _, name = metric.partition(".")
    if mode == "elsewhere":
        return _FIGURES[name]
    if mode == "warm":
        return f"warm {_FIGURES.get(name, name)}"
    return f"{_FIGURES.get(name, name)}, {mode_name(mode).removesuffix(' caches')}"


def remarks(comparison: RunComparison) -> list[tuple[str, str]]:
    """Return what is to be known, as terms and texts."""
    listed = [("take care", with_advice(reason)) for reason in comparison.warnings]
    for one in comparison.unshown:
        needs = _further(one, comparison.unit)
        text = f"{one.case}, {figure(one.metric)}: {_reach(one)}; {needs}"
        listed.append(("too coarse", text))
    for item in comparison.allowed:
        cases = f" ({counted(len(item.cases), 'case')})" if item.cases else ""
        listed.append(("allowed", f"{_disagreement(item)}{cases}"))
    if comparison.software:
        first = "; ".join(map(change, comparison.software[:_SHOWN_SOFTWARE]))
        more = len(comparison.software) - _SHOWN_SOFTWARE
        also = f"; {more} more (--format json lists them)" if more > 0 else ""
        listed.append(("differs", f"{first}{also}"))
    # What neither side measured says nothing about a difference.
    out = [item for item in comparison.left_out if item.side != "both" or item.failed]
    for reason, names in _by_reason(out).items():
        more = len(names) - _SHOWN_CASES
        also = f" and {more} more" if more > 0 else ""
        listed.append(("not compared", f"{reason}: {', '.join(names[:_SHOWN_CASES])}{also}"))
    return listed


def _further(one: UnshownLimit, unit: str) -> str:
    if "further_s" in one.null_reasons and not one.n_further:
        return with_advice(one.null_reasons["further_s"])
    return _further_runs(one, unit, " of A and of B")


def _by_reason(out: Sequence[LeftOutCase]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for item in out:
        where = "" if item.reason.code == "only_in" else f" in {item.side}"
        grouped.setdefault(f"{with_advice(item.reason)}{where}", []).append(item.case)
    return grouped


def _disagreement(item: SideDifference) -> str:
    """Write what each side has of a field that must agree."""
    if item.field == "machine" and item.name == "environment":
        side = item.of_a if item.a == "absent" else item.of_b
        return f"machine: environment: {side} lies in no run, so where it was measured is not known"
    if item.field == "machine":
        return f"machine: {change(item)}"
    name = "" if item.name == item.field else f"{item.name}: "
    a, b = ("none" if value == "absent" else value for value in (item.a, item.b))
    return f"{item.field}: {name}{item.of_a} has {a}, {item.of_b} has {b}"


def change(item: Difference | SideDifference) -> str:
    """Write what became of something from A to B."""
    return f"{item.name}: {item.a} became {item.b}"


def legend(comparison: RunComparison) -> list[tuple[str, str]]:
    """Return what the columns mean."""
    raised = set(comparison.noise.shares.values()) if comparison.noise else set()
    used = sorted({item.threshold for item in comparison.metrics} - raised)
    same = " or ".join(f"{100 * threshold:.3g} %" for threshold in used)
    verdict = f"same: at most {same} apart; " if used else ""
    runs = [("A, B", "geometric means of runs; how runs vary gives the interval")]
    open_ = [item for item in comparison.metrics if item.verdict == "undecided"]
    fails = any(item.fails_beyond is not None for item in open_)
    few = any(item.confidence < CONFIDENCE for item in comparison.metrics)
    starts = any(not item.metric.startswith("elsewhere.") for item in comparison.metrics)
    return [
        *(runs if comparison.unit == "run" else []),
        *([("low…high", "too few for an interval: all that was seen")] if few else []),
        *([("undecided!", "fails: more than the limit cannot be excluded")] if fails else []),
        ("verdict", f"{verdict}undecided: cannot tell"),
        ("shows", "the smallest difference that these data could have shown"),
        *([("whole start", "from the start of the process to its first result")] if starts else []),
    ]


def summary(comparison: RunComparison, *, everything: bool = True) -> str:
    """Return the closing line: how many figures, and their verdicts."""
    verdicts = Counter(item.verdict for item in comparison.metrics)
    parts = [f"{verdicts[name]} {name}" for name in DIRECTIONS if verdicts[name]]
    parts += [f"{verdicts['same']} same", f"{verdicts['undecided']} undecided"]
    cases = len({item.case for item in comparison.metrics})
    text = f"{len(comparison.metrics)} figures of {counted(cases, 'case')}: {', '.join(parts)}."
    if verdicts["same"] and not everything:
        text += " --verbose shows all."
    return text


def _failing(comparison: RunComparison) -> str | None:
    """Return the line that says how many figures fail, or ``None``."""
    if not comparison.n_failing:
        return None
    return f"FAIL: {counted(comparison.n_failing, 'figure')} beyond the limit."


def shown_counts(counts: Sequence[CountVerdict], *, everything: bool = False) -> list[CountVerdict]:
    """Return those that a build guards, or all."""
    return [one for one in counts if everything or one.guarded]


def unknown(counts: Sequence[CountVerdict]) -> list[tuple[str, str]]:
    """Return the names that are undecided, and why."""
    reasons = {one.name: words(one.reason) for one in counts if one.reason is not None}
    return list(reasons.items())


def sentence(one: CountVerdict) -> str:
    """Say of a count that fails what became of it."""
    return f"{one.reference} became {one.count}; at most {one.fails_beyond} are allowed"


def table_of_counts(verdicts: Sequence[CountVerdict], sides: tuple[str, str]) -> Table:
    """Return them as a table; ``sides`` names what each is held against, and what is held."""
    rows = []
    for one in verdicts:
        numbers = [units.MISSING if n is None else f"{n}" for n in (one.reference, one.count)]
        if one.fails_beyond is None:
            verdict = Cell(one.verdict, verdict=one.verdict)
        else:
            verdict = Cell(f"{one.verdict}\nFAIL: beyond {one.fails_beyond}", verdict="failed")
        rows.append(cells_of(name(one.case), one.name, *numbers, verdict))
    return table(["", "", *sides, "verdict"], rows, labels=2)


def of_control(report: BenchReport, named: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield what the control shows; ``named`` gives the name of a metric."""
    if report.control is not None:
        yield "control", _control(report.control, named)


def of_limits(
    report: BenchReport, named: Callable[[str], str], *, verbose: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is within the limits that a build asks for, and what is too coarse for them.

    ``verbose``: for each figure that is too coarse, what that needs; else for all together.
    """
    for one in report.verdicts:
        if one.surely_below is not None:
            what = f"{one.candidate}, {named(one.comparison.metric)}"
            yield "within limit", f"{what}: {_below(one, report)}"
    if verbose:
        for each in report.unshown:
            what = f"{each.case}, {named(each.metric)}"
            yield "too coarse", f"{what}: {_reach(each)}; {_further_runs(each)}"
    if report.unshown:
        more_s = math.fsum(one.further_s or 0.0 for one in report.unshown)
        asked = f"; about {budget_option(report.wall_s + more_s)} shows it" if more_s else ""
        yield "too coarse", f"{_unseen(report.unshown, named)}{asked}"


def _control(control: BenchControl, named: Callable[[str], str]) -> str:
    what = f"{control.of}, measured twice"
    if not control.comparisons:
        return f"{what}: too little to compare it with itself"
    if control.differing:
        names = ", ".join(map(named, control.differing))
        return f"{what}: it differs from itself, so no verdict is given for {names}"
    verdicts = Counter(one.verdict for one in control.comparisons)
    found = ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
    return f"{what}: no difference seen ({found})"


def _below(one: BenchVerdict, report: BenchReport) -> str:
    limit = f"{100 * (one.surely_below or 0.0):.3g} %"
    return f"not slower than {report.reference} by more than {limit}: {bounds(one.comparison)}"


def _unseen(found: Sequence[UnshownLimit], named: Callable[[str], str]) -> str:
    """Say how large a difference of these figures could have passed unseen."""
    which = ", ".join(dict.fromkeys(named(one.metric) for one in found))
    limit = f"{100 * min(one.limit for one in found):.3g} %"
    reaches = [one.not_excluded for one in found]
    if None in reaches:
        return f"{which}: too few rounds for a limit of {limit}"
    reach = 100 * max(one for one in reaches if one is not None)
    return f"{which}: up to {reach:.2g} % could pass unseen, the limit is {limit}"


def _reach(one: UnshownLimit) -> str:
    """Say how large a difference is not excluded, and which limit was asked for."""
    limit = f"{100 * one.limit:.3g} %"
    if one.not_excluded is None:
        return f"too few processes for a limit of {limit}"
    return f"up to {100 * one.not_excluded:.2g} % could pass unseen, the limit is {limit}"


def _further_runs(one: UnshownLimit, what: str = "round", of: str = "") -> str:
    """Say what the limit is expected to need besides."""
    text = f"about {counted(one.n_further, f'more {what}')}{of}"
    return text if one.further_s is None else f"{text}, {units.duration(one.further_s)}"


_WAYS_ON = {
    "workload": "its source differs, so it is another job: measure both with the same source",
    "backend": (
        "its source differs, so candidates may be built, called or waited for in another way: "
        "measure both with the same backend"
    ),
    "identity": "it is not the same job under one name: measure the same size and dtype",
    "dataset": "the inputs differ: measure both with the same NumPy, which draws them",
    "seed": "the inputs differ: measure both with the same --seed",
    "data_layout": "the inputs lie in memory differently: measure both with the same source",
    "windows": "the clock is not read at the same places: measure both with one coldwarm",
    "sync_policy": "calls are not waited for in the same way: measure both with one coldwarm",
    "warmup_policy": "warm samples are taken differently: measure both with one coldwarm",
    "allocator": "the processes of one side keep freed memory: measure both with one coldwarm",
    "cache_settings": "caches keep other things: measure both with one coldwarm",
    "interleaving": "processes take turns differently: measure both with one coldwarm",
    "process": "modes mean other processes: measure both with one coldwarm",
    "threads": "measure both with the same --threads",
    "affinity": "the processors differ: measure both on the same ones (taskset, or --threads)",
    "environment_variables": "processes are set up differently: measure both with one coldwarm",
    "own": "the function is called in another way: give both the same arguments",
    "machine": "measure both on one machine",
    "failed": "a wrong or missing answer has no time: mend it, or leave the case out",
}
"""By field that must agree, what to do where it does not."""

_SHOWN_REFUSED = 2
_SHOWN_LEFT_OUT = 3


def refused(error: IncomparableError) -> str:
    """Return every difference, what to do about each field, and how to compare all the same."""
    lines = ["A and B cannot be compared as they are:"]
    for case in error.failed:
        side = "A and B" if case.side == "both" else case.side
        lines.append(f"  {FAILED}: in {side}: {with_advice(case.reason)} ({case.case})")
    lines += [f"  {_disagreement(item)}{_of(item.cases)}" for item in error.differences]
    lines += [f"to mend {field}: {_WAYS_ON[field]}" for field in error.fields]
    effect = "compares all the same, with a warning"
    if error.failed:
        others = ", and compares the others with a warning" if len(error.fields) > 1 else ""
        effect = f"leaves failed cases out{others}"
    lines.append(f"--allow {','.join(error.fields)} {effect}")
    return "\n".join(map(printable, lines))


def nothing_valid(error: NothingValidError) -> str:
    """Say why no figure of two results is left to compare."""
    out = [
        f"{item.case}: {with_advice(item.reason)} ({item.side})"
        for item in error.left_out[:_SHOWN_LEFT_OUT]
    ]
    why = "; ".join(out) or with_advice(error.reason)
    return f"nothing valid to compare in {error.a} and {error.b}: {why}"


def _of(cases: Sequence[str]) -> str:
    if not cases:
        return ""
    more = len(cases) - _SHOWN_REFUSED
    return f" ({', '.join(cases[:_SHOWN_REFUSED])}{f' and {more} more' if more > 0 else ''})"


def document(
    comparison: RunComparison, files: Mapping[str, str] | None = None, *, everything: bool
) -> Document:
    """Return differences and open questions, or every figure; then what to know, and a summary.

    Args:
        comparison: What was judged.
        files: The file of each case of B, for annotations to point at.
        everything: Figures that are the same are shown, too.
    """
    blocks: list[Block] = [Heading("B against A", 1), *_notices(comparison, files or {})]
    blocks += terms(sides(comparison), "note")
    if grouped := shown(comparison, everything=everything):
        blocks.append(figures_table(grouped))
    if counts := shown_counts(comparison.counts, everything=everything):
        blocks += [table_of_counts(counts, ("A", "B")), *terms(unknown(counts))]
    blocks += terms(remarks(comparison), "care", "To know")
    blocks += terms(legend(comparison), "legend", "How to read this")
    blocks.append(Paragraph(summary(comparison, everything=everything), "strong"))
    if failed := _failing(comparison):
        blocks.append(Paragraph(failed, "failure"))
    return Document("coldwarm compare", tuple(blocks))


def figures_table(grouped: Mapping[str, Sequence[ComparedMetric]]) -> Table:
    """Return the figures, those of a case below its name."""
    parts = (Rows(case, tuple(map(row, items))) for case, items in grouped.items())
    return Table(_HEADINGS, tuple(parts), of_parts="case")


_WORSE = ("slower", "more")


def _notices(comparison: RunComparison, files: Mapping[str, str]) -> Iterator[Notice]:
    """Yield errors for what fails, warnings for what is worse."""
    for item in comparison.metrics:
        if item.fails_beyond is not None or item.verdict not in ("same", "undecided"):
            yield _notice(item, files.get(item.case))
    for one in comparison.counts:
        if one.fails_beyond is not None:
            yield Notice(
                "error", f"{one.case}: more {one.name}", sentence(one), files.get(one.case)
            )


def _notice(item: ComparedMetric, file: str | None) -> Notice:
    what, a, b, ratio, interval, *_ = (cell.text for cell in row(item))
    title = f"{item.case}: {what} {item.verdict}"
    message = f"{a} became {b}, {ratio} times ({100 * item.confidence:.3g} %: {interval})"
    if item.ratio is None:
        message = with_advice(item.reason)
    if item.fails_beyond is not None:
        message += f"; the limit is {100 * item.fails_beyond:g} %"
        return Notice("error", title, message, file)
    return Notice("warning" if item.verdict in _WORSE else "notice", title, message, file)
