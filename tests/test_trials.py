"""The trials' own arithmetic and bookkeeping; no tool is run, their outputs were recorded."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from benchmarks import neighbours, trial_table, trial_tools, trials
from benchmarks.trial_tools import Call, Outcome, Side, TrialFailedError
from benchmarks.trials import Setting
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

if TYPE_CHECKING:
    from pathlib import Path

PYPERF_SAME = "Benchmark hidden because not significant (1): work\n"
PYPERF_SLOWER = "Mean +- std dev: [a] 333 us +- 15 us -> [c] 354 us +- 20 us: 1.06x slower\n"
PYPERF_FASTER = "Mean +- std dev: [c] 354 us +- 20 us -> [a] 333 us +- 15 us: 1.06x faster\n"
PYTEST_FAILED = """\
Saved benchmark data in: /tmp/t/Linux-CPython-3.11-64bit/0002_b.json

--------------------------------------------------------------------------------
Performance has regressed:
\ttest_work (0001_a) - Field 'min' has failed PercentageRegressionCheck: 5.031266428 > 5.000000000
\ttest_work (0001_a) - Field 'min' has failed PercentageRegressionCheck: 5.031266428 > 2.000000000
--------------------------------------------------------------------------------
Traceback (most recent call last):
"""
SETTING = Setting("coldwarm", "aa", "none")
SEVERAL = [Setting(tool, kind, "none") for tool in trials.TOOLS for kind in ("aa", "ab")]


def bench(*verdicts: tuple[str, str, float | None]) -> str:
    return json.dumps(
        {
            "verdicts": [
                {
                    "candidate": "B",
                    "comparison": {
                        "metric": metric,
                        "verdict": verdict,
                        "ratio": ratio,
                        "low": ratio and ratio * 0.99,
                        "high": ratio and ratio * 1.01,
                    },
                }
                for metric, verdict, ratio in verdicts
            ]
        }
    )


def line(tool: str, calls: dict[str, str], **changes: Any) -> dict[str, Any]:
    made = {
        "record": "trial",
        "tool": tool,
        "kind": "aa",
        "neighbours": "none",
        "a": "base",
        "b": "base",
        "calls": calls,
        "ratio": 1.0,
        "seconds": 10.0,
        "failed": None,
    }
    return {**made, **changes}


@pytest.mark.parametrize(
    ("text", "call"),
    [(PYPERF_SAME, "same"), (PYPERF_SLOWER, "slower"), (PYPERF_FASTER, "faster")],
)
def test_pyperf_is_taken_at_its_word(text: str, call: Call) -> None:
    assert trial_tools.read_pyperf(text, 2.0, 3.0) == Outcome({"compare_to": call}, 1.5)


def test_an_answer_of_pyperf_that_is_not_understood_is_a_failed_trial() -> None:
    with pytest.raises(TrialFailedError, match="something new"):
        trial_tools.read_pyperf("something new", 1.0, 1.0)


def test_each_rule_of_pytest_benchmark_is_judged_by_itself() -> None:
    assert trial_tools.read_pytest_benchmark(1, PYTEST_FAILED, 2.0, 2.1) == Outcome(
        {"min:5%": "slower", "mean:5%": "same", "min:2%": "slower", "mean:2%": "same"}, 1.05
    )
    passed = trial_tools.read_pytest_benchmark(0, "", 2.0, 2.0)
    assert set(passed.calls.values()) == {"same"}


def test_a_test_that_fails_for_another_reason_calls_nothing() -> None:
    with pytest.raises(TrialFailedError, match="exited with 1"):
        trial_tools.read_pytest_benchmark(1, "E  assert False", 1.0, 1.0)


def test_a_bench_gives_its_verdict_and_how_it_ended() -> None:
    slower = trial_tools.read_coldwarm(bench(("warm.call_s", "slower", 1.05)), 1)
    assert slower.calls == {"verdict": "slower", "--fail-on 2%": "slower"}
    assert (slower.ratio, slower.low, slower.high) == (1.05, 1.05 * 0.99, 1.05 * 1.01)
    undecided = trial_tools.read_coldwarm(bench(("warm.call_s", "undecided", 1.01)), 0)
    assert undecided.calls == {"verdict": "undecided", "--fail-on 2%": "same"}


def test_cold_starts_are_judged_with_empty_caches() -> None:
    both = bench(
        ("cold_process_cold_cache.ttfr_s", "slower", 1.1),
        ("cold_process_warm_cache.ttfr_s", "same", 1.0),
    )
    assert trial_tools.read_coldwarm(both, 0).calls["verdict"] == "slower"


def test_a_bench_that_compared_nothing_is_a_failed_trial() -> None:
    with pytest.raises(TrialFailedError, match="compared nothing"):
        trial_tools.read_coldwarm(bench(), 0)
    with pytest.raises(TrialFailedError, match="exited with 1 without a report"):
        trial_tools.read_coldwarm("", 1)


def test_equal_sides_are_equal_and_the_one_with_more_work_is_drawn() -> None:
    assert {SETTING.sides(index) for index in range(20)} == {("base", "base")}
    drawn = [Setting("pyperf", "ab", "none").sides(index) for index in range(100)]
    assert 30 < drawn.count(("more", "base")) < 70
    assert drawn.count(("more", "base")) + drawn.count(("base", "more")) == 100
    one_sided = Setting("pytest-benchmark", "ab", "none")
    assert {one_sided.sides(index) for index in range(20)} == {("base", "more")}


def test_a_run_goes_in_rounds_and_picks_up_where_it_ended(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"
    asked: list[Setting] = []

    def run(setting: Setting, a: Side, b: Side) -> Outcome:
        if len(asked) == 7:
            raise KeyboardInterrupt
        asked.append(setting)
        return Outcome({"verdict": "same"}, 1.0)

    with pytest.raises(KeyboardInterrupt):
        trials.collect(file, SEVERAL, 3, run)
    # What a cut-off write leaves is not taken for a trial.
    with file.open("a", encoding="utf-8") as cut:
        cut.write('{"record": "trial", "tool": "col')
    assert len(trials.plan(trials.read(file), SEVERAL, 3)) == 18 - 7

    def go_on(setting: Setting, a: Side, b: Side) -> Outcome:
        asked.append(setting)
        return Outcome({"verdict": "same"}, 1.0)

    assert trials.collect(file, SEVERAL, 3, go_on) == 0
    assert sorted(map(str, asked)) == sorted(map(str, SEVERAL * 3))
    assert [set(asked[start : start + 6]) for start in (0, 6, 12)] == [set(SEVERAL)] * 3
    assert asked[:6] != asked[6:12]
    lines = trials.read(file)
    assert [one["record"] for one in lines].count("machine") == 1
    assert {one["machine"] for one in lines[1:]} == {lines[0]["id"]}
    assert trials.collect(file, SEVERAL, 3, go_on) == 0
    assert len(trials.read(file)) == len(lines)


def test_failures_are_counted_and_three_in_a_row_end_the_run(tmp_path: Path) -> None:
    file = tmp_path / "trials.jsonl"

    def fail(setting: Setting, a: Side, b: Side) -> Outcome:
        raise TrialFailedError("it broke")

    assert trials.collect(file, [SETTING], 9, fail) == 1
    assert [one["failed"] for one in trials.read(file)[1:]] == ["it broke"] * 3
    (row,) = trial_table.rows(trials.read(file))
    assert (row.failed, row.calls) == (3, [])
    assert "3" in shown([row])


def shown(rows: list[trial_table.Row]) -> str:
    console = Console(width=trials.WIDTH)
    with console.capture() as captured:
        console.print(trial_table.table(rows))
    return captured.get()


def test_the_table_says_how_often_a_tool_was_wrong_and_turns_what_was_measured_turned() -> None:
    more = {"kind": "ab", "a": "base", "b": "more"}
    turned = {"kind": "ab", "a": "more", "b": "base"}
    found = trial_table.rows(
        [
            {"record": "machine", "id": "one"},
            line("pyperf", {"compare_to": "same"}),
            line("pyperf", {"compare_to": "faster"}, ratio=0.9, seconds=20.0),
            line("pyperf", {"compare_to": "slower"}, **more, ratio=1.05),
            line("pyperf", {"compare_to": "faster"}, **turned, ratio=1 / 1.05),
            line("pyperf", {"compare_to": "slower"}, **turned, ratio=1.02),
            line("pyperf", {"compare_to": "undecided"}, **more, ratio=None),
            line("pyperf", {}, **more, ratio=None, failed="no answer"),
        ]
    )
    equal, different = found
    assert (equal.kind, equal.wrong, equal.failed) == ("aa", 1, 0)
    assert different.calls == ["slower", "slower", "faster", "undecided"]
    assert (different.wrong, different.failed) == (2, 1)
    assert different.ratios == pytest.approx([1.05, 1.05, 1 / 1.02])
    rows = [text.split() for text in shown(found).splitlines() if "compare_to" in text]
    assert rows[0][4:] == ["2", "1", "0", "1", "0", "0", "1", "1.3", "to", "98.7", "0.950", "15.0"]
    assert rows[1][4:] == ["4", "1", "2", "0", "1", "1", "2", "6.8", "to", "93.2", "1.050", "10.0"]


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    # Where all or none came, the bounds have a closed form; the others are from tables.
    [
        (0, 100, 0.0, 1 - 0.025**0.01),
        (50, 50, 0.025**0.02, 1.0),
        (2, 100, 0.0024, 0.0704),
        (1, 10, 0.0025, 0.4450),
    ],
)
def test_the_bounds_of_a_share_are_exact(k: int, n: int, low: float, high: float) -> None:
    assert trial_table.clopper_pearson(k, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_bounds_of_a_share_hold_it_and_mirror(case: tuple[int, int]) -> None:
    k, n = case
    low, high = trial_table.clopper_pearson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    mirrored = trial_table.clopper_pearson(n - k, n)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.slow
def test_a_neighbour_sits_on_each_core_and_leaves() -> None:
    with neighbours.bursty(0):
        mine = children()
        assert {next(iter(os.sched_getaffinity(pid))) for pid in mine} == os.sched_getaffinity(0)
        assert all(len(os.sched_getaffinity(pid)) == 1 for pid in mine)
        time.sleep(0.5)
    assert not children()


def children() -> list[int]:
    import psutil

    found = psutil.Process().children()
    return [one.pid for one in found if any("neighbours" in part for part in one.cmdline())]
