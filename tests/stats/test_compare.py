"""Verdicts: mirrored when exchanged, rarely false, and there when the difference is clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldwarm.contracts.reasons import because
from coldwarm.stats.ratio import compare, held, same_within

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Comparison

SEEDS = st.integers(0, 10_000)
MIRRORED = {"faster": "slower", "slower": "faster", "same": "same", "undecided": "undecided"}


def rounds(
    rng: np.random.Generator, n: int, between: float, level: float = 1.0, prefix: str = ""
) -> dict[str, list[float]]:
    """Return n rounds of 10 samples; processes scatter by ``between``, samples by 1 %."""
    return {
        f"{prefix}{i}": (
            level * np.exp(between * rng.standard_normal()) * (1 + 0.01 * rng.exponential(size=10))
        ).tolist()
        for i in range(n)
    }


def judge(ours: dict[str, list[float]], theirs: dict[str, list[float]]) -> Comparison:
    return compare("warm.call_s", "baseline", ours, theirs)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    SEEDS,
    st.integers(2, 8),
    st.integers(2, 8),
    st.sampled_from([0.8, 0.97, 1.0, 1.5]),
    st.sampled_from(["", "other "]),
)
def test_exchanging_the_two_mirrors_everything(
    seed: int, n: int, m: int, level: float, prefix: str
) -> None:
    rng = np.random.default_rng(seed)
    ours = rounds(rng, n, 0.02, level)
    theirs = rounds(rng, m, 0.02, prefix=prefix)
    one, other = judge(ours, theirs), judge(theirs, ours)
    assert other.verdict == MIRRORED[one.verdict]
    assert one.ratio is not None
    assert one.low is not None
    assert one.high is not None
    assert other.ratio == pytest.approx(1 / one.ratio)
    assert other.low == pytest.approx(1 / one.high)
    assert other.high == pytest.approx(1 / one.low)
    assert other.smallest_detectable == pytest.approx(one.smallest_detectable)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(SEEDS, st.integers(2, 7), st.floats(1e-6, 1e6))
def test_the_unit_does_not_matter(seed: int, n: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    ours, theirs = rounds(rng, n, 0.02), rounds(rng, n, 0.02, 1.1)
    one = judge(ours, theirs)
    other = judge(
        {k: [v * scale for v in g] for k, g in ours.items()},
        {k: [v * scale for v in g] for k, g in theirs.items()},
    )
    assert other.verdict == one.verdict
    assert other.ratio == pytest.approx(one.ratio)
    assert other.low == pytest.approx(one.low)


@pytest.mark.parametrize("between", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 12])
def test_the_same_program_is_rarely_called_different(n: int, between: float) -> None:
    rng = np.random.default_rng([n, int(between * 100)])
    trials = 1000
    false = sum(
        judge(rounds(rng, n, between), rounds(rng, n, between)).verdict in {"faster", "slower"}
        for _ in range(trials)
    )
    assert false / trials <= 0.03 + 0.011  # two standard errors of that share


@pytest.mark.parametrize("n", [3, 4])
def test_a_machine_of_two_speeds_is_rarely_called_a_difference(n: int) -> None:
    rng = np.random.default_rng(n)
    speeds = rng.choice([1.0, 2.5], (1000, 2, n))
    sides = [[{str(k): [v] for k, v in enumerate(side)} for side in one] for one in speeds]
    told = [judge(*one).verdict for one in sides]
    assert sum(verdict != "undecided" for verdict in told) / len(told) <= 0.01 + 0.006


@pytest.mark.parametrize("n", [5, 6, 10])
def test_ten_percent_are_seen_at_low_noise(n: int) -> None:
    rng = np.random.default_rng(n)
    trials = 60
    slower = [judge(rounds(rng, n, 0.004, 1.1), rounds(rng, n, 0.004)) for _ in range(trials)]
    assert sum(c.verdict == "slower" for c in slower) / trials >= 0.9


def test_what_a_round_does_to_both_cancels() -> None:
    drift = {"1": 1.0, "2": 1.5, "3": 0.7, "4": 1.2, "5": 0.9}
    theirs = {key: [value] for key, value in drift.items()}
    ours = {key: [value * 1.2 * (1 + 0.001 * int(key))] for key, value in drift.items()}
    found = judge(ours, theirs)
    assert found.verdict == "slower"
    assert found.reason.parts == [because("common_rounds", n_rounds=5)]


def test_few_rounds_stay_paired_with_a_baseline_that_went_on() -> None:
    rng = np.random.default_rng(1)
    drift = {str(key): [float(np.exp(0.1 * rng.standard_normal()))] for key in range(13)}
    ours = {key: [drift[key][0] * 1.2 * (1 + 0.001 * int(key))] for key in map(str, range(5))}
    found = judge(ours, drift)
    assert found.verdict == "slower"
    assert found.reason.parts == [because("common_rounds", n_rounds=5)]


def test_sides_stay_paired_where_each_went_on_without_the_other() -> None:
    rng = np.random.default_rng(2)
    common = {str(key): float(np.exp(0.3 * rng.standard_normal())) for key in range(40)}
    ours = {key: [1.05 * common[key]] for key in map(str, range(20))}
    theirs = {key: [common[key]] for key in map(str, [*range(6), *range(20, 40)])}
    found = judge(ours, theirs)
    assert found.reason.parts == [because("common_rounds", n_rounds=6)]
    assert found.verdict == "slower"


def test_the_same_needs_an_interval_inside_the_band() -> None:
    rng = np.random.default_rng(0)
    close = judge(rounds(rng, 12, 0.001), rounds(rng, 12, 0.001))
    assert close.verdict == "same"
    assert close.smallest_detectable is not None
    assert 0.02 < close.smallest_detectable < 0.04
    wide = judge(rounds(rng, 5, 0.05), rounds(rng, 5, 0.05))
    assert wide.verdict == "undecided"
    assert wide.reason.code == "interval_across"


@pytest.mark.parametrize(
    "side", [{}, {"0": [1.0]}, {"0": [1.0], "1": [0.0]}, {"0": [], "1": [1.0]}]
)
def test_what_cannot_be_compared_is_undecided_with_the_reason(side: dict[str, list[float]]) -> None:
    found = judge(side, {"0": [1.0], "1": [1.1]})
    assert found.verdict == "undecided"
    assert found.ratio is None
    assert found.reason.values["side"] == "case"
    assert judge({"0": [1.0], "1": [1.1]}, side).reason.values["side"] == "baseline"


@pytest.mark.parametrize(("n", "open_at", "told_at"), [(2, 9, 11), (3, 3, 5), (4, 1.5, 2.5)])
def test_few_rounds_give_no_verdict_but_of_a_large_difference(
    n: int, open_at: float, told_at: float
) -> None:
    rng = np.random.default_rng(n)
    open_ = judge(rounds(rng, n, 0.001, open_at), rounds(rng, n, 0.001))
    assert (open_.verdict, open_.reason.code) == ("undecided", "few_for_verdict")
    assert open_.confidence == 1 - 2.0 ** (1 - n)
    assert open_.smallest_detectable is None
    large = judge(rounds(rng, n, 0.001, told_at), rounds(rng, n, 0.001))
    assert large.verdict == "slower"
    assert judge(rounds(rng, n, 0.001), rounds(rng, n, 0.001)).verdict == "undecided"


def test_shared_noise_cancels_at_any_number_of_rounds() -> None:
    rng = np.random.default_rng(8)
    widths = {}
    for n in (6, 20):
        common = np.exp(0.2 * rng.standard_normal(n))
        own = [np.exp(0.01 * rng.standard_normal(n)) * common for _ in range(2)]
        sides = ({str(k): [float(v)] for k, v in enumerate(side)} for side in own)
        found = judge(*sides)
        assert found.low is not None
        assert found.high is not None
        widths[n] = (found.high - found.low) / 2
    assert widths[20] < 0.012
    assert widths[20] < widths[6]


def test_a_p_value_is_that_at_which_the_verdict_ends() -> None:
    rng = np.random.default_rng(4)
    ours, theirs = rounds(rng, 12, 0.02, 1.1), rounds(rng, 12, 0.02)
    found = judge(ours, theirs)
    assert found.verdict == "slower"
    assert found.p_value is not None
    for share, verdict in ((1.2, "slower"), (0.8, "undecided")):
        again = compare("m", "b", ours, theirs, confidence=1 - share * found.p_value)
        assert again.verdict == verdict


@pytest.mark.parametrize("n", [5, 8, 12])
def test_tables_of_equal_programs_rarely_show_a_difference(n: int) -> None:
    rng = np.random.default_rng(n)
    wrong, trials = 0, 100
    for _ in range(trials):
        table = held([judge(rounds(rng, n, 0.1), rounds(rng, n, 0.1)) for _ in range(30)])
        wrong += any(one.verdict in {"faster", "slower"} for one in table)
    assert wrong / trials <= 0.05 + 0.044  # two standard errors


def test_a_table_of_real_differences_keeps_its_verdicts() -> None:
    rng = np.random.default_rng(3)
    table = [judge(rounds(rng, 6, 0.01, 1.3), rounds(rng, 6, 0.01)) for _ in range(20)]
    table += [judge(rounds(rng, 6, 0.05), rounds(rng, 6, 0.05)) for _ in range(10)]
    kept = held(table)
    assert [one.verdict for one in kept[:20]] == ["slower"] * 20
    dropped = [one for one, before in zip(kept, table, strict=True) if one is not before]
    assert {one.reason.code for one in dropped} <= {"many_verdicts"}


def test_the_band_of_the_same_reaches_as_far_down_as_up() -> None:
    assert same_within(0.25) == (0.8, 1.25)
