"""Plans: totals added up by hand, ranks, sweeps, and what is missing."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.report.sentences import words
from coldwarm.stats.costs import WARM_CALL, CostGroup, Costs
from coldwarm.stats.planning import Job, _changes, _ladder, plan

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Caches, Plan, Sweepable


def steady(seconds: float, scatter: float = 0.01) -> dict[str, float]:
    """Give three processes around a figure, whose median it is."""
    return {"0": seconds, "1": seconds * (1 - scatter), "2": seconds * (1 + scatter)}


def costs(  # noqa: PLR0913 - each is one figure
    candidate: str,
    *,
    empty: float = 1.0,
    filled: float = 0.6,
    call: float = 0.4,
    warm: float = 0.01,
    compiles: bool = True,
    scatter: float = 0.01,
) -> Costs:
    """Give a candidate whose second call takes two warm ones."""
    figures = {
        "empty.first": empty,
        "empty.two": empty + 2 * warm,
        "empty.call": call,
        "filled.first": filled,
        "filled.two": filled + 2 * warm,
        "filled.call": call / 2,
        "imported.first": call,
        "imported.two": call + 2 * warm,
        WARM_CALL: warm,
    }
    return Costs(
        case=f"{candidate}_job",
        candidate=candidate,
        baseline=candidate == "plain",
        compiles=compiles,
        series={name: steady(value, scatter) for name, value in figures.items()},
    )


def with_new(one: Costs, seconds: float) -> Costs:
    """Give the same candidate with its call of a new shape measured, caches empty."""
    return dataclasses.replace(one, series={**one.series, "empty.new": steady(seconds)})


def planned(*known: Costs, job: Job, over: Sweepable | None = None) -> Plan:
    return plan(CostGroup("g", known, {}, {}), job, over)


def total_s(one: Costs, job: Job) -> float:
    """Return the seconds of a job; new shapes that were not measured cost as a warm call does."""
    return planned(one, job=job).totals[0].total_s or 0.0


def new_shapes_s(one: Costs, job: Job) -> float:
    """Return the most that new shapes cost besides."""
    return planned(one, job=job).totals[0].new_shapes_s or 0.0


def middle_s(one: Costs, job: Job) -> float:
    """Return what candidates are ranked by: new shapes at half of their most."""
    return total_s(one, job) + new_shapes_s(one, job) / 2


def bounds(one: Costs, job: Job) -> tuple[float | None, float | None]:
    """Return the interval of a total."""
    (total,) = planned(one, job=job).totals
    return total.low_s, total.high_s


PLAIN = costs("plain", empty=0.1, filled=0.1, call=0.02, warm=0.02, compiles=False)
JIT = costs("jit")


@pytest.mark.parametrize(
    ("caches", "starts"),
    [("cold", 10 * 1.0), ("warm", 10 * 0.6), ("kept", 1.0 + 9 * 0.6)],
)
def test_a_total_is_the_sum_of_its_starts_and_calls(caches: Caches, starts: float) -> None:
    job = Job(calls=200, shapes=1, processes=10, caches=caches)
    assert total_s(JIT, job) == pytest.approx(starts + 10 * (2 * 0.01 + 198 * 0.01))
    once = Job(calls=1, shapes=1, processes=10, caches=caches)
    assert total_s(JIT, once) == pytest.approx(starts)


def test_new_shapes_cost_between_nothing_and_a_whole_first_call() -> None:
    job = Job(calls=200, shapes=5, processes=10, caches="kept")
    alone = dataclasses.replace(job, shapes=1)
    assert total_s(JIT, job) == total_s(JIT, alone)
    assert new_shapes_s(JIT, job) == pytest.approx(4 * (0.4 - 0.01) + 9 * 4 * (0.2 - 0.01))
    assert new_shapes_s(JIT, alone) == 0
    assert new_shapes_s(PLAIN, job) == 0
    low, high = bounds(JIT, job)
    assert low is not None
    assert high is not None
    assert low < total_s(JIT, job)
    assert high > total_s(JIT, job) + new_shapes_s(JIT, job)


def test_the_cheapest_is_told_with_its_margin() -> None:
    few = planned(PLAIN, JIT, job=Job(10, 1, 1, "kept"))
    assert (few.cheapest, few.verdict) == ("plain", "told_apart")
    first, second = few.totals
    assert (first.candidate, first.margin_s) == ("plain", 0)
    assert second.margin_s == pytest.approx(1.1 - 0.3)
    assert second.margin_low_s is not None
    assert second.margin_low_s > 0
    many = planned(PLAIN, JIT, job=Job(1000, 1, 1, "kept"))
    assert (many.cheapest, many.verdict) == ("jit", "told_apart")


def test_new_shapes_can_leave_the_cheapest_open() -> None:
    job = Job(calls=100, shapes=3, processes=1, caches="cold")
    found = planned(PLAIN, JIT, job=job)
    assert found.verdict == "undecided"
    assert found.reason.code == "indistinguishable"


def test_a_cost_that_is_missing_is_null_with_its_reason() -> None:
    series = {key: value for key, value in JIT.series.items() if not key.startswith("filled")}
    lacking = dataclasses.replace(JIT, series=series)
    found = planned(PLAIN, lacking, job=Job(10, 1, 2, "kept"), over="calls")
    total = found.totals[-1]
    assert (total.candidate, total.total_s, total.margin_s) == ("jit", None, None)
    assert words(total.null_reasons["total_s"]) == "jit has no valid process: filled caches"
    assert found.cheapest == "plain"
    assert found.sweep is not None
    assert set(found.sweep.rows[0].total_s) == {"plain"}
    alone = planned(lacking, job=Job(10, 1, 1, "warm"))
    assert (alone.cheapest, alone.null_reasons["cheapest"]) == (None, alone.reason)


def test_one_process_has_no_interval_and_no_verdict() -> None:
    def single(one: Costs) -> Costs:
        series = {name: {"0": values["0"]} for name, values in one.series.items()}
        return dataclasses.replace(one, series=series)

    found = planned(single(PLAIN), single(JIT), job=Job(10, 1, 1, "kept"))
    assert (found.cheapest, found.verdict) == ("plain", "undecided")
    assert found.totals[0].low_s is None
    assert found.totals[0].null_reasons["low_s"].code == "few_processes_each"


def test_pairs_stand_with_the_baseline_first() -> None:
    other = costs("other", warm=0.015)
    found = planned(JIT, other, PLAIN, job=Job(10, 1, 1, "kept"))
    assert found.baseline == "plain"
    pairs = [(one.candidate, one.baseline) for one in found.break_even]
    expected = [("jit", "plain"), ("other", "plain"), ("other", "jit")]
    assert pairs == [pair for pair in expected for _ in range(3)]


def test_a_sweep_finds_where_another_one_becomes_cheapest() -> None:
    job = Job(calls=200, shapes=1, processes=1, caches="kept")
    found = planned(PLAIN, JIT, job=job, over="calls").sweep
    assert found is not None
    (crossing,) = found.crossings
    before, at = (dataclasses.replace(job, calls=crossing.value - n) for n in (1, 0))
    assert crossing.cheapest == "jit"
    assert total_s(PLAIN, before) <= total_s(JIT, before)
    assert total_s(PLAIN, at) >= total_s(JIT, at)
    values = [row.value for row in found.rows]
    assert values[:4] == [1, 2, 5, 10]
    assert values[-1] >= 10 * job.calls


def test_a_sweep_keeps_within_what_can_be() -> None:
    job = Job(calls=12, shapes=4, processes=1, caches="kept")
    swept = {}
    for over in ("shapes", "calls", "processes"):
        found = planned(PLAIN, JIT, job=job, over=over).sweep
        assert found is not None
        swept[over] = [row.value for row in found.rows]
    assert swept["shapes"] == [1, 2, 5, 10, 12]
    assert (swept["calls"][0], swept["processes"][0]) == (4, 1)


def test_a_sweep_that_nobody_has_the_costs_for_says_so() -> None:
    lacking = dataclasses.replace(
        PLAIN, series={k: v for k, v in PLAIN.series.items() if not k.startswith("filled")}
    )
    found = planned(lacking, job=Job(10, 1, 1, "kept"), over="processes")
    assert found.cheapest == "plain"
    assert found.sweep is None
    assert found.null_reasons["sweep"].code == "not_swept"


def test_totals_that_differ_in_their_rounds_do_not_contradict_what_they_share() -> None:
    """GIVEN a baseline that went on while the machine was faster THEN common rounds decide."""
    base, other = costs("plain"), costs("other")
    names = list(base.series)

    def scaled(one: Costs, factor: float, more: float | None) -> Costs:
        series = {}
        for name in names:
            common = {f"{n}": value * factor for n, value in enumerate(one.series[name].values())}
            late = {
                f"9{n}": value * (more or 0) for n, value in enumerate(one.series[name].values())
            }
            series[name] = common | (late if more else {})
        return dataclasses.replace(one, series=series)

    known = [scaled(base, 1.0, 0.5), scaled(other, 0.95, None)]
    found = plan(CostGroup("g", known, {}, {}), Job(10, 1, 1, "cold"))
    assert found.cheapest == "other"
    for total in found.totals:
        assert total.margin_s is not None
        assert total.margin_low_s is not None
        assert total.margin_high_s is not None
        assert total.margin_low_s <= total.margin_s <= total.margin_high_s


@given(st.integers(1, 10**18))
def test_a_ladder_reaches_its_end_in_steps_of_two_or_so(most: int) -> None:
    steps = _ladder(most)
    assert steps[-1] >= most
    assert len(steps) == 1 or steps[-2] < most
    assert all(2 <= after / before <= 2.5 for before, after in pairwise(steps))


# Whole microseconds: rounding would bend the lines, and lines that all but coincide cross often.
starts_and_calls = st.lists(
    st.tuples(st.integers(100_000, 10_000_000), st.integers(1_000, 1_000_000)),
    min_size=2,
    max_size=5,
)


@given(starts_and_calls)
def test_every_change_of_the_cheapest_is_found(figures: list[tuple[int, int]]) -> None:
    def cheapest(calls: int) -> str:
        return str(min(range(len(figures)), key=lambda i: figures[i][0] + calls * figures[i][1]))

    found = _changes(cheapest, _ladder(500))
    last = _ladder(500)[-1]
    assert found == [n for n in range(2, last + 1) if cheapest(n) != cheapest(n - 1)]


@given(
    st.integers(1, 500), st.integers(1, 50), st.sampled_from(["cold", "warm", "kept"]), st.data()
)
def test_more_of_anything_is_never_cheaper(
    calls: int, processes: int, caches: Caches, data: st.DataObject
) -> None:
    job = Job(calls, data.draw(st.integers(1, calls)), processes, caches)
    whole = total_s(JIT, job) + new_shapes_s(JIT, job)
    for more in (
        dataclasses.replace(job, calls=calls + 1),
        dataclasses.replace(job, processes=processes + 1),
        dataclasses.replace(job, shapes=job.shapes + 1, calls=calls + 1),
    ):
        assert total_s(JIT, more) + new_shapes_s(JIT, more) >= whole


def test_a_new_shape_that_was_measured_is_a_term_of_the_total() -> None:
    group = CostGroup("job", [with_new(PLAIN, 0.02), with_new(JIT, 0.3)], {}, {})
    found = plan(group, Job(calls=200, shapes=5, processes=1, caches="cold"))
    assert found.new_shapes_measured
    totals = {total.candidate: total for total in found.totals}
    assert totals["jit"].total_s == pytest.approx(1.0 + 0.02 + 4 * 0.3 + 194 * 0.01)
    assert totals["jit"].new_shapes_s == 0.0
    assert totals["plain"].total_s == pytest.approx(0.1 + 0.04 + 4 * 0.02 + 194 * 0.02)


def test_more_new_shapes_than_were_measured_are_told_less_surely() -> None:
    shapes = {"new_shape_1": 0.2, "new_shape_2": 0.4}
    jit = dataclasses.replace(with_new(JIT, 0.3), by_shape=shapes)
    known, more = (Job(200, number, 1, "cold", new_measured=True) for number in (3, 9))
    widths = []
    for job in (known, more):
        low, high = bounds(jit, job)
        assert low is not None
        assert high is not None
        assert low <= total_s(jit, job) <= high
        widths.append((high - low) / (job.shapes - 1))
    assert widths[1] > widths[0] + 0.2
    one = dataclasses.replace(jit, by_shape={"new_shape_1": 0.3})
    low, high = bounds(one, more)
    assert low is not None
    assert high is not None
    assert (high - low) / 8 < 0.1, "a single shape tells nothing of others"


def test_a_new_shape_that_one_candidate_lacks_is_bounded_for_all() -> None:
    found = plan(
        CostGroup("job", [PLAIN, with_new(JIT, 0.3)], {}, {}),
        Job(calls=200, shapes=5, processes=1, caches="cold"),
    )
    assert not found.new_shapes_measured
    totals = {total.candidate: total for total in found.totals}
    assert totals["jit"].new_shapes_s == pytest.approx(4 * (0.4 - 0.01))


def test_filled_caches_have_no_measured_new_shape() -> None:
    group = CostGroup("job", [with_new(PLAIN, 0.02), with_new(JIT, 0.3)], {}, {})
    found = plan(group, Job(calls=200, shapes=5, processes=3, caches="kept"))
    assert not found.new_shapes_measured
    totals = {total.candidate: total for total in found.totals}
    # The first process has its four new shapes in the total, the two others beside it.
    assert totals["jit"].new_shapes_s == pytest.approx(2 * 4 * (0.2 - 0.01))
