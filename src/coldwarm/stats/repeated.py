"""Whether a run that repeats another one agrees with it. Pure.

On the machine of the original, its seconds are held against those of the replica; on another one
the ratios to the baseline are, each taken within its own run, where the machine falls on both
sides alike. That two figures agree is only said where a difference of 20 % would have been seen.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from coldwarm.contracts.base import WARM
from coldwarm.contracts.comparison import LeftOutCase
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import because
from coldwarm.contracts.snapshot import RepeatedCase, RepeatedFigure, RepeatedRun, Replication
from coldwarm.stats.comparable import (
    cautions,
    disagreements,
    failure,
    known_noise,
    machine_differences,
    software_differences,
)
from coldwarm.stats.compared_figures import judge, worded
from coldwarm.stats.intervals import FEWEST_FOR_CONFIDENCE, Interval, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from coldwarm.contracts.answer import Comparison, Summary
    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.bench import NoiseReport
    from coldwarm.contracts.comparison import ComparedMetric
    from coldwarm.contracts.reasons import Reason
    from coldwarm.contracts.result import CaseResult, Measured
    from coldwarm.contracts.snapshot import Agreement, RebuiltEnvironment, SnapshotName

_RESOLUTION = 0.2
"""The relative difference that must have been visible where two figures are said to agree."""
_THRESHOLDS: dict[MetricKind, float] = {"cold": 0.1, "warm": 0.1, "memory": 0.1}
"""The relative difference that matters between two runs at different times."""
_DIFFERENT = {"faster", "slower"}


def compare_run(
    name: str, original: Measured, replica: Measured, reports: Sequence[NoiseReport] = ()
) -> RepeatedRun:
    """Return what agrees of a run and its repetition.

    ``reports`` tell by how much two equal runs differ on the machine of the original.
    """
    noise = known_noise(reports, original.environment)
    sides = {"original": [original], "replica": [replica]}
    left_out = _left_out(original, replica)
    gone = {one.case for one in left_out}
    both = [case for case in original.cases if case in replica.cases and case not in gone]
    same_machine = not machine_differences(original, replica)
    if same_machine:
        cases = _in_seconds(original, replica, both, noise.shares)
    else:
        cases = _to_baseline(original, replica, both)
    hashes = [
        {case.protocol.harness_sha256 for case in run.cases.values()} for run in (original, replica)
    ]
    return RepeatedRun(
        name=name,
        suite=original.suite.suite if original.suite else "",
        original_run_id=original.suite.run_id if original.suite else "",
        replica_run_id=replica.suite.run_id if replica.suite else "",
        same_machine=same_machine,
        basis="seconds" if same_machine else "baseline",
        same_harness=hashes[0] == hashes[1],
        cases=cases,
        left_out=left_out,
        differing=disagreements(sides, both),
        software=software_differences(original, replica, both),
        warnings=cautions(sides, both, noise if same_machine else None),
    )


def _left_out(original: Measured, replica: Measured) -> list[LeftOutCase]:
    """Return the cases that have no valid answer on one side, with the reason."""
    found = []
    for name, case in original.cases.items():
        other = replica.cases.get(name)
        if other is None:
            found.append(LeftOutCase(case=name, side="B", reason=because("only_in", side="A")))
            continue
        for side, one in (("A", case), ("B", other)):
            why = failure(one)
            if why is None and one.status == "warn" and not one.cold and one.warm is None:
                why = one.reason
            if why is not None:
                found.append(
                    LeftOutCase(
                        case=name, side="A" if side == "A" else "B", reason=why, failed=True
                    )
                )
                break
    return found


def report(
    original: SnapshotName,
    signed_by: str | None,
    environment: RebuiltEnvironment,
    runs: Sequence[RepeatedRun],
    generated_at: str,
) -> Replication:
    """Return the report over all runs."""
    counts = Counter(case.agreement for run in runs for case in run.cases)
    lost = sum(one.side == "B" for run in runs for one in run.left_out)
    return Replication(
        generated_at=generated_at,
        original=original,
        original_signed_by=signed_by,
        environment=environment,
        runs=list(runs),
        n_agree=counts["agrees"],
        n_disagree=counts["disagrees"],
        n_undecided=counts["undecided"],
        n_lost=lost,
        ok=counts["agrees"] > 0 and not counts["disagrees"] and not lost,
    )


def _in_seconds(
    original: Measured,
    replica: Measured,
    names: Sequence[str],
    noise: Mapping[MetricKind, float] | None = None,
) -> list[RepeatedCase]:
    """Return the agreement of cases by their seconds, all verdicts held to an error rate.

    ``noise``: by how much two equal runs differ on this machine; no threshold is below it.
    """
    policy = Policy(thresholds=_THRESHOLDS, noise=noise or {})
    figures, _ = worded(judge([original], [replica], names, policy))
    timed = [one for one in figures if one.kind != "memory"]
    return [
        _case(name, [_by_seconds(original.cases[name], one) for one in timed if one.case == name])
        for name in names
    ]


def _to_baseline(original: Measured, replica: Measured, names: Sequence[str]) -> list[RepeatedCase]:
    """Return the agreement of cases by their ratios to the baseline of their group."""
    made = []
    for name in names:
        first, second = original.cases[name], replica.cases[name]
        if first.baseline:
            made.append(_case(name, [], because("is_baseline")))
        else:
            made.append(_case(name, list(_ratios(first, second))))
    return made


def _case(name: str, figures: list[RepeatedFigure], reason: Reason | None = None) -> RepeatedCase:
    found = Counter(one.agreement for one in figures)
    agreement: Agreement = "agrees" if found["agrees"] else "undecided"
    if found["undecided"]:
        agreement = "undecided"
    if found["disagrees"]:
        agreement = "disagrees"
    if not figures and reason is None:
        reason = because("no_valid_process")
    return RepeatedCase(
        case=name,
        agreement=agreement,
        n_agree=found["agrees"],
        n_disagree=found["disagrees"],
        n_undecided=found["undecided"],
        figures=figures,
        reason=reason,
    )


def _by_seconds(case: CaseResult, one: ComparedMetric) -> RepeatedFigure:
    stated = _stated(case, one.metric)
    low, high = (stated.low, stated.high) if stated is not None else (None, None)
    apart = None
    if one.ratio is not None and one.low is not None and one.high is not None:
        apart = Interval(one.ratio, one.low, one.high)
    return RepeatedFigure(
        metric=one.metric,
        kind=one.kind,
        basis="seconds",
        original=one.a,
        original_low=low,
        original_high=high,
        replica=one.b,
        ratio=one.ratio,
        low=one.low,
        high=one.high,
        threshold=one.threshold,
        smallest_detectable=one.smallest_detectable,
        within_interval=_within(one.b, low, high),
        agreement=_agreement(
            apart, one.smallest_detectable, one.threshold, different=one.verdict in _DIFFERENT
        ),
        reason=one.reason,
    )


def _stated(case: CaseResult, metric: str) -> Summary | None:
    """Return the summary that a case states of a metric."""
    mode, _, name = metric.partition(".")
    if mode == "warm":
        return case.warm.call_s if case.warm is not None else None
    cold = next((one for one in case.cold if one.cache_mode == mode), None)
    return cold.seconds.get(name.removesuffix("_s")) if cold is not None else None


def _ratios(first: CaseResult, second: CaseResult) -> Iterator[RepeatedFigure]:
    """Yield the ratios to the baseline that both have."""
    others = {one.metric: one for one in second.comparisons}
    for one in first.comparisons:
        if one.metric in others:
            yield _by_ratio(one, others[one.metric])


def _by_ratio(one: Comparison, other: Comparison) -> RepeatedFigure:
    kind: MetricKind = "warm" if one.metric.startswith(("warm.", WARM)) else "cold"
    threshold = _THRESHOLDS[kind]
    apart = _joined(one, other)
    shown = None if apart is None else _smallest_detectable(apart, threshold)
    different = apart is not None and (
        apart.low > 1 + threshold or apart.high < 1 / (1 + threshold)
    )
    return RepeatedFigure(
        metric=one.metric,
        kind=kind,
        basis="baseline",
        original=one.ratio,
        original_low=one.low,
        original_high=one.high,
        replica=other.ratio,
        ratio=apart.middle if apart else None,
        low=apart.low if apart else None,
        high=apart.high if apart else None,
        threshold=threshold,
        smallest_detectable=shown,
        within_interval=_within(other.ratio, one.low, one.high),
        agreement=_agreement(apart, shown, threshold, different=different),
        reason=because("ratios_repeated")
        if apart
        else because("few_for_verdict", n_needed=FEWEST_FOR_CONFIDENCE),
    )


def _joined(one: Comparison, other: Comparison) -> Interval | None:
    """Return the ratio of two ratios, its interval from theirs (``joined``).

    ``None`` where either is told from a range of too few rounds.
    """
    values = (one.ratio, one.low, one.high, other.ratio, other.low, other.high)
    if one.smallest_detectable is None or other.smallest_detectable is None:
        return None
    if any(value is None or value <= 0 for value in values):
        return None
    logs = [math.log(value or 1) for value in values]
    found = joined(Interval(*logs[3:]), Interval(*logs[:3]))
    return Interval(math.exp(found.middle), math.exp(found.low), math.exp(found.high))


def _smallest_detectable(apart: Interval, threshold: float) -> float:
    half = max(math.log(apart.high / apart.middle), math.log(apart.middle / apart.low))
    return math.expm1(half + math.log1p(threshold))


def _within(value: float | None, low: float | None, high: float | None) -> bool | None:
    if value is None or low is None or high is None:
        return None
    return low <= value <= high


def _agreement(
    apart: Interval | None, shown: float | None, threshold: float, *, different: bool
) -> Agreement:
    if different:
        return "disagrees"
    if apart is None or shown is None:
        return "undecided"
    inside = apart.low >= 1 / (1 + threshold) and apart.high <= 1 + threshold
    if shown <= _RESOLUTION and (inside or apart.low <= 1 <= apart.high):
        return "agrees"
    return "undecided"
