"""Patterns and claims judged by their evidence, between versions, and again. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, cast, get_args

from msgspec.structs import replace

from coldwarm.contracts.catalogue import Bound, ChangedVerdict, ClaimVerdict
from coldwarm.contracts.reasons import because, together
from coldwarm.stats.ratio import CONFIDENCE, compare
from coldwarm.stats.summarise import cold_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.catalogue import ClaimResult, Fact, FactSheet, PatternResult
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult

    Verdict = Literal["as_stated", "opposite", "same", "undecided", "not_tested", "failed"]
    Holds = Callable[[Mapping[str, Fact], Mapping[str, Fact]], bool]
    Cases = Mapping[str, CaseResult]
    """Of one run, by candidate."""


def versions_told(sheets: Iterable[FactSheet]) -> dict[str, str]:
    """Return the versions that functions have told which were called once."""
    return {k: v for sheet in sheets for k, v in sheet.versions.items()}


def versions_of(cases: Iterable[CaseResult]) -> dict[str, str]:
    """Return the versions that the processes of cases have told."""
    return {k: v for case in cases for seen in case.observations for k, v in seen.versions.items()}


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


_COLD: CacheMode = "cold_process_cold_cache"
_FIRST = {"first_result": "ttfr", "first_call": "first_call"}


class NotSeenError(Exception):
    """A rule has asked for what was not measured; the text says what."""


@dataclass
class Seen:
    """The evidence of one claim."""

    cases: Mapping[str, Mapping[str, CaseResult]] = field(default_factory=dict)
    """By the name of a bench, its cases by candidate."""
    sheets: Sequence[FactSheet] = ()
    patterns: Mapping[str, PatternResult] = field(default_factory=dict)
    asked: list[Bound] = field(default_factory=list)
    """Figures that the rule has asked for so far."""

    def facts(self, function: str) -> Mapping[str, Fact]:
        """Return what a function has shown, with ``raised`` and ``programs`` among it.

        Raises:
            NotSeenError: it was not called.
        """
        for one in self.sheets:
            if one.function == function:
                return one.seen
        raise NotSeenError(function)

    def fact(self, function: str, name: str) -> float:
        """Return a number that a function has shown, and put it down.

        Raises:
            NotSeenError: it has shown no such number.
        """
        value = self.facts(function).get(name)
        if not isinstance(value, int | float):
            text = f"{function}: {name}"
            raise NotSeenError(text)
        self.asked.append(Bound(name=f"{function}: {name}", value=value, low=value, high=value))
        return float(value)

    def over_processes(self, function: str, name: str) -> Bound:
        """Return the median of a number that a function has shown in several processes.

        The bounds are the least and the largest of the *n*: the median of all such processes lies
        between them at a confidence of ``1 − 2 ** (1 − n)``, whatever their distribution.

        Raises:
            NotSeenError: a process has shown no such number, or none has called the function.
        """
        values = [one.seen.get(name) for one in self.sheets if one.function == function]
        numbers = [float(one) for one in values if isinstance(one, int | float)]
        if not numbers or len(numbers) < len(values):
            text = f"{function}: {name}"
            raise NotSeenError(text)
        bound = Bound(
            name=f"{function}: {name}, of {len(numbers)} processes",
            value=median(numbers),
            low=min(numbers),
            high=max(numbers),
            confidence=1 - 2 ** (1 - len(numbers)),
        )
        self.asked.append(bound)
        return bound

    def ratio(self, candidate: str, reference: str, figure: str, *, bench: str = "") -> Bound:
        """Return a candidate's figure over the reference's, and put it down.

        ``figure`` is ``warm_call``, ``first_result`` or ``first_call``; ``bench`` may be left out
        where there is only one.

        Raises:
            NotSeenError: it was not measured on both sides.
        """
        cases = self.cases.get(bench, {}) if bench else next(iter(self.cases.values()), {})
        name = f"{figure} of {candidate} over {reference}"
        if candidate not in cases or reference not in cases:
            raise NotSeenError(name)
        ours, theirs = cases[candidate], cases[reference]
        found = _warm(ours, theirs) if figure == "warm_call" else _cold_change(figure, ours, theirs)
        if found is None:
            raise NotSeenError(name)
        value, low, high, confidence = found
        bound = Bound(name=name, value=value, low=low, high=high, confidence=confidence)
        self.asked.append(bound)
        return bound

    def pattern(self, name: str) -> PatternResult:
        """Return the result of a pattern, and put its ratio down.

        Raises:
            NotSeenError: it was not measured.
        """
        one = self.patterns.get(name)
        if one is None:
            raise NotSeenError(name)
        if one.ratio is not None and one.low is not None and one.high is not None:
            self.asked.append(
                Bound(
                    name=f"{name}: DON'T over DO",
                    value=one.ratio,
                    low=one.low,
                    high=one.high,
                    confidence=one.confidence,
                )
            )
        return one

    @staticmethod
    def at_least(bound: Bound, limit: float) -> ClaimVerdict:
        """Say whether a figure is surely at least this, surely less, or neither."""
        if bound.low >= limit:
            return "confirmed"
        return "refuted" if bound.high < limit else "inconclusive"

    @staticmethod
    def at_most(bound: Bound, limit: float) -> ClaimVerdict:
        """Say whether a figure is surely at most this, surely more, or neither."""
        if bound.high <= limit:
            return "confirmed"
        return "refuted" if bound.low > limit else "inconclusive"

    @staticmethod
    def within(bound: Bound, low: float, high: float) -> ClaimVerdict:
        """Say whether a figure surely lies between two limits, surely not, or neither."""
        if low <= bound.low and bound.high <= high:
            return "confirmed"
        return "refuted" if bound.high < low or bound.low > high else "inconclusive"

    @staticmethod
    def holds(condition: bool) -> ClaimVerdict:  # noqa: FBT001 - what is so, or not
        """Return the verdict for what has no noise."""
        return "confirmed" if condition else "refuted"


def judged(rule: Callable[[Seen], str], seen: Seen) -> tuple[ClaimVerdict, Reason | None]:
    """Return the verdict of a claim's rule, and the reason where there is no evidence for one."""
    try:
        verdict = rule(seen)
    except NotSeenError as error:
        return "inconclusive", because("not_seen", what=str(error))
    except KeyError as error:  # of a function that ended before it had seen that
        return "inconclusive", because("not_seen", what=str(error.args[0]))
    if verdict not in get_args(ClaimVerdict):
        text = f"a rule says {', '.join(get_args(ClaimVerdict))}, not {verdict!r}"
        raise ValueError(text)
    return cast("ClaimVerdict", verdict), None


