"""What a bench says besides the tables of every run, for all formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coldwarm.report import figures, units
from coldwarm.report.compare import counts
from coldwarm.report.sentences import with_advice
from coldwarm.report.words import HEADINGS
from coldwarm.stats.ratio import CONFIDENCE

if TYPE_CHECKING:
    from coldwarm.contracts.bench import BenchCandidate, BenchReport, BenchVerdict
    from coldwarm.contracts.summary import Comparison

_NOTED = {
    "not_kept",
    "answers_differ",
    "may_compute",
    "not_opened",
    "arguments_changed",
    "second_call_compiled",
    "benchmark_of_today",
    "not_compared",
    "files_hidden",
    "files_untried",
}
"""What of a candidate's limitations is not the same for all of its backend."""
INTERVAL = f"{100 * CONFIDENCE:g} % interval"
NEW_SHAPES = "A call with a shape that its process has not seen, caches empty"
_LARGEST_RATIO = 1e4


def failures(report: BenchReport) -> list[str]:
    """Return a line for each verdict, and each count, that fails."""
    compiled = [
        f"{one.case}, {one.name}: {counts.sentence(one)}"
        for one in report.counts
        if one.fails_beyond is not None
    ]
    return [
        f"{one.candidate}, {metric_name(one.comparison.metric)}: {failing(one, report.reference)}"
        for one in report.verdicts
        if one.fails_beyond is not None
    ] + compiled


def failing(one: BenchVerdict, reference: str) -> str:
    """Say of a verdict that fails what it is, and which limit it is beyond."""
    limit = f"{100 * (one.fails_beyond or 0.0):.3g} %"
    if one.comparison.verdict == "undecided":
        return f"undecided: a difference of more than {limit} from {reference} is not excluded"
    return f"{figures.ratio(one.comparison)} than {reference}; the limit is {limit}"


def new_shapes(report: BenchReport) -> list[tuple[str, str]]:
    """Return what a call of a new shape cost, where that was measured."""
    return [
        (one.candidate, units.duration(one.new_shape.median))
        for one in report.candidates
        if one.new_shape is not None
    ]


def noted(report: BenchReport) -> list[tuple[str, str]]:
    """Return what a candidate's answers are to be read with."""
    return [
        (one.candidate, with_advice(reason))
        for one in report.candidates
        for reason in one.limitations
        if reason.code in _NOTED
    ]


def metric_name(metric: str) -> str:
    """Return what a metric is called in a table."""
    mode, _, figure = metric.rpartition(".")
    if metric == "warm.call_s":
        return "warm call"
    caches = next((lines[1] for name, lines in HEADINGS.items() if name == mode), mode)
    return f"first, {caches}" if figure == "ttfr_s" else f"{figure}, {caches}"


def ratio(comparison: Comparison) -> str:
    """Write the ratio of a comparison, or that there is none."""
    return units.MISSING if comparison.ratio is None else _shown(comparison.ratio)


def _shown(value: float) -> str:
    if value >= _LARGEST_RATIO:
        return ">9999"
    return "<0.0001" if value < 1 / _LARGEST_RATIO else units.significant(value)


def interval(comparison: Comparison) -> str:
    """Write the interval of a ratio, and under an open verdict what could have been seen."""
    if comparison.low is None or comparison.high is None:
        return "too few processes"
    bounds = f"{_shown(comparison.low)} … {_shown(comparison.high)}"
    if comparison.confidence < CONFIDENCE:
        return f"{bounds} (all)"
    if comparison.verdict != "undecided" or comparison.smallest_detectable is None:
        return bounds
    return f"{bounds}\nonly {_shown(1 + comparison.smallest_detectable)}× would show"


def checked(candidate: BenchCandidate) -> str:
    """Say what a candidate is, and what its answer was held against."""
    of = f", commit {candidate.revision[:12]}" if candidate.revision else ""
    return f"{candidate.target or candidate.candidate}{of}: {candidate.checked}"
