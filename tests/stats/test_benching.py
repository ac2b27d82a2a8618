"""What a bench says of its cases, and which verdicts fail it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.contracts import samples

from coldwarm.contracts import codec
from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.policy import KINDS, Policy, Rule
from coldwarm.contracts.reasons import because
from coldwarm.errors import UsageError
from coldwarm.stats.bench_report import bench_report

if TYPE_CHECKING:
    from coldwarm.contracts.base import MetricKind
    from coldwarm.contracts.bench import BenchReport
    from coldwarm.contracts.policy import Failing
    from coldwarm.contracts.result import CaseResult


def compared(verdict: str, low: float | None, high: float | None) -> Comparison:
    ratio = None if low is None or high is None else (low + high) / 2
    return Comparison(
        metric="warm.call_s",
        baseline="fit",
        ratio=ratio,
        low=low,
        high=high,
        threshold=0.02,
        smallest_detectable=None,
        verdict=verdict,  # type: ignore[arg-type]  # of a table
        reason=because("stated", text="of a table"),
    )


def report(cases: list[CaseResult], limits: dict[Failing, float]) -> BenchReport:
    policy = Policy(thresholds=dict.fromkeys(KINDS, 0.02), fail_on=limits)
    made, _ = bench_report(samples.index(), cases, "out", policy)
    assert codec.decode(codec.encode(made), "the report") == made
    return made


def two(*comparisons: Comparison) -> list[CaseResult]:
    return [
        samples.case(candidate="fit", baseline=True),
        samples.case(candidate="mine", comparisons=list(comparisons)),
    ]


@pytest.mark.parametrize(
    ("verdict", "low", "high", "limits", "fails"),
    [
        ("slower", 1.05, 1.10, {"slower": 0.02}, 0.02),
        ("slower", 1.05, 1.10, {"slower": 0.06}, None),
        ("slower", 1.05, 1.10, {"slower": 0.0}, 0.0),
        ("slower", 1.05, 1.10, {"faster": 0.02}, None),
        ("slower", 1.05, 1.10, {}, None),
        ("faster", 0.80, 0.90, {"faster": 0.10}, 0.10),
        ("faster", 0.80, 0.92, {"faster": 0.10}, None),
        ("faster", 0.80, 0.90, {"slower": 0.10}, None),
        ("undecided", 0.90, 2.00, {"slower": 0.0, "faster": 0.0}, None),
        ("same", 1.001, 1.002, {"slower": 0.0, "faster": 0.0}, None),
        ("undecided", None, None, {"slower": 0.0, "faster": 0.0}, None),
    ],
)
def test_a_verdict_fails_where_the_whole_interval_is_beyond_the_limit(
    verdict: str,
    low: float | None,
    high: float | None,
    limits: dict[Failing, float],
    fails: float | None,
) -> None:
    made = report(two(compared(verdict, low, high)), limits)
    assert [one.fails_beyond for one in made.verdicts] == [fails]
    assert made.n_failing == (fails is not None)


def test_limits_stand_apart_for_cold_and_warm() -> None:
    warm = compared("slower", 1.05, 1.10)
    cold = msgspec.structs.replace(warm, metric="cold_process_cold_cache.ttfr_s")
    limits: dict[MetricKind, dict[Failing, float]]
    limits = {"warm": {"slower": 0.04}, "cold": {"slower": 0.10}}
    policy = strict(Policy(fail_on_kind=limits))
    made, _ = bench_report(samples.index(), two(warm, cold), "out", policy)
    assert [one.fails_beyond for one in made.verdicts] == [0.04, None]


def strict(policy: Policy) -> Policy:
    """Return a policy in which every difference matters that is called one."""
    return replace(policy, thresholds=dict.fromkeys(KINDS, 0.02))


def test_a_rule_is_for_figures_by_name_and_must_be_for_some() -> None:
    rule = Rule("*", "warm.*", None, {"slower": 0.5}, 1, 1)
    policy = strict(Policy(fail_on={"slower": 0.01}, rules=(rule,), path="limits.toml"))
    cases = two(compared("slower", 1.05, 1.10))
    made, _ = bench_report(samples.index(), cases, "out", policy)
    assert made.n_failing == 0
    other = replace(policy, rules=(replace(rule, cases="other"),))
    with pytest.raises(UsageError, match=r"limits\.toml:1: .*'other' matches no compared case"):
        bench_report(samples.index(), cases, "out", other)


def test_below_the_threshold_of_a_policy_nothing_fails() -> None:
    policy = Policy(thresholds=dict.fromkeys(KINDS, 0.2), fail_on={"slower": 0.0})
    made, _ = bench_report(samples.index(), two(compared("slower", 1.05, 1.1)), "out", policy)
    assert made.n_failing == 0


def test_what_is_missing_has_its_reason() -> None:
    cold = [samples.cold("cold_process_cold_cache", 3)]
    failed = samples.case(candidate="mine", status="failed", reason=because("correctness_gate"))
    made = report([samples.case(candidate="fit", baseline=True, cold=cold), failed], {})
    fit, mine = made.candidates
    assert set(fit.ttfr) == {"cold_process_cold_cache"}
    assert fit.call is None
    assert set(fit.null_reasons) == {"new_shape", "call", "steady"}
    assert (mine.status, mine.reason, mine.ttfr) == ("failed", because("correctness_gate"), {})
    assert made.reference == "fit"
    assert made.break_even == []


def test_a_report_is_strict() -> None:
    encoded = msgspec.json.decode(codec.encode(report(two(), {})))
    encoded["more"] = 1
    with pytest.raises(Exception, match="more"):
        codec.decode(msgspec.json.encode(encoded), "the report")
