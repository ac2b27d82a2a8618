"""Break-even: exact counts against brute force, and verdicts with their intervals."""

from __future__ import annotations

import dataclasses
import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldwarm.contracts.reasons import because
from coldwarm.report.sentences import words
from coldwarm.stats import breakeven
from coldwarm.stats.breakeven import break_even
from coldwarm.stats.costs import WARM_CALL, Costs
from coldwarm.stats.intervals import difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coldwarm.contracts.answer import BreakEven

HORIZON = 60
small = st.integers(-40, 40)


@dataclasses.dataclass(frozen=True)
class Line:
    """By how much a candidate is dearer after one call, after two, and with each one more."""

    one: int
    two: int
    later: int

    def __call__(self, calls: int | None) -> float:
        """Return by how much, at so many calls or in the end."""
        if calls is None:
            return self.later
        return self.one if calls == 1 else self.two + (calls - 2) * self.later


lines = st.builds(Line, small, small, small)


def costs(candidate: str, first: list[float], two: list[float], warm: list[float]) -> Costs:
    """Give a candidate's costs by round, the same in all readings."""

    def by_round(values: list[float]) -> Mapping[str, float]:
        return {str(place): value for place, value in enumerate(values)}

    series = {f"{state}.first": by_round(first) for state in ("empty", "imported", "filled")}
    series |= {f"{state}.two": by_round(two) for state in ("empty", "imported", "filled")}
    return Costs(
        case=candidate,
        candidate=candidate,
        baseline=candidate == "numpy",
        compiles=False,
        series={**series, WARM_CALL: by_round(warm)},
    )


def simple(candidate: str, start: list[float], warm: list[float]) -> Costs:
    """Give a candidate whose second call is a warm one."""
    two = [one + call for one, call in zip(start, warm, strict=True)]
    return costs(candidate, start, two, warm)


def judged(line: Line) -> BreakEven:
    """Judge a candidate against one of 100 s a call, by five rounds that are alike."""
    theirs = simple("theirs", [100.0] * 5, [100.0] * 5)
    first, two, later = 100.0 + line.one, 200.0 + line.two, 100.0 + line.later
    return break_even(costs("ours", [first] * 5, [two] * 5, [later] * 5), theirs, "process")


@given(lines)
def test_counts_agree_with_adding_up(line: Line) -> None:
    dearer = [n for n in range(1, HORIZON) if line(n) > 0]
    found = judged(line)
    if line(HORIZON) > 0:
        most = max((n for n in range(1, HORIZON) if n not in dearer), default=0)
        expected = ("until", most) if most else ("never", None)
    else:
        expected = ("from", max(dearer) + 1) if dearer else ("at_once", 1)
    assert (found.verdict, found.calls) == expected


@given(lines, st.integers(0, 20), st.integers(0, 20))
def test_more_to_make_up_for_takes_more_calls(line: Line, start: int, slope: int) -> None:
    worse = Line(line.one + start, line.two + start, line.later + slope)
    before, after = judged(line), judged(worse)
    if after.verdict in {"from", "at_once"}:
        assert before.verdict in {"from", "at_once"}
        assert before.calls is not None
        assert after.calls is not None
        assert before.calls <= after.calls


NUMPY = simple("numpy", [0.10, 0.11, 0.10], [0.020, 0.021, 0.020])
JIT = simple("jit", [1.00, 1.02, 1.01], [0.002, 0.002, 0.003])
NEAR = simple("near", [1.00, 1.02, 1.01], [0.0195, 0.0215, 0.0199])
SLOW = simple("slow", [1.00, 1.02, 1.01], [0.050, 0.051, 0.050])


def test_a_dearer_start_pays_off_from_a_number_of_calls() -> None:
    found = break_even(JIT, NUMPY, "process")
    assert found.verdict == "from"
    # In the middle round 0.90 s dearer after one call, 0.018 s made up for by each further one.
    assert found.calls == 1 + 50
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.calls < found.high


def test_never_where_nothing_is_cheaper() -> None:
    found = break_even(SLOW, NUMPY, "process")
    assert (found.verdict, found.calls) == ("never", None)
    assert found.null_reasons["calls"].code == "never"


def test_at_once_where_nothing_is_dearer() -> None:
    found = break_even(NUMPY, SLOW, "imported")
    assert (found.verdict, found.calls, found.low, found.high) == ("at_once", 1, 1, 1)


