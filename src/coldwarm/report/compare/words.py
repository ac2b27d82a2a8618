"""What a comparison of two results says, in words: the same in every form."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from coldwarm.contracts.policy import DIRECTIONS
from coldwarm.report import units
from coldwarm.report.compare import limits
from coldwarm.report.sentences import counted, with_advice
from coldwarm.report.words import mode_name
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.base import Difference
    from coldwarm.contracts.comparison import (
        ComparedMetric,
        LeftOutCase,
        RunComparison,
        SideDifference,
        UnshownLimit,
    )

_CERTAINTY = f"{100 * CONFIDENCE:g} %"
HEADINGS = ("", "A", "B", "B over A", f"{_CERTAINTY} interval", "verdict", "shows")
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


class _Row(NamedTuple):
    """One judged figure in words."""

    figure: str
    a: str
    b: str
    ratio: str
    interval: str
    verdict: str
    shows: str


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


def row(item: ComparedMetric) -> _Row:
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
    return _Row(figure(item.metric), a, b, ratio, interval, verdict, shows)


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


def disagreement(item: SideDifference) -> str:
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
        text += " --all shows all."
    return text


def failing(comparison: RunComparison) -> str | None:
    """Return the line that says how many figures fail, or ``None``."""
    if not comparison.n_failing:
        return None
    return f"FAIL: {counted(comparison.n_failing, 'figure')} beyond the limit."
