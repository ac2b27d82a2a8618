"""What a claim's rule may look at, and the words in which it decides. Pure.

A rule reads facts, ratios of a bench and results of patterns, all by name. Whatever figure it
asks for is put down, so that the verdict stands beside what it rests on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, cast, get_args

from coldwarm.contracts.catalogue import Bound, ClaimVerdict
from coldwarm.contracts.reasons import because
from coldwarm.stats.ratio import CONFIDENCE, compare
from coldwarm.stats.summarise import cold_rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.catalogue import Fact, FactSheet, PatternResult
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult

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
        found = _warm(ours, theirs) if figure == "warm_call" else _cold(figure, ours, theirs)
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


def _cold(
    figure: str, ours: CaseResult, theirs: CaseResult
) -> tuple[float, float, float, float] | None:
    name = _FIRST[figure]
    first, second = (cold_rounds(case.observations, _COLD, name) for case in (ours, theirs))
    made = compare(figure, theirs.case, first, second)
    if made.ratio is None or made.low is None or made.high is None:
        return None
    return made.ratio, made.low, made.high, CONFIDENCE