def test_the_interval_ends_with_never_where_warm_calls_are_not_told_apart() -> None:
    found = break_even(NEAR, NUMPY, "process")
    assert found.verdict == "from"
    assert found.high is None
    assert found.null_reasons["high"].code == "never"
    assert found.low is not None


def test_two_measurements_of_one_program_are_undecided() -> None:
    again = simple("again", [0.11, 0.10, 0.105], [0.0205, 0.0199, 0.0206])
    found = break_even(again, NUMPY, "process")
    assert found.verdict == "undecided"
    assert found.reason.code in {"nothing_distinguished", "start_dearer", "start_cheaper"}


def test_equal_costs_are_no_dearer_at_once() -> None:
    same = simple("same", [0.10, 0.11, 0.10], [0.020, 0.021, 0.020])
    assert break_even(same, NUMPY, "process").verdict == "at_once"


@pytest.mark.parametrize("reading", ["process", "imported", "cached"])
def test_a_cost_that_is_missing_is_named(reading: str) -> None:
    kept = {
        key: value
        for key, value in JIT.series.items()
        if key
        != {"process": "empty.two", "imported": "imported.first", "cached": WARM_CALL}[reading]
    }
    lacking = dataclasses.replace(JIT, series=kept)
    found = break_even(lacking, NUMPY, reading)  # type: ignore[arg-type]
    assert (found.verdict, found.calls, found.low, found.high) == ("undecided", None, None, None)
    assert (found.reason.code, found.reason.values["candidate"]) == ("no_valid_process_in", "jit")
    assert set(found.null_reasons) == {"calls", "low", "high", "n_rounds", "rests_on"}


def test_one_process_gives_a_number_without_a_verdict() -> None:
    found = break_even(simple("jit", [1.0], [0.002]), simple("numpy", [0.1], [0.02]), "process")
    assert (found.verdict, found.calls, found.low) == ("undecided", 51, None)
    assert found.reason.code == "few_processes_each"


def test_more_calls_than_anybody_makes_are_not_a_number() -> None:
    ours = simple("ours", [1e9, 1e9, 1e9], [1.0 - 1e-12] * 3)
    theirs = simple("theirs", [1.0, 1.0, 1.0], [1.0] * 3)
    found = break_even(ours, theirs, "process")
    assert found.verdict == "from"
    assert found.calls is None
    assert words(found.null_reasons["calls"]) == "more than 1e+15 calls"


@st.composite
def candidates(draw: st.DrawFn, name: str) -> Costs:
    n = draw(st.sampled_from([2, 3, 4, 6]))
    series = st.lists(st.floats(1e-3, 10.0), min_size=n, max_size=n)
    return simple(name, draw(series), draw(series))


MIRROR = {
    "from": "until",
    "until": "from",
    "at_once": "never",
    "never": "at_once",
    "undecided": "undecided",
}


def bound(found: BreakEven, name: str) -> int | None:
    value: int | None = getattr(found, name)
    return value


@settings(max_examples=50)
@given(candidates("ours"), candidates("theirs"))
def test_exchanging_the_candidates_mirrors_the_verdict(ours: Costs, theirs: Costs) -> None:
    there, back = break_even(ours, theirs, "process"), break_even(theirs, ours, "process")
    edge = "from" if {there.verdict, back.verdict} & {"at_once", "never"} else ""
    if edge:
        # From 1 or 2 on, and up to 0 or 1: which of the words is used hangs on the first call.
        assert {there.verdict, back.verdict} in (
            {"at_once", "never"},
            {"at_once"},
            {"at_once", "until"},
            {"never", "from"},
        )
        return
    assert back.verdict == MIRROR[there.verdict]
    if there.verdict == "from":
        for name in ("calls", "low", "high"):
            one, other = bound(there, name), bound(back, name)
            # Where both cost the same at a number of calls, neither is dearer there.
            assert (one is None) == (other is None)
            assert one is None or other is None or one - other in {0, 1}


@settings(max_examples=50)
@given(candidates("ours"), candidates("theirs"), st.sampled_from([0.25, 2.0, 1024.0]))
def test_seconds_or_other_units_tell_the_same(ours: Costs, theirs: Costs, scale: float) -> None:
    def scaled(one: Costs) -> Costs:
        series = {
            name: {key: value * scale for key, value in values.items()}
            for name, values in one.series.items()
        }
        return dataclasses.replace(one, series=series)

    before, after = (
        break_even(ours, theirs, "process"),
        break_even(scaled(ours), scaled(theirs), "process"),
    )
    assert before == after