def _warm(ours: CaseResult, theirs: CaseResult) -> tuple[float, float, float, float] | None:
    """Return the ratio of the verdict; a reference's other side is its inverse."""
    for case, other, turned in ((ours, theirs, False), (theirs, ours, True)):
        for one in case.comparisons:
            if one.metric == "warm.call_s" and one.baseline == other.case:
                if one.ratio is None or one.low is None or one.high is None:
                    return None
                low, high = (1 / one.high, 1 / one.low) if turned else (one.low, one.high)
                return 1 / one.ratio if turned else one.ratio, low, high, one.confidence
    return None


def _cold_change(
    figure: str, ours: CaseResult, theirs: CaseResult
) -> tuple[float, float, float, float] | None:
    name = _FIRST[figure]
    first, second = (cold_rounds(case.observations, _COLD, name) for case in (ours, theirs))
    made = compare(figure, theirs.case, first, second)
    if made.ratio is None or made.low is None or made.high is None:
        return None
    return made.ratio, made.low, made.high, CONFIDENCE


def claim_again(
    stored: ClaimResult, rule: Callable[[Seen], str], cases: Mapping[str, Cases]
) -> ClaimResult:
    """Return a stored claim with the verdict that its rule gives on its evidence.

    ``cases`` are those of its runs, by the name of the bench.
    """
    patterns = {one.pattern: one for one in stored.patterns}
    seen = Seen(cases=cases, sheets=stored.sheets, patterns=patterns)
    verdict, reason = judged(rule, seen)
    versions = versions_told(stored.sheets)
    for one in cases.values():
        versions |= versions_of(one.values())
    for known in stored.patterns:
        versions |= known.versions
    return replace(stored, verdict=verdict, reason=reason, figures=seen.asked, versions=versions)


def pattern_again(
    stored: PatternResult, measures: str, holds: Holds | None, cases: Cases
) -> PatternResult:
    """Return a stored pattern with the verdict and the figures that follow from its evidence.

    ``measures`` and ``holds`` are as the pattern declares them, ``cases`` of its run.

    Raises:
        LookupError: a side is not there.
    """
    if holds is not None:
        do, dont = (_sheet(stored.sheets, side) for side in ("do", "dont"))
        shown, versions = of_facts(do, dont, holds), do.versions
    else:
        shown = of_cases(measures, cases["do"], cases["dont"])
        versions = versions_of(cases.values())
    return replace(stored, measures=measures, versions=versions, **vars(shown))


def _sheet(sheets: Iterable[FactSheet], side: str) -> FactSheet:
    found = {one.function: one for one in sheets}
    return found[side]


def changed(a: Mapping[str, str], b: Mapping[str, str]) -> list[ChangedVerdict]:
    """Return what differs of two sets of verdicts by id, in the order of A and then of B."""
    names = [*a, *(name for name in b if name not in a)]
    return [
        ChangedVerdict(name=name, a=a.get(name), b=b.get(name))
        for name in names
        if a.get(name) != b.get(name)
    ]
