"""Runs as units, what noise says of single runs, controls, and limits that cannot be shown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from tests.contracts import samples
from tests.stats import results

from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.bench import BenchVerdict, NoiseFigure, NoiseReport
from coldwarm.contracts.policy import Policy
from coldwarm.contracts.reasons import because
from coldwarm.contracts.result import Measured, OwnCandidate
from coldwarm.report.comparison_text import of_limits
from coldwarm.report.sentences import advice
from coldwarm.stats import outcome
from coldwarm.stats.bench_report import bench_report
from coldwarm.stats.comparable import known_noise
from coldwarm.stats.compared_figures import _compare_runs, fails, surely_below, unshown
from coldwarm.stats.compared_results import compare_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coldwarm.contracts.comparison import RunComparison
    from coldwarm.contracts.result import CaseResult

BETWEEN = 0.08
"""Standard deviation of runs, on logarithms; processes of one run scatter by 0.2 %."""


def runs(rng: np.random.Generator, n: int, speed: float = 1.0) -> list[Measured]:
    """Return runs of one machine, each with an hour of its own."""
    made = []
    for _ in range(n):
        hour = float(np.exp(BETWEEN * rng.standard_normal()))
        case = results.case(int(rng.integers(2**31)), speed * hour)
        place = samples.environment()
        made.append(Measured("out/x", None, {case.case: case}, {}, "a" * 64, place))
    return made


def warm_verdict(made: RunComparison) -> str:
    return next(item.verdict for item in made.metrics if item.kind == "warm")


def test_equal_runs_are_different_by_chance_where_one_a_side_is_all_there_is() -> None:
    """GIVEN runs that differ by their hour alone THEN only the run as the unit holds its rate."""
    rng = np.random.default_rng(1)
    single = [compare_results(runs(rng, 1), runs(rng, 1), Policy()) for _ in range(30)]
    several = [compare_results(runs(rng, 3), runs(rng, 3), Policy()) for _ in range(30)]
    called = [
        sum(warm_verdict(one) in {"faster", "slower"} for one in all_) for all_ in (single, several)
    ]
    assert called[0] > 8
    assert called[1] <= 3
    assert {one.unit for one in single} == {"process"}
    assert {one.unit for one in several} == {"run"}
    assert {item.n_a for one in several for item in one.metrics} == {3}


def test_a_real_difference_is_found_between_several_runs() -> None:
    rng = np.random.default_rng(2)
    made = compare_results(runs(rng, 4), runs(rng, 4, 1.6), Policy())
    assert warm_verdict(made) == "slower"
    assert [len(made.a_runs), len(made.b_runs)] == [4, 4]
    assert not {"sides_apart", "noise_unknown"} & {reason.code for reason in made.warnings}


def test_intervals_of_runs_hold_the_truth() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(2000):
        a, b = np.exp(BETWEEN * rng.standard_normal((2, 3)))
        found = _compare_runs("warm.call_s", "A", (1.1 * b).tolist(), a.tolist(), threshold=0.05)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 1.1 <= found.high
    assert held / 2000 >= 0.96


@pytest.mark.parametrize(("n_a", "n_b"), [(4, 1), (1, 4), (5, 1), (8, 1), (1, 20)])
def test_a_single_run_of_a_side_gives_no_verdict(n_a: int, n_b: int) -> None:
    """GIVEN runs against one THEN undecided, why and what to do, however far that one is."""
    rng = np.random.default_rng([n_a, n_b])
    for speed in (1.0, 1.6, 20.0):
        made = compare_results(runs(rng, n_a), runs(rng, n_b, speed), Policy())
        assert {item.verdict for item in made.metrics} == {"undecided"}
        warm = next(item for item in made.metrics if item.kind == "warm")
        assert warm.reason.code == "lone_run"
        assert warm.ratio is not None, "what was seen is shown"
        assert warm.confidence == pytest.approx(1 - 2 / (n_a + n_b))
        assert "lone_run" in {reason.code for reason in made.warnings}
        assert advice(warm.reason)


@pytest.mark.parametrize(("n_a", "n_b"), [(3, 2), (2, 3), (4, 2), (2, 8)])
def test_two_runs_of_a_side_are_enough(n_a: int, n_b: int) -> None:
    rng = np.random.default_rng([n_a, n_b, 1])
    made = compare_results(runs(rng, n_a), runs(rng, n_b, 3.0), Policy())
    assert warm_verdict(made) == "slower"
    assert "lone_run" not in {reason.code for reason in made.warnings}


@pytest.mark.parametrize("n", [4, 8])
def test_bursts_make_no_verdict_of_several_runs_against_one(n: int) -> None:
    """GIVEN equal runs of which bursts strike one in ten THEN the single one is never judged."""
    rng = np.random.default_rng(n)

    def side(size: int) -> list[float]:
        struck = rng.random(size) < 0.1
        made = np.exp(0.02 * rng.standard_normal(size)) * (1 + 0.4 * struck)
        return [float(one) for one in made]

    found = [_compare_runs("m", "A", side(n), side(1), threshold=0.05) for _ in range(300)]
    assert {one.verdict for one in found} == {"undecided"}
    held = sum((one.low or 0) <= 1 <= (one.high or 0) for one in found) / 300
    assert held == pytest.approx(found[0].confidence, abs=0.09)


def test_fewer_than_five_runs_are_told_of() -> None:
    rng = np.random.default_rng(4)
    made = compare_results(runs(rng, 2), runs(rng, 2), Policy())
    assert made.unit == "process"
    assert because("few_runs", n_a=2, n_b=2, n_needed=5) in made.warnings
    assert {item.n_a for item in made.metrics} == {12}


def report(parts: Sequence[float], metric: str = "warm.call_s", **changes: Any) -> NoiseReport:
    """Return a noise report of the machine of the samples."""
    found = NoiseFigure(
        comparison=judged(1.0, 0.99, 1.01, metric=metric),
        pairs=8,
        fixed_s=1.0,
        horizons=[],
        parts=list(parts),
    )
    place = samples.environment()
    made = NoiseReport(
        target="t",
        cpu=place.cpu.model,
        platform="Linux",
        cores=place.cpu.usable_cores,
        complete=True,
        wall_s=1.0,
        threshold=0.02,
        confidence=0.97,
        figures=[found],
    )
    return msgspec.structs.replace(made, **changes)


def judged(ratio: float, low: float, high: float, **changes: Any) -> Comparison:
    made = Comparison(
        metric="warm.call_s",
        baseline="before",
        ratio=ratio,
        low=low,
        high=high,
        threshold=0.02,
        smallest_detectable=0.1,
        verdict="undecided",
        reason=because(
            "interval_across", because("common_rounds", n_rounds=6), confidence_share=0.97
        ),
    )
    return msgspec.structs.replace(made, **changes)


def test_noise_of_this_machine_raises_the_threshold_of_single_runs() -> None:
    a, b = (results.case(seed, speed) for seed, speed in ((1, 1.0), (2, 1.15)))
    first, second = (
        [Measured("out/x", None, {one.case: one}, {}, "a" * 64, samples.environment())]
        for one in (a, b)
    )
    quiet = compare_results(first, second, Policy())
    noisy = compare_results(
        first, second, Policy(fail_on={"slower": 0.05}), reports=[report([1.0, 1.1, 0.95, 1.08])]
    )
    assert [warm_verdict(one) for one in (quiet, noisy)] == ["slower", "undecided"]
    assert noisy.noise is not None
    share = noisy.noise.shares["warm"]
    assert 0.2 < share < 0.6
    assert {item.threshold for item in noisy.metrics if item.kind == "warm"} == {share}
    codes = [reason.code for reason in noisy.warnings]
    assert codes == ["sides_apart", "noise_shown", "noise_unknown"]
    limit = next(one for one in noisy.unshown if one.metric == "warm.call_s")
    assert (limit.limit, limit.not_excluded, limit.further_s) == (0.05, share, None)
    assert limit.null_reasons["further_s"].code == "between_runs"


@pytest.mark.parametrize("changes", [{"cpu": "B CPU"}, {"cores": 64}, {"complete": False}])
def test_noise_of_another_machine_says_nothing(changes: dict[str, Any]) -> None:
    known = known_noise([report([1.0, 1.1, 0.95, 1.08], **changes)], samples.environment())
    assert (known.n_reports, known.shares) == (0, {})


def test_several_noise_reports_add_what_changes_from_hour_to_hour() -> None:
    hours = [report([hour, 1.01 * hour, 0.99 * hour, hour]) for hour in (1.0, 1.1, 0.9)]
    one, all_ = (known_noise(some, samples.environment()) for some in (hours[:1], hours))
    assert one.shares["warm"] < 0.06
    assert all_.shares["warm"] > 0.15


@pytest.mark.parametrize(
    ("comparison", "limits", "expected"),
    [
        (judged(1.01, 0.97, 1.04), {"undecided": 0.0}, 0.0),
        (judged(1.01, 0.97, 1.04), {"undecided": 0.05}, None),
        (judged(1.01, 0.97, 1.07), {"undecided": 0.05}, 0.05),
        (judged(1.01, 0.94, 1.04), {"undecided": 0.05}, 0.05),
        (judged(1.01, 0.97, 1.04, confidence=0.75), {"undecided": 0.05}, 0.05),
        (
            judged(
                1.01,
                0.97,
                1.04,
                reason=because("control_differs", control="c", of="before", control_ratio=1.2),
            ),
            {"undecided": 0.05},
            0.05,
        ),
        (judged(1.01, 0.97, 1.04), {"slower": 0.0}, None),
        (judged(1.1, 1.06, 1.2, verdict="slower"), {"slower": 0.05}, 0.05),
    ],
)
def test_undecided_fails_where_its_limit_cannot_be_excluded(
    comparison: Comparison, limits: dict[str, float], expected: float | None
) -> None:
    assert fails(comparison, comparison.verdict, limits) == expected


@pytest.mark.parametrize(
    ("comparison", "limits", "expected"),
    [
        (judged(1.01, 0.97, 1.04), {"slower": 0.05}, 0.05),
        (judged(0.5, 0.45, 0.6, verdict="faster"), {"slower": 0.05}, 0.05),
        (judged(1.01, 0.97, 1.06), {"slower": 0.05}, None),
        (judged(1.01, 0.97, 1.04), {"faster": 0.05}, None),
        (judged(1.01, 0.97, 1.04, confidence=0.75), {"slower": 0.05}, None),
    ],
)
def test_what_is_surely_below_a_limit_is_told(
    comparison: Comparison, limits: dict[str, float], expected: float | None
) -> None:
    assert surely_below(comparison, limits) == expected
    told = BenchVerdict(candidate="after", comparison=comparison, surely_below=expected)
    report = SimpleNamespace(
        control=None, unshown=[], verdicts=[told], reference="before", wall_s=1.0
    )
    found = [*of_limits(report, str, verbose=False)]  # type: ignore[arg-type]  # what it reads
    texts = [text for _, text in found]
    begin = f"after, {comparison.metric}: not slower than before by more than 5 %: "
    assert [text.startswith(begin) for text in texts] == ([True] if expected else [])


@pytest.mark.parametrize(("verbose", "n_lines"), [(False, 1), (True, 4)])
def test_figures_too_coarse_for_a_limit_share_a_line_in_short(verbose: bool, n_lines: int) -> None:  # noqa: FBT001 - a parameter of the test
    found = unshown("after", judged(1.0, 1 / 1.15, 1.15), {"slower": 0.05}, 6, round_s=2.0)
    report = SimpleNamespace(
        control=None, unshown=[found] * 3, verdicts=[], reference="before", wall_s=1.0
    )
    texts = [*of_limits(report, str, verbose=verbose)]  # type: ignore[arg-type]  # what it reads
    assert len(texts) == n_lines
    told = "warm.call_s: up to 15 % could pass unseen, the limit is 5 %; about "
    assert texts[-1][1].startswith(told)


def test_a_limit_that_could_not_be_shown_says_what_it_takes() -> None:
    wide = judged(1.0, 1 / 1.15, 1.15)
    found = unshown("after", wide, {"slower": 0.05}, 6, round_s=2.0)
    assert found is not None
    assert found.limit == 0.05
    assert found.not_excluded == pytest.approx(0.15)
    assert 20 < found.n_further < 80
    assert found.further_s == pytest.approx(2.0 * found.n_further)
    assert unshown("after", wide, {"slower": 0.16}, 6, round_s=2.0) is None
    assert unshown("after", wide, {"undecided": 0.0}, 6, round_s=2.0) is None
    few = unshown("after", judged(2.0, 1.9, 2.1, confidence=0.75), {"slower": 0.5}, 3, round_s=None)
    assert few is not None
    assert (few.not_excluded, few.n_further, few.further_s) == (None, 2, None)


def candidate(name: str, seed: int, speed: float, of: str | None = None) -> CaseResult:
    own = OwnCandidate(
        target="fit.py:fit",
        kind="function",
        python="python",
        placement=None,
        arguments=[],
        outputs=[],
        renewed=False,
        checked="",
        last_checked=True,
        control_of=of,
    )
    return results.case(
        seed, speed, n=8, case=name, candidate=name, baseline=name == "before", protocol_own=own
    )


@pytest.mark.parametrize(("drift", "verdict", "code"), [(1.0, "slower", 1), (1.3, "undecided", 0)])
def test_verdicts_are_withheld_where_the_control_differs(
    drift: float, verdict: str, code: int
) -> None:
    cases = [
        candidate("before", 1, 1.0),
        candidate("after", 2, 1.5),
        candidate("control", 3, drift, "before"),
    ]
    made = outcome.with_comparisons(cases, 0.02)
    found = {one.metric: one for one in made[1].comparisons}["warm.call_s"]
    assert found.verdict == verdict
    assert (found.reason.code == "control_differs") is (verdict == "undecided")
    suite = samples.index()
    said, _ = bench_report(suite, made, "out", Policy(fail_on={"slower": 0.1}))
    assert bool(said.n_failing) == bool(code)
    assert said.control is not None
    assert (said.control.candidate, said.control.of) == ("control", "before")
    assert bool(said.control.differing) is (drift > 1)
    assert {one.candidate for one in said.verdicts} == {"after"}
    strict, _ = bench_report(suite, made, "out", Policy(fail_on={"undecided": 0.0}))
    assert bool(strict.n_failing) is (drift > 1)