@settings(max_examples=50)
@given(candidates("ours"), candidates("theirs"))
def test_the_number_lies_in_its_interval(ours: Costs, theirs: Costs) -> None:
    found = break_even(ours, theirs, "process")
    numbers = [n for n in (found.low, found.calls, found.high) if n is not None]
    assert all(left <= right for left, right in pairwise(numbers))


@settings(max_examples=50)
@given(candidates("ours"), candidates("theirs"))
def test_a_difference_changes_its_sign_with_its_sides(ours: Costs, theirs: Costs) -> None:
    there = difference(ours.series[WARM_CALL], theirs.series[WARM_CALL], 0.95)
    back = difference(theirs.series[WARM_CALL], ours.series[WARM_CALL], 0.95)
    assert (back.middle, back.low, back.high) == (
        -there.middle,
        -there.high,
        -there.low,
    )


def noisy(rng: np.random.Generator, name: str, start: float, warm: float, n: int) -> Costs:
    """Give a candidate whose costs scatter by 3 %, in rounds that are slowed down by 20 %."""
    common = np.exp(0.2 * np.random.default_rng(n).standard_normal(n))
    scatter = np.exp(0.03 * rng.standard_normal((2, n)))
    return simple(name, list(start * common * scatter[0]), list(warm * common * scatter[1]))


@pytest.mark.parametrize(("n", "widest"), [(3, 2.0), (5, 1.5), (10, 1.3)])
def test_few_rounds_bound_the_number_closely(n: int, widest: float) -> None:
    rng = np.random.default_rng(n)
    ratios = []
    for _ in range(41):
        ours, theirs = noisy(rng, "jit", 1.0, 0.01, n), noisy(rng, "numpy", 0.1, 0.02, n)
        found = break_even(ours, theirs, "process")
        assert found.rests_on == because("common_rounds", n_rounds=n)
        assert found.n_rounds == n
        assert found.low is not None
        ratios.append((found.high or math.inf) / found.low)
    assert np.median(ratios) < widest


def test_rounds_that_lack_a_cost_are_left_out_and_named() -> None:
    rounds = [1.0, 1.01, 0.99, 1.02, 0.98]
    jit = simple("jit", [one * 1.0 for one in rounds], [one * 0.01 for one in rounds])
    numpy = simple("numpy", [one * 0.105 for one in rounds], [one * 0.02 for one in rounds])
    warm = {key: value for key, value in numpy.series[WARM_CALL].items() if key not in "34"}
    lacking = dataclasses.replace(numpy, series={**numpy.series, WARM_CALL: warm})
    found = break_even(jit, lacking, "process")
    assert found.rests_on is not None
    assert words(found.rests_on) == "3 common rounds; 2 incomplete ones"
    assert (found.verdict, found.calls, found.low, found.high) == ("from", 91, 91, 91)


def test_candidates_without_common_rounds_are_bounded_side_by_side() -> None:
    values = [1.0, 1.01, 0.99, 1.02, 0.98, 1.0]
    jit = simple("jit", values, [one * 0.01 for one in values])
    numpy = simple("numpy", [one * 0.1 for one in values], [one * 0.02 for one in values])
    moved = {
        name: {f"1{key}": value for key, value in series.items()}
        for name, series in numpy.series.items()
    }
    found = break_even(jit, dataclasses.replace(numpy, series=moved), "process")
    assert found.rests_on == because("separate_processes", n_processes=6, n_baseline=6)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 91 < found.high


def test_rounds_in_common_cancel_what_the_machine_did() -> None:
    theirs = {str(n): 1.0 + n for n in range(8)}
    ours = {key: value + 0.5 for key, value in theirs.items()}
    found = difference(ours, theirs, 0.95)
    assert found.low == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5)
    apart = difference({f"x{key}": value for key, value in ours.items()}, theirs, 0.95)
    assert math.isfinite(apart.low)
    assert apart.low < 0


@given(lines, st.integers(0, 20), st.integers(0, 20))
def test_any_more_to_make_up_for_takes_more_calls(line: Line, start: int, slope: int) -> None:
    worse = Line(line.one + start, line.two + start, line.later + slope)
    before, after = breakeven._no_dearer_from(line), breakeven._no_dearer_from(worse)
    assert after is None or (before is not None and before <= after)
