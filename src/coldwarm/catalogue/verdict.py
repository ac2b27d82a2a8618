"""Patterns and claims judged by their evidence, as often as anyone likes. Pure.

A rule asks the evidence for figures and facts; what it has asked for stands in the result. The rule
of a claim is in its file. All patterns have the same one, that the DON'T costs more than the DO, or
that both sides have shown what the pattern says.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from msgspec.structs import replace

from coldwarm.catalogue.spec import SIDES, ClaimSpec, PatternSpec, called
from coldwarm.contracts.catalogue import (
    Bound,
    ChangedVerdict,
    ClaimResult,
    ClaimVerdict,
    PatternPoint,
    PatternResult,
    at_point,
    point_name,
)
from coldwarm.contracts.reasons import because, together
from coldwarm.stats.ratio import CONFIDENCE, compare
from coldwarm.stats.selection import counted, starts_in_turns
from coldwarm.stats.summarise import compare_cold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from coldwarm.catalogue.spec import Bench, Spec
    from coldwarm.contracts.answer import Comparison
    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.catalogue import Fact, FactSheet, Result
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured

    Cases = Mapping[str, CaseResult]
    """Cases of one run, by candidate."""
    Figures = tuple[float | None, float | None]
    """Figures of DO and DON'T."""

COLD: CacheMode = "cold_process_cold_cache"
_MATTERS = 1.02
"""A ratio of what scatters says that two sides differ where all of its interval is beyond this."""
_DEVICES = {"gpu": "gpu_unavailable", "gpus": "gpu_unavailable", "tpu": "tpu_unavailable"}
"""By what is needed, the reason that it was not tested."""


class NotSeenError(Exception):
    """A rule has asked for what was not measured; the text says what."""


@dataclass
class Evidence:
    """Evidence that the rule of one claim can ask for."""

    cases: Mapping[str, Cases] = field(default_factory=dict)
    """By the name of a bench, its cases by candidate."""
    points: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By the name of a bench, the point of a grid that it is of."""
    sheets: Sequence[FactSheet] = ()
    patterns: Mapping[str, PatternResult] = field(default_factory=dict)
    asked: list[Bound] = field(default_factory=list)
    """Figures that the rule has asked for so far."""
    depends: Reason | None = None
    """At which points of a grid the claim holds, where it does at some alone."""

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
        value = +value  # true is 1
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
        given = dict(self.points.get(bench, {}))
        bound = Bound(
            name=name, given=given, value=value, low=low, high=high, confidence=confidence
        )
        self.asked.append(bound)
        return bound

    def over_grid(
        self, candidate: str, reference: str, figure: str, *, bench: str = ""
    ) -> list[Bound]:
        """Return a candidate's figure over the reference's at each point of a bench's grid.

        Where it was not measured, it may be anything.

        Raises:
            NotSeenError: it was measured at no point.
        """
        found, any_seen = [], False
        for name, given in self.points.items():
            if given and name == point_name(given, bench):
                try:
                    one = self.ratio(candidate, reference, figure, bench=name)
                    any_seen = True
                except NotSeenError:
                    one = _unknown(f"{figure} of {candidate} over {reference}", given)
                found.append(one)
        if not any_seen:
            text = f"{figure} of {candidate} over {reference}"
            raise NotSeenError(text)
        return found

    def mostly(
        self, bounds: Sequence[Bound], low: float = 0.0, high: float = math.inf
    ) -> ClaimVerdict:
        """Say whether figures lie between two limits at most points.

        Confirmed: surely so at more than half of them. Refuted: surely so at none, and surely
        outside at more than half. Depends: surely so at some, and surely outside at others.
        """
        said = [self.within(one, low, high) for one in bounds]
        n_held, n_not = said.count("confirmed"), said.count("refuted")
        if 2 * n_held > len(said):
            return "confirmed"
        if n_held and n_not:
            held = [one for one, each in zip(bounds, said, strict=True) if each == "confirmed"]
            names = [at_point(one.given) or one.name for one in held]
            self.depends = because("holds_at", point_names=names, n_held=n_held, n_points=len(said))
            return "depends"
        return "refuted" if 2 * n_not > len(said) else "inconclusive"

    def pattern(self, name: str) -> PatternResult:
        """Return the result of a pattern, and put its ratio down.

        Raises:
            NotSeenError: it was not measured.
        """
        one = self.patterns.get(name)
        if one is None:
            raise NotSeenError(name)
        self.asked += _ratios(one)
        return one

    def over_points(self, name: str) -> list[Bound]:
        """Return DON'T over DO of a pattern at each point of its grid, and put them down.

        Where it was not measured, it may be anything.

        Raises:
            NotSeenError: it was not measured at any.
        """
        one = self.pattern(name)
        found = {at_point(each.given): each for each in _ratios(one)}
        if not found:
            raise NotSeenError(name)
        return [
            found.get(at_point(each.given)) or _unknown(name, each.given) for each in one.points
        ]

    def of_patterns(self, names: Iterable[str]) -> ClaimVerdict:
        """Say whether patterns are all as they state.

        Confirmed: all are. Refuted: one shows the opposite, or no difference that matters.
        Depends: one holds at some points of its grid, and the others are as they state.

        Raises:
            NotSeenError: one was not measured.
        """
        found = [self.pattern(name) for name in names]
        said = {one.verdict for one in found}
        if said == {"as_stated"}:
            return "confirmed"
        if said & {"opposite", "same"}:
            return "refuted"
        if said <= {"as_stated", "depends"}:
            self.depends = next(one.reason for one in found if one.verdict == "depends")
            return "depends"
        return "inconclusive"

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


def _unknown(name: str, given: Mapping[str, int]) -> Bound:
    """Return the bounds of what was not measured at a point."""
    return Bound(name=name, given=dict(given), value=1.0, low=0.0, high=math.inf)


def _ratios(one: PatternResult) -> list[Bound]:
    """Return DON'T over DO of a pattern, at each point of its grid."""
    return [
        Bound(
            name=f"{one.id}: DON'T over DO",
            given={} if isinstance(part, PatternResult) else part.given,
            value=part.ratio,
            low=part.low,
            high=part.high,
            confidence=part.confidence,
        )
        for part in one.points or (one,)
        if part.ratio is not None and part.low is not None and part.high is not None
    ]


