"""A run that repeats another: which cases agree, by seconds and by ratios to the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.stats.repeating import BASELINE, OTHER, SHA256, another_machine, run

from coldwarm.contracts.snapshot import RebuiltEnvironment, SnapshotName
from coldwarm.stats import repeated

if TYPE_CHECKING:
    from coldwarm.contracts.snapshot import RepeatedRun, Replication


AS_IT_IS = RebuiltEnvironment(kind="as_it_is", locked=False, harness="other_sources")


def agreement(found: RepeatedRun) -> dict[str, str]:
    return {case.case: case.agreement for case in found.cases}


def warm(found: RepeatedRun, name: str) -> str:
    [case] = [case for case in found.cases if case.case == name]
    return next(one.agreement for one in case.figures if one.metric == "warm.call_s")


def test_equal_programs_on_one_machine_agree_by_their_seconds() -> None:
    found = repeated.compare_run("ml", run(1), run(2))
    assert found.same_machine
    assert found.basis == "seconds"
    assert agreement(found) == {BASELINE: "agrees", OTHER: "agrees"}
    [one] = [one for one in found.cases[1].figures if one.metric == "warm.call_s"]
    assert one.original_low is not None
    assert one.original_high is not None
    assert one.original_low <= (one.original or 0) <= one.original_high


@pytest.mark.parametrize("speed", [1.2, 1 / 1.2])
def test_a_candidate_slowed_by_20_percent_disagrees_by_name(speed: float) -> None:
    found = repeated.compare_run("ml", run(3), run(4, speed=speed))
    assert agreement(found) == {BASELINE: "agrees", OTHER: "disagrees"}
    assert warm(found, OTHER) == "disagrees"
    report = report_over(found)
    assert (report.n_disagree, report.ok) == (1, False)


def test_on_another_machine_ratios_to_the_baseline_are_compared() -> None:
    """GIVEN a machine three times as slow THEN seconds say nothing, and the ratios agree."""
    found = repeated.compare_run("ml", run(5), run(6, machine=3.0, environment=another_machine()))
    assert not found.same_machine
    assert found.basis == "baseline"
    assert agreement(found)[OTHER] == "agrees"
    assert found.cases[0].reason is not None
    assert found.cases[0].reason.code == "is_baseline"


def test_on_another_machine_a_slowed_candidate_disagrees_too() -> None:
    replica = run(8, speed=1.2, machine=3.0, environment=another_machine())
    found = repeated.compare_run("ml", run(7), replica)
    assert agreement(found)[OTHER] == "disagrees"
    assert report_over(found).n_disagree == 1


def test_nothing_agrees_where_20_percent_would_not_have_been_seen() -> None:
    found = repeated.compare_run("ml", run(9, n=6, scatter=0.4), run(10, n=6, scatter=0.4))
    assert set(agreement(found).values()) == {"undecided"}
    assert not report_over(found).ok


def test_too_few_processes_decide_nothing() -> None:
    found = repeated.compare_run("ml", run(11, n=3), run(12, n=3))
    assert set(agreement(found).values()) == {"undecided"}


def test_a_case_that_is_lost_is_told_and_does_not_agree() -> None:
    original, replica = run(13), run(14)
    del replica.cases[OTHER]
    found = repeated.compare_run("ml", original, replica)
    assert [(one.case, one.side) for one in found.left_out] == [(OTHER, "B")]
    assert (report_over(found).n_lost, report_over(found).ok) == (1, False)


def report_over(*runs: RepeatedRun) -> Replication:
    name = SnapshotName(snapshot_id="s1", suite="ml", snapshot_index_sha256=SHA256)
    return repeated.report(name, None, AS_IT_IS, runs, "2026-01-01T00:00:00+00:00")


@pytest.mark.slow
def test_how_often_equal_runs_disagree() -> None:
    """GIVEN 40 pairs of equal runs THEN at most a few disagree by chance."""
    wrong = 0
    for seed in range(40):
        found = repeated.compare_run("ml", run(1000 + seed), run(3000 + seed))
        wrong += "disagrees" in agreement(found).values()
    assert wrong <= 2


def test_a_difference_of_20_percent_is_to_be_seen() -> None:
    assert repeated._RESOLUTION == 0.2
