"""A comparison of two results as a table, for a terminal of 80 columns or more."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.text import Text

from coldwarm.contracts.policy import DIRECTIONS
from coldwarm.report import units
from coldwarm.report.compare import compiled, counts, limits
from coldwarm.report.compare.refusals import change, disagreement
from coldwarm.report.reasons import counted, with_advice
from coldwarm.report.shown import line
from coldwarm.report.terminal import (
    VERDICT_STYLES,
    WIDEST,
    airy_table,
    listing,
    print_blocks,
    title,
)
from coldwarm.report.words import mode_name
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from coldwarm.contracts.comparison import (
        ComparedMetric,
        LeftOutCase,
        RunComparison,
        UnshownLimit,
    )

CERTAINTY = f"{100 * CONFIDENCE:g} %"
HEADINGS = ("", "A", "B", "B over A", f"{CERTAINTY} interval", "verdict", "shows")
_FIGURES = {
    "ttfr_s": "first result",
    "ttfr_process_s": "whole start",
    "total_s": "whole loop",
    "peak_rss_bytes": "peak memory",
    "call_s": "call",
}
_STYLES = {
    **VERDICT_STYLES,
    "less": VERDICT_STYLES["faster"],
    "more": VERDICT_STYLES["slower"],
}
_SHOWN_SOFTWARE = 4
_SHOWN_CASES = 3
_TERM = len("not compared")
_LARGEST = 9.995


class Row(NamedTuple):
    """One judged figure in words."""

    figure: str
    a: str
    b: str
    ratio: str
    interval: str
    verdict: str
    shows: str


def render(comparison: RunComparison, console: Console, *, everything: bool) -> None:
    """Print differences and open questions, or every figure; then what to know, and a summary."""
    width = min(console.width, WIDEST)
    show = partial(print_blocks, console)
    show(title("B against A", width))
    show(*(line(f"{label}  {text}", "dim") for label, text in sides(comparison)))
    grouped = shown(comparison, everything=everything)
    if grouped:
        show(Text(), *_tables(grouped, width))
    counted_ones = counts.shown(comparison.counts, everything=everything)
    if counted_ones:
        show(Text(), compiled.laid_out(counted_ones, ("A", "B"), width))
        show(listing(counts.unknown(counted_ones), width=_TERM))
    show(Text(), listing(remarks(comparison), width=_TERM))
    show(Text(), listing(legend(comparison), "dim", _TERM))
    show(Text(), Text(summary(comparison, everything=everything), style="bold"))
    if failed := failing(comparison):
        show(Text(failed, style="bold red"))


def sides(comparison: RunComparison) -> list[tuple[str, str]]:
    """Return what A and B are: where they lie, and when they were measured."""
    named = [("A", comparison.a), ("B", comparison.b)]
    if comparison.a_runs:
        runs = {"A": comparison.a_runs, "B": comparison.b_runs}
        named = [(f"{label}{n}", run) for label in runs for n, run in enumerate(runs[label], 1)]
    return [
        (label, side.path if side.started_at is None else f"{side.path}, {side.started_at}")
        for label, side in named
    ]


def shown(comparison: RunComparison, *, everything: bool) -> dict[str, list[ComparedMetric]]:
    """Return by case what is shown: everything, or what is not the same."""
    grouped: dict[str, list[ComparedMetric]] = {}
    for item in comparison.metrics:
        if everything or item.verdict != "same":
            grouped.setdefault(item.case, []).append(item)
    return grouped


def row(item: ComparedMetric) -> Row:
    """Put a figure into words."""
    write = units.size if item.unit == "bytes" else units.duration
    a, b = (units.MISSING if value is None else write(value) for value in (item.a, item.b))
    ratio = interval = shows = units.MISSING
    if item.ratio is not None and item.low is not None and item.high is not None:
        ratio = units.significant(item.ratio)
        dash = "…" if item.confidence < CONFIDENCE else "–"
        interval = f"{units.significant(item.low)}{dash}{units.significant(item.high)}"
    if (share := item.smallest_detectable) is not None:  # ``3.4%``, ``29%``, ``12×``
        shows = units.spread(share).lstrip("±") if share < _LARGEST else units.times(1 + share)
    verdict = item.verdict if item.fails_beyond is None else f"{item.verdict}, FAIL"
    if item.fails_beyond is not None and item.verdict == "undecided":
        verdict = "undecided!"  # leaves the columns their places
    return Row(figure(item.metric), a, b, ratio, interval, verdict, shows)


def figure(metric: str) -> str:
    """Name a metric: ``first result, empty``, ``warm call``."""
    mode, _, name = metric.partition(".")
    if mode == "warm":
        return f"warm {_FIGURES.get(name, name)}"
    return f"{_FIGURES.get(name, name)}, {mode_name(mode).removesuffix(' caches')}"


def remarks(comparison: RunComparison) -> list[tuple[str, str]]:
    """Return what is to be known, as terms and texts."""
    listed = [("take care", with_advice(reason)) for reason in comparison.warnings]
    for one in comparison.unshown:
        needs = _further(one, comparison.unit)
        text = f"{one.case}, {figure(one.metric)}: {limits.reach(one)}; {needs}"
        listed.append(("too coarse", text))
    for item in comparison.allowed:
        cases = f" ({counted(len(item.cases), 'case')})" if item.cases else ""
        listed.append(("allowed", f"{disagreement(item)}{cases}"))
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
    return limits.further(one, unit, " of A and of B")


def _by_reason(out: Sequence[LeftOutCase]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for item in out:
        where = "" if item.reason.code == "only_in" else f" in {item.side}"
        grouped.setdefault(f"{with_advice(item.reason)}{where}", []).append(item.case)
    return grouped


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
    return [
        *(runs if comparison.unit == "run" else []),
        *([("low…high", "too few for an interval: all that was seen")] if few else []),
        *([("undecided!", "fails: more than the limit cannot be excluded")] if fails else []),
        ("verdict", f"{verdict}undecided: cannot tell"),
        ("shows", "the smallest difference that these data could have shown"),
        ("whole start", "from the start of the process to its first result"),
    ]


def summary(comparison: RunComparison, *, everything: bool = True) -> str:
    """Return the closing line: how many figures, and their verdicts."""
    verdicts = Counter(item.verdict for item in comparison.metrics)
    parts = [f"{verdicts[name]} {name}" for name in DIRECTIONS if verdicts[name]]
    parts += [f"{verdicts['same']} same", f"{verdicts['undecided']} undecided"]
    cases = len({item.case for item in comparison.metrics})
    text = f"{len(comparison.metrics)} figures of {counted(cases, 'case')}: {', '.join(parts)}."
    if verdicts["same"] and not everything:
        text += " --all shows all."
    return text


def failing(comparison: RunComparison) -> str | None:
    """Return the line that says how many figures fail, or ``None``."""
    if not comparison.n_failing:
        return None
    return f"FAIL: {counted(comparison.n_failing, 'figure')} beyond the limit."


def _tables(grouped: dict[str, list[ComparedMetric]], width: int) -> list[Table | Text]:
    """Lay out the figures; the name of a case, which may be long, stands above its own."""
    rows = [row(item) for items in grouped.values() for item in items]
    columns = zip(HEADINGS, *rows, strict=True)
    widths = [max(map(len, column)) for column in columns]
    widths[0] += 1
    gap = max(1, min(3, (width - sum(widths)) // (len(widths) - 1)))
    blocks: list[Table | Text] = [_columns(widths, gap, header=True)]
    for case, items in grouped.items():
        table = _columns(widths, gap, header=False)
        for item in items:
            table.add_row(*(_cell(place, text, item) for place, text in enumerate(row(item))))
        blocks += [line(case, "italic"), table]
    return blocks


def _columns(widths: Sequence[int], gap: int, *, header: bool) -> Table:
    """Return an empty table of these widths: the first column to the left, others right."""
    table = airy_table(gap, header=header)
    for place, (heading, size) in enumerate(zip(HEADINGS, widths, strict=True)):
        table.add_column(heading, justify="right" if place else "left", width=size, no_wrap=True)
    return table


def _cell(place: int, text: str, item: ComparedMetric) -> Text:
    if place == 0:
        return line(f" {text}")
    if HEADINGS[place] != "verdict":
        return Text(text, style="dim" if text == units.MISSING else "")
    return Text(text, style=_STYLES.get(item.verdict, ""))