def judged(spec: Spec, result: Result, cases: Mapping[str, Cases]) -> Result:
    """Return a result with the verdict, the figures and the versions that its evidence gives.

    Args:
        spec: What the pattern or the claim declares.
        result: With the sheets and the results of patterns that it rests on.
        cases: Those of its runs, by the name of the bench.

    Raises:
        LookupError: a side of a pattern is not there.
        ValueError: the rule gives no verdict.
        TypeError: the result is of another kind than what is declared.
    """
    if isinstance(spec, PatternSpec) and not isinstance(result, ClaimResult):
        return _pattern_judged(spec, result, cases)
    if isinstance(spec, ClaimSpec) and isinstance(result, ClaimResult):
        return _claim_judged(spec, result, cases)
    raise TypeError(spec.kind)


def _by_rule(
    rule: Callable[[Evidence], str], evidence: Evidence
) -> tuple[ClaimVerdict, Reason | None]:
    """Return the verdict of a claim's rule, and the reason where there is no evidence for one.

    Raises:
        ValueError: the rule gives no verdict.
    """
    try:
        verdict = rule(evidence)
    except NotSeenError as error:
        return "inconclusive", because("not_seen", what=str(error))
    except KeyError as error:  # of a function that ended before it had seen that
        return "inconclusive", because("not_seen", what=str(error.args[0]))
    if verdict not in get_args(ClaimVerdict):
        text = f"a rule says {', '.join(get_args(ClaimVerdict))}, not {verdict!r}"
        raise ValueError(text)
    return cast("ClaimVerdict", verdict), None


_TRANSFERRED: dict[str, str] = {
    "confirmed": "transferred_holds",
    "refuted": "transferred_differs",
    "depends": "transferred_depends",
    "inconclusive": "transferred_undecided",
}
"""By what a rule says, the reason of a claim on another kind of device than was used."""


def _claim_judged(spec: ClaimSpec, result: ClaimResult, cases: Mapping[str, Cases]) -> ClaimResult:
    patterns = {one.id: one for one in result.patterns}
    points = {one.name: one.given for one in spec.benches}
    evidence = Evidence(cases, points, result.sheets, patterns)
    verdict, reason = _by_rule(spec.judge, evidence)
    if verdict == "depends":
        reason = evidence.depends
    if spec.made_for is not None and verdict in _TRANSFERRED:
        known = () if evidence.depends is None else (evidence.depends,)
        verdict, reason = "transferred", because(_TRANSFERRED[verdict], *known)
    told = [one.versions for one in result.sheets]
    told += [seen.versions for run in cases.values() for seen in _observations(run)]
    told += [one.versions for one in result.patterns]
    return replace(
        result, verdict=verdict, reason=reason, figures=evidence.asked, versions=_merged(told)
    )


