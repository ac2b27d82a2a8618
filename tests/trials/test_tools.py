"""How what a tool says is understood; no tool is run, their outputs were recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from benchmarks.trials import peers, tools
from benchmarks.trials.settings import KINDS
from benchmarks.trials.tools import Call, Outcome, TrialFailedError

PYPERF_SAME = "Benchmark hidden because not significant (1): work\n"
PYPERF_SLOWER = "Mean +- std dev: [a] 333 us +- 15 us -> [c] 354 us +- 20 us: 1.06x slower\n"
PYPERF_FASTER = "Mean +- std dev: [c] 354 us +- 20 us -> [a] 333 us +- 15 us: 1.06x faster\n"
PYTEST_FAILED = """\
Saved benchmark data in: .benchmarks/Linux-CPython-3.11-64bit/0002_b.json

--------------------------------------------------------------------------------
Performance has regressed:
\ttest_work (0001_a) - Field 'min' has failed PercentageRegressionCheck: 5.031266428 > 5.000000000
\ttest_work (0001_a) - Field 'min' has failed PercentageRegressionCheck: 5.031266428 > 2.000000000
--------------------------------------------------------------------------------
Traceback (most recent call last):
"""


def comparison(metric: str, verdict: str, ratio: float) -> dict[str, Any]:
    bounds = {"low": ratio * 0.99, "high": ratio * 1.01, "confidence": 0.97}
    return {"metric": metric, "verdict": verdict, "ratio": ratio, **bounds}


def bench(*compared: dict[str, Any]) -> str:
    figures = [{"n_processes": 8}, {"n_processes": 7}]
    return json.dumps(
        {
            "candidates": [
                {"call": one, "ttfr": {"cold_process_cold_cache": one}} for one in figures
            ],
            "verdicts": [{"candidate": "B", "comparison": one} for one in compared],
        }
    )


def test_a_bench_gives_its_verdict_with_its_interval_and_rounds() -> None:
    found = tools.read_bench(bench(comparison("warm.call_s", "slower", 1.05)), 0)
    assert found == Outcome({"verdict": "slower"}, 1.05, 1.05 * 0.99, 1.05 * 1.01, 0.97, 7)


def test_cold_starts_are_judged_with_empty_caches() -> None:
    both = bench(
        comparison("cold_process_cold_cache.ttfr_s", "slower", 1.1),
        comparison("cold_process_warm_cache.ttfr_s", "same", 1.0),
    )
    assert tools.read_bench(both, 0).calls == {"verdict": "slower"}


def test_a_bench_that_compared_nothing_is_a_failed_trial() -> None:
    with pytest.raises(TrialFailedError, match="compared nothing"):
        tools.read_bench(bench(), 0)
    with pytest.raises(TrialFailedError, match="exited with 1 without a report"):
        tools.read_bench("", 1)


@pytest.mark.parametrize(
    ("kind", "metric"),
    [("numpy", "warm.call_s"), ("start", "cold_process_cold_cache.ttfr_s")],
)
def test_a_run_is_judged_by_the_case_of_side_b(kind: str, metric: str) -> None:
    figure = {"n_processes": 6}
    side: dict[str, Any] = {
        "warm": {"call_s": figure},
        "cold": [{"seconds": {"ttfr": figure}}],
        "comparisons": [],
    }
    other = {**side, "comparisons": [comparison(metric, "faster", 0.97)]}
    found = tools.read_cases(metric, KINDS[kind], [side, other])
    assert (found.calls, found.ratio, found.rounds) == ({"verdict": "faster"}, 0.97, 6)
    with pytest.raises(TrialFailedError, match="compared nothing"):
        tools.read_cases(metric, KINDS[kind], [side, side])


@pytest.mark.parametrize(
    ("text", "call"),
    [(PYPERF_SAME, "same"), (PYPERF_SLOWER, "slower"), (PYPERF_FASTER, "faster")],
)
def test_pyperf_is_taken_at_its_word(text: str, call: Call) -> None:
    assert peers.read_pyperf(text) == call


def test_an_answer_of_pyperf_that_is_not_understood_is_a_failed_trial() -> None:
    with pytest.raises(TrialFailedError, match="something new"):
        peers.read_pyperf("something new")


def test_each_rule_of_pytest_benchmark_is_judged_by_itself() -> None:
    assert peers.read_pytest_benchmark(1, PYTEST_FAILED) == {
        "min:5%": "slower",
        "mean:5%": "same",
        "min:2%": "slower",
        "mean:2%": "same",
    }
    assert set(peers.read_pytest_benchmark(0, "").values()) == {"same"}


def test_a_test_that_fails_for_another_reason_calls_nothing() -> None:
    with pytest.raises(TrialFailedError, match="exited with 1"):
        peers.read_pytest_benchmark(1, "E  assert False")


def test_hyperfine_always_names_one_as_faster_and_says_how_sure_it_is() -> None:
    times = [1.00, 1.01, 0.99, 1.02, 0.98]

    def document(factor: float) -> dict[str, Any]:
        result = {"mean": 1.0, "stddev": 0.0158, "times": times}
        other = {"mean": factor, "stddev": 0.0158, "times": [factor * one for one in times]}
        return {"results": [result, other]}

    near, far = peers.read_hyperfine(document(0.995)), peers.read_hyperfine(document(1.1))
    assert list(near.calls.values()) == ["faster", "same", "same"]
    assert list(far.calls.values()) == ["slower", "slower", "slower"]
    assert (far.ratio, far.rounds) == (1.1, 5)
