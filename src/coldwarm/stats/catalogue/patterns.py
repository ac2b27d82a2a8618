"""What a pattern has shown: by a verdict, by counts, or by facts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from coldwarm.contracts.reasons import because, together
from coldwarm.stats.ratio import compare
from coldwarm.stats.summarise import cold_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Literal

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.catalogue import Fact, FactSheet
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult
    from coldwarm.contracts.summary import Comparison

    Verdict = Literal["as_stated", "opposite", "same", "undecided", "not_tested", "failed"]
    Holds = Callable[[Mapping[str, Fact], Mapping[str, Fact]], bool]

COLD: CacheMode = "cold_process_cold_cache"
_OF_DONT: dict[str, Verdict] = {
    "slower": "as_stated",
    "faster": "opposite",
    "same": "same",
    "undecided": "undecided",
}
"""A verdict on the DON'T against the DO."""


@dataclass(frozen=True)
class Shown:
    """What is said of a pattern."""

    verdict: Verdict
    reason: Reason
    do: float | None = None
    dont: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    n_rounds: int | None = None


def of_facts(do: FactSheet, dont: FactSheet, holds: Holds) -> Shown:
    """Return whether what both sides have seen is as the pattern says.

    Nothing is told where a side ended before it had seen what is asked for: with an older version
    of a framework, say.
    """
    try:
        as_stated = holds(do.seen, dont.seen)
    except KeyError as missing:
        return Shown("undecided", because("not_seen", what=str(missing.args[0])))
    if as_stated:
        return Shown("as_stated", because("facts_as_stated"))
    return Shown("opposite", because("facts_otherwise"))


def of_cases(measures: str, do: CaseResult, dont: CaseResult) -> Shown:
    """Return what a bench of both sides says of a duration or a count."""
    failed = [case.reason for case in (do, dont) if case.status == "failed" and case.reason]
    if failed:
        return Shown("failed", together(failed))
    if measures == "warm_call_s":
        return _by_verdict(do, dont, "warm.call_s")
    if measures == "first_result_s":
        return _by_verdict(do, dont, f"{COLD}.ttfr_s")
    if measures == "first_call_s":
        return _of_first_call(do, dont)
    if measures == "peak_rss_bytes":
        return _of_memory(do, dont)
    return _of_count(measures, do, dont)


def _by_verdict(do: CaseResult, dont: CaseResult, metric: str) -> Shown:
    judged = next((one for one in dont.comparisons if one.metric == metric), None)
    if judged is None:
        return Shown("undecided", because("no_verdict_on", metric=metric))
    figures = (_median(do, metric), _median(dont, metric))
    return _of(judged, figures, _rounds(do, dont, metric))


def _of(judged: Comparison, figures: tuple[float | None, float | None], n_rounds: int) -> Shown:
    return Shown(
        _OF_DONT[judged.verdict],
        judged.reason,
        *figures,
        judged.ratio,
        judged.low,
        judged.high,
        judged.confidence,
        n_rounds,
    )


def _median(case: CaseResult, metric: str) -> float | None:
    if metric == "warm.call_s":
        return case.warm.call_s.median if case.warm and case.warm.call_s else None
    return _cold(case, "ttfr")


def _cold(case: CaseResult, name: str) -> float | None:
    seconds = next((one.seconds for one in case.cold if one.cache_mode == COLD), {})
    return seconds[name].median if name in seconds else None


def _rounds(do: CaseResult, dont: CaseResult, metric: str) -> int:
    if metric == "warm.call_s":
        return min(case.warm.n_processes if case.warm else 0 for case in (do, dont))
    return min(
        next((one.n_ok for one in case.cold if one.cache_mode == COLD), 0) for case in (do, dont)
    )


def _of_first_call(do: CaseResult, dont: CaseResult) -> Shown:
    """Compare first calls alone: imports are the same on both sides, and would hide it."""
    ours, theirs = (cold_rounds(case.observations, COLD, "first_call") for case in (dont, do))
    judged = compare(f"{COLD}.first_call_s", do.case, ours, theirs)
    figures = (_cold(do, "first_call"), _cold(dont, "first_call"))
    return _of(judged, figures, min(len(ours), len(theirs)))


def _of_memory(do: CaseResult, dont: CaseResult) -> Shown:
    """Compare the largest resident memory by all that was seen."""
    seen = [
        [one.phases[-1].peak_rss_bytes for one in case.observations if one.phases]
        for case in (do, dont)
    ]
    known = [[float(one) for one in side if one is not None] for side in seen]
    if not all(known):
        return Shown("undecided", because("no_verdict_on", metric="peak_rss_bytes"))
    ours, theirs = ({str(n): [value] for n, value in enumerate(side)} for side in reversed(known))
    judged = compare("peak_rss_bytes", do.case, ours, theirs)
    first, second = (median(side) for side in known)
    return _of(judged, (first, second), min(map(len, known)))


def _of_count(name: str, do: CaseResult, dont: CaseResult) -> Shown:
    """Compare counts, which have no noise."""
    first, second = (case.counts.numbers.get(name) for case in (do, dont))
    if first is None or second is None:
        missing = [case for case in (do, dont) if name not in case.counts.numbers]
        reasons = [case.counts.null_reasons.get(name) for case in missing]
        known = [reason for reason in reasons if reason is not None]
        parts = [together(known)] if known else []
        return Shown("undecided", because("no_verdict_on", *parts, metric=name))
    verdict: Verdict = "as_stated" if second > first else "opposite" if second < first else "same"
    ratio = second / first if first else None
    reason = because("counted", count_name=name, n_do=first, n_dont=second)
    return Shown(verdict, reason, first, second, ratio, ratio, ratio)