def _observations(cases: Cases) -> Iterator[Observation]:
    return (seen for case in cases.values() for seen in case.observations)


def _merged(told: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {name: version for one in told for name, version in one.items()}


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
    name = {"first_result": "ttfr", "first_call": "first_call"}[figure]
    made = compare_cold(theirs.case, theirs.observations, ours.observations, COLD, name)
    if made.ratio is None or made.low is None or made.high is None:
        return None
    return made.ratio, made.low, made.high, CONFIDENCE


_OF_DONT: dict[str, str] = {
    "slower": "as_stated",
    "faster": "opposite",
    "same": "same",
    "undecided": "undecided",
}
"""A verdict on the DON'T against the DO."""


def _pattern_judged(
    spec: PatternSpec, result: PatternResult, cases: Mapping[str, Cases]
) -> PatternResult:
    """Return a pattern's result by the standard rule."""
    points: list[PatternPoint] = []
    if spec.holds is not None:
        sheets = {one.function: one for one in result.sheets}
        do, dont = sheets["do"], sheets["dont"]
        said, versions = _of_facts(do, dont, spec.holds), do.versions
    else:
        runs = [(one.given, cases[one.name]) for one in spec.benches]
        of_each = [_of_cases(spec.measures, run["do"], run["dont"]) for _, run in runs]
        if spec.grid:
            points = [
                PatternPoint(given=dict(given), **one, **_peaks(run))
                for (given, run), one in zip(runs, of_each, strict=True)
            ]
        said = _of_points(points) if points else of_each[0]
        versions = _merged(seen.versions for _, run in runs for seen in _observations(run))
    return replace(result, measures=spec.measures, versions=versions, points=points, **said)


def _peaks(run: Cases) -> dict[str, Any]:
    """Return the largest resident memory of both sides."""
    known = {f"{side}_peak_bytes": _peak_bytes(run[side]) for side in SIDES}
    return {name: median(one) if one else None for name, one in known.items()}


def _peak_bytes(case: CaseResult) -> list[float]:
    """Return the largest resident memory of each process; empty: of one it is not known."""
    seen = [one.phases[-1].peak_rss_bytes for one in case.observations if one.phases]
    known = [float(one) for one in seen if one is not None]
    return known if len(known) == len(seen) else []


def _of_points(points: Sequence[PatternPoint]) -> dict[str, Any]:
    """Return what a grid says as a whole: what its points agree on, where most are decided."""
    decided = [one for one in points if one.verdict in {"as_stated", "same", "opposite"}]
    if 2 * len(decided) <= len(points):
        if all(one.verdict == "failed" for one in points):
            return _said("failed", points[0].reason)
        counts = {"n_points": len(points), "n_decided": len(decided)}
        return _said("undecided", because("few_points", **counts))
    if len({one.verdict for one in decided}) == 1:
        return _said(decided[0].verdict, decided[0].reason)
    names = [at_point(one.given) for one in decided if one.verdict == "as_stated"]
    return _said(
        "depends",
        because("holds_at", point_names=names, n_held=len(names), n_points=len(points)),
    )


def _said(  # noqa: PLR0913 - the fields of a result, by name
    verdict: str,
    reason: Reason,
    figures: Figures = (None, None),
    *,
    ratio: float | None = None,
    low: float | None = None,
    high: float | None = None,
    confidence: float | None = None,
    n_rounds: int | None = None,
) -> dict[str, Any]:
    """Return all fields of a pattern's result that its evidence decides."""
    return {
        "verdict": verdict,
        "reason": reason,
        "do": figures[0],
        "dont": figures[1],
        "ratio": ratio,
        "low": low,
        "high": high,
        "confidence": confidence,
        "n_rounds": n_rounds,
    }


def _undecided(metric: str, *parts: Reason) -> dict[str, Any]:
    return _said("undecided", because("no_verdict_on", *parts, metric=metric))


def _of_facts(do: FactSheet, dont: FactSheet, holds: Callable[..., bool]) -> dict[str, Any]:
    """Return whether what both sides have seen is as the pattern says.

    Nothing is told where a side ended before it had seen what is asked for: with an older version
    of a framework, say.
    """
    try:
        as_stated = holds(do.seen, dont.seen)
    except KeyError as missing:
        return _said("undecided", because("not_seen", what=str(missing.args[0])))
    if as_stated:
        return _said("as_stated", because("facts_as_stated"))
    return _said("opposite", because("facts_otherwise"))


def _of_cases(measures: str, do: CaseResult, dont: CaseResult) -> dict[str, Any]:
    """Return what a bench of both sides says of a duration or a count."""
    failed = [case.reason for case in (do, dont) if case.status == "failed" and case.reason]
    if failed:
        return _said("failed", together(failed))
    if measures == "warm_call_s":
        return _of_stored_verdict(do, dont, "warm.call_s")
    if measures == "first_result_s":
        return _of_stored_verdict(do, dont, f"{COLD}.ttfr_s")
    if measures == "first_call_s":
        return _of_first_call(do, dont)
    if measures == "peak_rss_bytes":
        return _of_memory(do, dont)
    return _of_count(measures, do, dont)


def _of_comparison(one: Comparison, figures: Figures, n_rounds: int) -> dict[str, Any]:
    verdict, reason = _OF_DONT[one.verdict], one.reason
    if one.verdict in {"slower", "faster"} and one.low and one.high:
        nearest, farthest = sorted((abs(math.log(one.low)), abs(math.log(one.high))))
        if nearest < math.log(_MATTERS):
            is_small = farthest < math.log(_MATTERS)
            verdict = "same" if is_small else "undecided"
            reason = because("difference_small" if is_small else "difference_perhaps_small")
    return _said(
        verdict,
        reason,
        figures,
        ratio=one.ratio,
        low=one.low,
        high=one.high,
        confidence=one.confidence,
        n_rounds=n_rounds,
    )


def _of_stored_verdict(do: CaseResult, dont: CaseResult, metric: str) -> dict[str, Any]:
    found = next((one for one in dont.comparisons if one.metric == metric), None)
    if found is None:
        return _undecided(metric)
    if metric == "warm.call_s":
        warm = [case.warm for case in (do, dont)]
        medians = [one.call_s.median if one and one.call_s else None for one in warm]
        n_rounds = min(one.n_processes if one else 0 for one in warm)
    else:
        medians = [_cold_median(case, "ttfr") for case in (do, dont)]
        cold = [[one.n_ok for one in case.cold if one.cache_mode == COLD] for case in (do, dont)]
        n_rounds = min(next(iter(one), 0) for one in cold)
    return _of_comparison(found, (medians[0], medians[1]), n_rounds)


def _cold_median(case: CaseResult, name: str) -> float | None:
    seconds = next((one.seconds for one in case.cold if one.cache_mode == COLD), {})
    return seconds[name].median if name in seconds else None


def _of_first_call(do: CaseResult, dont: CaseResult) -> dict[str, Any]:
    """Compare first calls alone: imports are the same on both sides, and would hide it."""
    found = compare_cold(do.case, do.observations, dont.observations, COLD, "first_call")
    figures = (_cold_median(do, "first_call"), _cold_median(dont, "first_call"))
    n_rounds = min(_n_starts(case) for case in (do, dont))
    return _of_comparison(found, figures, n_rounds)


def _n_starts(case: CaseResult) -> int:
    """Return how many starts with empty caches there were, by themselves and in turns."""
    alone, in_turns = counted(case.observations, COLD), starts_in_turns(case.observations, COLD)
    return len(alone) + len(in_turns)


def _of_memory(do: CaseResult, dont: CaseResult) -> dict[str, Any]:
    """Compare the largest resident memory by all that was seen."""
    known = [_peak_bytes(case) for case in (do, dont)]
    if not all(known):
        return _undecided("peak_rss_bytes")
    ours, theirs = ({str(n): [value] for n, value in enumerate(side)} for side in reversed(known))
    found = compare("peak_rss_bytes", do.case, ours, theirs)
    return _of_comparison(found, (median(known[0]), median(known[1])), min(map(len, known)))


def _of_count(name: str, do: CaseResult, dont: CaseResult) -> dict[str, Any]:
    """Compare counts, which have no noise."""
    first, second = (case.counts.numbers.get(name) for case in (do, dont))
    if first is None or second is None:
        missing = [case for case in (do, dont) if name not in case.counts.numbers]
        reasons = [case.counts.null_reasons.get(name) for case in missing]
        known = [reason for reason in reasons if reason is not None]
        return _undecided(name, *([together(known)] if known else []))
    verdict = "as_stated" if second > first else "opposite" if second < first else "same"
    ratio = second / first if first else None
    reason = because("counted", count_name=name, n_do=first, n_dont=second)
    return _said(verdict, reason, (first, second), ratio=ratio, low=ratio, high=ratio)


def of_bench(run: Measured, spec: Spec, bench: Bench) -> dict[str, CaseResult]:
    """Return the cases of a run by candidate: it is evidence if it is of what the bench asks for.

    Raises:
        ValueError: it is of other functions, or they were measured with other variables.
    """
    file = hashlib.sha256(spec.file_of(bench).read_bytes()).hexdigest()
    functions = {called(name): name for name in bench.candidates}
    cases = {case.candidate: case for case in run.cases.values()}
    if cases.keys() != functions.keys():
        message = f"{run.path} is of {', '.join(cases)}, not of {', '.join(functions)}"
        raise ValueError(message)
    for name, case in cases.items():
        own = case.protocol.own
        if case.protocol.workload_sha256 != file:
            message = f"{case.case} of {run.path} is a function of another file"
            raise ValueError(message)
        if own is None or (own.target or "").rpartition(":")[2] != functions[name]:
            message = f"{case.case} of {run.path} is another function than {functions[name]}"
            raise ValueError(message)
        # Their values may be masked.
        if {*own.variables, *(own.withheld_variables or ())} != {*bench.variables}:
            message = f"{case.case} of {run.path} was measured with other variables"
            raise ValueError(message)
        if own.given != dict(bench.given):
            message = f"{case.case} of {run.path} was measured at another point of the grid"
            raise ValueError(message)
    return cases


def is_bare(one: Result) -> bool:
    """Say whether a result has no evidence at all, and says so."""
    says_so = one.verdict in {"not_tested", "failed", "withdrawn"}
    return says_so and not (one.sheets or one.runs or one.patterns)


def check_bare(one: Result, spec: Spec) -> None:
    """Hold a result without evidence to what may be said without any.

    Raises:
        ValueError: it has figures, was not tested for a device that it does not need, or is called
            withdrawn, and its rule is not.
    """
    if one.has_figures:
        message = "it was not measured, and has figures"
        raise ValueError(message)
    code = one.reason.code if one.reason is not None else None
    if one.verdict == "withdrawn" and not (isinstance(spec, ClaimSpec) and spec.withdrawn):
        message = "its rule is not withdrawn"
        raise ValueError(message)
    needs = spec.needs
    if one.verdict == "not_tested" and (needs is None or code != _DEVICES[needs]):
        message = "it was not tested for a reason that it does not have"
        raise ValueError(message)


class PooledVerdict(NamedTuple):
    """A pattern or a claim in several results."""

    name: str
    verdicts: Mapping[str, str]
    """By result, as far as it was tested there."""

    def on(self, verdict: str) -> list[str]:
        """Return the results that have a verdict."""
        return [machine for machine, one in self.verdicts.items() if one == verdict]

    @property
    def usual(self) -> str:
        """The verdict that most results have; of several the first one's."""
        return max(self.verdicts.values(), key=lambda one: len(self.on(one)))


def pooled(known: Mapping[str, Mapping[str, str]]) -> list[PooledVerdict]:
    """Return each pattern or claim with its verdicts, those that differ first.

    Args:
        known: By result, the verdicts by id.
    """
    names = dict.fromkeys(name for verdicts in known.values() for name in verdicts)
    found = [
        PooledVerdict(name, {label: one[name] for label, one in known.items() if name in one})
        for name in names
    ]
    return sorted(found, key=lambda one: len({*one.verdicts.values()}) == 1)


def changed(a: Mapping[str, str], b: Mapping[str, str]) -> list[ChangedVerdict]:
    """Return what differs of two sets of verdicts by id, what both have first."""
    both = [name for name in a if name in b]
    names = list(dict.fromkeys([*both, *a, *b]))
    return [
        ChangedVerdict(name=name, a=a.get(name), b=b.get(name))
        for name in names
        if a.get(name) != b.get(name)
    ]
