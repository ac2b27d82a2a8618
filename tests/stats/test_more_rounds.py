"""More data never tells less: no bound is infinite, and no further round takes back a verdict."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks import more_rounds
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from coldwarm.report.sentences import words
from coldwarm.runner.effort import _rounds_for
from coldwarm.stats import ratio
from coldwarm.stats.answers import by_calls
from coldwarm.stats.breakeven import break_even
from coldwarm.stats.costs import WARM_CALL, Costs
from coldwarm.stats.intervals import difference, paired
from coldwarm.stats.ratio import CONFIDENCE, compare, compare_pairs, held

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coldwarm.contracts.answer import Comparison

CONFIDENCES = (0.5, 0.9, 0.95, 0.97, 0.99, 0.998, 0.999, 0.9999, 1 - 1e-9, 1 - 1e-12)
BAND = math.log1p(0.02)
SETTLED_DIFFERENT, SETTLED_SAME = 0.999, 0.99
"""How sure a verdict must be to end a measurement before its last look."""
VALUES = st.floats(-3.0, 3.0, allow_subnormal=False)
EVERY = range(5, 21)


def judged(logs: Sequence[float], confidence: float = CONFIDENCE) -> Comparison:
    """Judge rounds by their log-ratios."""
    pairs = {str(number): [value] for number, value in enumerate(logs)}
    return compare_pairs("warm.call_s", "b", pairs, confidence=confidence)


def drawn(rng: np.random.Generator, n: int, ratio: float, scatter: float) -> list[float]:
    return [math.log(ratio) + scatter * float(one) for one in rng.standard_normal(n)]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(VALUES, min_size=2, max_size=40), st.sampled_from(CONFIDENCES))
def test_no_interval_of_finite_data_is_infinite(values: list[float], confidence: float) -> None:
    found = paired(values, confidence)
    assert all(map(math.isfinite, (found.low, found.middle, found.high)))
    assert found.low <= found.middle <= found.high
    one = judged(values, confidence)
    assert one.low is not None
    assert one.high is not None
    assert 0 < one.low <= one.high < math.inf
    assert one.high < 1e300, "nothing is put in the place of what has no end"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(VALUES, min_size=2, max_size=14), st.sampled_from(CONFIDENCES))
def test_more_confidence_is_a_wider_interval(values: list[float], confidence: float) -> None:
    surer = paired(values, confidence + 0.5 * (1 - confidence))
    found = paired(values, confidence)
    assert surer.low <= found.low + 1e-12
    assert surer.high >= found.high - 1e-12


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-0.3, 0.3), min_size=5, max_size=30),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(CONFIDENCES[3:7]),
)
def test_a_further_round_never_takes_back_a_difference(
    values: list[float], above: float, share: float, confidence: float
) -> None:
    """GIVEN a round that shows as much as the middle one, or more THEN it is told as before."""
    lowest = paired(values, confidence).low
    logs = [value - lowest + BAND + above for value in values]
    before = paired(logs, confidence)
    assume(before.low > BAND)
    further = before.middle + share * (max(logs) - before.middle)
    after = paired([*logs, further], confidence)
    assert after.low >= before.low
    mirrored = paired([-value for value in (*logs, further)], confidence)
    assert mirrored.high == pytest.approx(-after.low)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(VALUES, min_size=5, max_size=30), st.sampled_from(CONFIDENCES[3:7]))
def test_a_further_round_in_the_middle_narrows_both_bounds(
    values: list[float], confidence: float
) -> None:
    """GIVEN that two are the same THEN they still are after a round that says nothing new."""
    before = paired(values, confidence)
    after = paired([*values, before.middle], confidence)
    assert before.low - 1e-12 <= after.low <= after.high <= before.high + 1e-12


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(VALUES, min_size=5, max_size=20), st.sampled_from(CONFIDENCES[3:7]))
def test_every_round_once_more_is_never_less(values: list[float], confidence: float) -> None:
    before, after = paired(values, confidence), paired([*values, *values], confidence)
    assert before.low - 1e-12 <= after.low <= after.high <= before.high + 1e-12


@pytest.mark.parametrize("n", EVERY)
@pytest.mark.parametrize("rows", [5, 10, 30])
def test_a_lone_large_difference_is_told_in_every_table(n: int, rows: int) -> None:
    """GIVEN +50 % in one row of many equal ones THEN it is told, at 10 rounds as at 9 and 11."""
    rng = np.random.default_rng([n, rows])
    told = 0
    for _ in range(10):
        table = [judged(drawn(rng, n, 1.5 if row == 0 else 1.0, 0.05)) for row in range(rows)]
        told += held(table)[0].verdict == "slower"
    assert told >= 8


def costs(rng: np.random.Generator, name: str, n: int, start: float, warm: float) -> Costs:
    def by_round(seconds: float) -> Mapping[str, float]:
        noise = np.exp(0.02 * rng.standard_normal(n))
        return {str(at): float(seconds * one) for at, one in enumerate(noise)}

    series = {"empty.first": by_round(start), WARM_CALL: by_round(warm)}
    series["empty.two"] = {key: value + warm for key, value in series["empty.first"].items()}
    return Costs(name, name, name == "c0", compiles=False, series=series)


@pytest.mark.parametrize("n", EVERY)
@pytest.mark.parametrize("candidates", [2, 8, 16, 30])
def test_an_answer_names_the_cheapest_of_many(n: int, candidates: int) -> None:
    rng = np.random.default_rng([n, candidates])
    known = [
        costs(rng, f"c{at}", n, 1.0 + (0.9 if at else 0), 0.01 + (0.01 if at else 0))
        for at in range(candidates)
    ]
    found = by_calls(known, "process", 3)
    assert [one.cheapest for one in found.ranges] == ["c0"]


@pytest.mark.parametrize("n", EVERY)
def test_a_clear_difference_settles_at_any_number_of_rounds(n: int) -> None:
    rng = np.random.default_rng(n)
    assert judged(drawn(rng, n, 1.5, 0.01), SETTLED_DIFFERENT).verdict == "slower"
    assert judged(drawn(rng, n, 1.0, 0.001), SETTLED_SAME).verdict == "same"


@pytest.mark.parametrize("n", EVERY)
def test_few_further_rounds_are_asked_for_where_few_suffice(n: int) -> None:
    """GIVEN a verdict that needs little more THEN the rounds foretold are few, and suffice."""
    rng = np.random.default_rng(n)
    asked = []
    for _ in range(20):
        seen = judged(drawn(rng, n, 1.2, 0.05), SETTLED_DIFFERENT)
        asked.append(_rounds_for(seen, n, BAND, 200))
    assert np.median(asked) <= max(n + 1, 12)
    assert max(asked) < 60


def test_nothing_known_of_the_scatter_asks_for_one_more() -> None:
    lacking = compare("m", "b", {"0": [1.0]}, {"0": [1.0]})
    assert _rounds_for(lacking, 1, BAND, 200) == 2


@pytest.mark.parametrize("n", [9, 10, 11, 12, 199, 200, 201])
def test_other_verdicts_end_at_no_number_of_rounds_either(n: int) -> None:
    rng = np.random.default_rng(n)
    ours, theirs = (
        costs(rng, name, n, start, warm)
        for name, start, warm in (
            ("c1", 1.0, 0.001),
            ("c0", 0.1, 0.02),
        )
    )
    found = break_even(ours, theirs, "process")
    assert found.verdict == "from"
    assert found.high is not None
    apart = difference(ours.series["empty.first"], theirs.series["empty.first"], 0.9999)
    assert math.isfinite(apart.low)
    assert math.isfinite(apart.high)
    assert 0.5 < apart.low < apart.high < 1.5
    late = {f"9{key}": value for key, value in theirs.series["empty.first"].items()}
    moved = dataclasses.replace(theirs, series={**theirs.series, "empty.first": late})
    assert break_even(ours, moved, "process").rests_on is not None


def test_the_committed_simulation_holds_what_is_stated() -> None:
    """GIVEN the same draws before and now THEN coverage and false verdicts are as stated."""
    found = json.loads(more_rounds.RESULTS.read_text("utf-8"))
    for by_n in found["rounds"].values():
        for shares in by_n.values():
            assert shares["now"]["held"] >= 0.965
            assert shares["now"]["false"] < 0.03
            assert shares["now"]["false"] <= shares["before"]["false"] + 0.001
    lone = found["lone"]
    assert lone["10"]["before"] < 0.01
    assert min(shares["now"] for shares in lone.values()) > 0.9
    assert found["runs"]["4 against 1"]["bursts"] > 0.03


@pytest.mark.parametrize("n", [8, 10, 15, 30])
@pytest.mark.parametrize("kind", more_rounds.KINDS)
def test_independent_rounds_are_seldom_called_alike(kind: str, n: int) -> None:
    rng = np.random.default_rng([n, len(kind)])
    drawn_ = more_rounds._side(kind, rng, (2000, n))
    called = sum(map(more_rounds.related, drawn_.tolist())) / 2000
    assert called <= 0.02 + 0.012


def test_rounds_that_follow_each_other_alike_are_found_and_told() -> None:
    assert more_rounds.alike(20, 0.7, 400) > 0.6
    slow = [0.3 + 0.01 * (number % 3) + (0.05 if number > 9 else 0.0) for number in range(20)]
    told = judged(slow)
    assert told.verdict == "slower"
    assert told.reason.code == "several"
    assert [part.code for part in told.reason.parts] == ["interval_outside", "rounds_related"]
    assert "more alike than independent ones" in words(told.reason)
    shuffled = np.random.default_rng(0).permutation(slow).tolist()
    assert judged(shuffled).reason.code == "interval_outside", "the order alone tells"


@pytest.mark.parametrize("n", range(2, 8))
def test_fewer_than_eight_rounds_say_nothing_of_their_order(n: int) -> None:
    assert not more_rounds.related([float(number) for number in range(n)])


@pytest.mark.parametrize("n", [8, 12, 20])
def test_equal_rounds_are_not_called_alike(n: int) -> None:
    assert not more_rounds.related([1.0] * n)


def test_separate_sides_are_looked_at_one_by_one() -> None:
    rng = np.random.default_rng(5)
    calm = {f"A{at}": [1.0 + 0.01 * float(rng.standard_normal())] for at in range(14)}
    rising = {f"B{at}": [2.0 + 0.05 * at] for at in range(14)}
    told = compare("warm.call_s", "A", rising, calm)
    assert told.verdict == "slower"
    assert "rounds_related" in {part.code for part in told.reason.parts}


@pytest.mark.parametrize("n", range(1, 8))
def test_a_few_rounds_in_order_are_not_related(n: int) -> None:
    assert not ratio._related([float(number) for number in range(n)])
    assert not ratio._related([1.0] * n)
