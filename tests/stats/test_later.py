"""Calls that cost something else long after the second one: totals are what a process took."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts import samples
from tests.stats.test_planning import middle_s

from coldwarm.contracts.observation import Block, Judgement, Phase
from coldwarm.contracts.reasons import because
from coldwarm.report.answer_text import lines
from coldwarm.stats.answers import answer
from coldwarm.stats.costs import gather
from coldwarm.stats.planning import Job, grid, plan
from coldwarm.stats.summarise import summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from coldwarm.contracts.base import CacheMode
    from coldwarm.contracts.observation import Observation
    from coldwarm.contracts.result import CaseResult
    from coldwarm.stats.costs import Costs

EMPTY: CacheMode = "cold_process_cold_cache"
WARM: CacheMode = "warm_process"
MS = 1e-3
START_S = 0.3
BLOCK_S = 0.02


@dataclass(frozen=True)
class Program:
    """What its calls take by their number, from 1."""

    name: str
    call_s: Callable[[int], float]
    goes_on: bool = True
    """Whether calls beyond the measured ones are like the last of those."""

    def total_s(self, calls: int) -> float:
        """Return what a process of so many calls takes."""
        return START_S + math.fsum(self.call_s(n) for n in range(1, calls + 1))


def steps(*levels: tuple[int, float]) -> Callable[[int], float]:
    """Return calls that take each of these milliseconds up to a number, the last from there on."""
    return lambda n: next((ms for end, ms in levels if n <= end), levels[-1][1]) * MS


def once(at: int, seconds: float, ms: float = 2.0) -> Callable[[int], float]:
    return lambda n: seconds if n == at else ms * MS


def every(period: int, seconds: float, ms: float = 2.0) -> Callable[[int], float]:
    return lambda n: seconds if n % period == 0 else ms * MS


PROGRAMS = [
    Program("steady", steps((1, 5.0), (9**9, 2.0))),
    Program("forty_slow_calls", steps((40, 20.0), (9**9, 2.0))),
    Program("tenth_compiles", once(10, 1.0)),
    Program("third_compiles", once(3, 0.5)),
    Program("thirtieth_reads_a_file", once(30, 0.2)),
    Program("tries_kernels", steps((12, 30.0), (9**9, 5.0))),
    Program("two_tiers", steps((15, 20.0), (60, 8.0), (9**9, 2.0))),
    Program("long_tier", steps((100, 6.0), (9**9, 1.0))),
    Program("settles_slowly", lambda n: (2.0 + 40.0 / n) * MS),
    Program("becomes_slower_at_sixty", steps((60, 2.0), (9**9, 4.0))),
    Program("every_tenth", every(10, 0.05)),
    Program("every_37th", every(37, 0.04)),
    Program("every_hundredth", every(100, 0.1, 1.0)),
    Program(
        "grows_by_doubling", lambda n: (2.0 + (n if n & (n - 1) == 0 else 0)) * MS, goes_on=False
    ),
    Program("memory_grows", lambda n: 2.0 * (1 + n / 400) * MS, goes_on=False),
    Program("second_and_fifth", lambda n: {2: 0.4, 5: 0.7}.get(n, 0.003)),
    Program("quick_at_first", steps((50, 1.0), (9**9, 3.0))),
    Program("two_hundredth_compiles", once(200, 2.0), goes_on=False),
]
HONEST = {program.name: program for program in PROGRAMS}


def observed(program: Program, place: int, made: int) -> Observation:
    """Return a process that makes so many calls after its second one, in short blocks."""
    rng = np.random.default_rng([place, made])
    slow = float(np.exp(0.003 * rng.standard_normal()))
    numbers = itertools.count(3)
    blocks: list[Block] = []
    while sum(len(block.samples_s) for block in blocks) < made:
        taken: list[float] = []
        while len(taken) < 3 or sum(taken) < BLOCK_S:
            taken.append(slow * program.call_s(next(numbers)))
        order = len(blocks)
        blocks.append(Block(order=order, start_s=2.0 + order, batch=1, samples_s=taken, compiles=0))
    proved = Judgement(proved=True, reason=because("stated", text="made so"))
    first, second = program.call_s(1), program.call_s(2)
    return msgspec.structs.replace(
        samples.observation(EMPTY),
        also_modes=[WARM],
        round=place,
        order=place,
        ttfr_s=slow * (0.2 + first),
        ttfr_process_s=slow * (START_S + first),
        judgements={EMPTY: proved, WARM: proved},
        phases=[
            Phase(name="import", start_s=0.0, duration_s=slow * 0.2),
            Phase(name="wrap", start_s=0.2, duration_s=0.0),
            Phase(name="first_call", start_s=START_S, duration_s=slow * first),
            Phase(name="second_call", start_s=START_S + first, duration_s=slow * second),
        ],
        blocks=blocks,
    )


def case(
    program: Program, made: Sequence[int] = (256,) * 6, *, baseline: bool = False
) -> CaseResult:
    """Return a case with a process for each number of calls."""
    seen = [observed(program, place, number) for place, number in enumerate(made)]
    found = samples.case(seen, (EMPTY, WARM), candidate=program.name, baseline=baseline)
    return msgspec.structs.replace(found, case=f"{program.name}_job")


def costs(one: CaseResult) -> Costs:
    (found,) = gather("g", [one]).known
    return found


def cost(program: Program, made: Sequence[int] = (256,) * 6) -> Costs:
    return costs(case(program, made))


def job(calls: int) -> Job:
    return Job(calls, 1, 1, "cold")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
@pytest.mark.parametrize("calls", [1, 2, 3, 5, 9, 10, 11, 20, 39, 41, 60, 100, 150, 258])
def test_a_total_is_what_a_process_took(program: Program, calls: int) -> None:
    found = cost(program)
    assert found.measured_calls is not None
    assert found.measured_calls >= 258
    assert middle_s(found, job(calls)) == pytest.approx(program.total_s(calls), rel=0.03)
    (planned,) = plan(gather("g", [case(program)]), job(calls)).totals
    low, high = planned.process_low_s, planned.process_high_s
    assert low is not None
    assert high is not None
    assert low <= program.total_s(calls) * 1.01
    assert high >= program.total_s(calls) * 0.99


@pytest.mark.parametrize(
    "program", [one for one in PROGRAMS if one.goes_on], ids=lambda one: one.name
)
@pytest.mark.parametrize("calls", [500, 1_000, 10_000])
def test_what_goes_on_as_it_did_is_foretold(program: Program, calls: int) -> None:
    found = cost(program, (600,) * 4)
    assert middle_s(found, job(calls)) == pytest.approx(program.total_s(calls), rel=0.12)


def test_a_total_holds_the_same_calls_with_freed_memory_kept() -> None:
    """GIVEN calls that pay for page faults WHEN memory is kept THEN both lie in the interval."""
    paying, keeping = (Program("one", steps((9**9, ms))) for ms in (2.0, 1.2))
    as_it_comes = [
        msgspec.structs.replace(observed(paying, place, 256), allocator="as_it_is")
        for place in range(6)
    ]
    kept = [
        msgspec.structs.replace(
            observed(keeping, place, 256),
            allocator="keeps_memory",
            cache_mode=WARM,
            also_modes=[],
            attempt=1,
        )
        for place in range(6)
    ]
    seen, modes = [*as_it_comes, *kept], (EMPTY, WARM)
    found = samples.case(seen, modes, candidate="one", warm=summarise(seen, modes).warm)
    (one,) = plan(gather("g", [found]), job(1_000)).totals
    assert one.total_s == pytest.approx(paying.total_s(1_000), rel=0.03)
    assert one.low_s is not None
    assert one.process_low_s is not None
    assert one.low_s <= keeping.total_s(1_000) * 1.01
    assert one.process_low_s <= keeping.total_s(1_000) * 1.01
    (alone,) = plan(gather("g", [case(paying)]), job(1_000)).totals
    assert alone.low_s is not None
    assert alone.low_s > paying.total_s(1_000) * 0.97


@pytest.mark.parametrize("rounds", [2, 3, 4])
def test_of_few_rounds_a_total_lies_within_what_was_seen(rounds: int) -> None:
    """GIVEN starts of 0.3 s and more THEN no total of fewer rounds than a verdict's begins at 0."""
    program = Program("one", steps((9**9, 2.0)))
    (one,) = plan(gather("g", [case(program, (256,) * rounds)]), job(100)).totals
    assert one.total_s is not None
    assert one.low_s is not None
    assert one.high_s is not None
    assert START_S < one.low_s <= one.total_s <= one.high_s < 1.1 * program.total_s(100)


def test_of_one_round_there_is_a_best_guess_and_no_answer() -> None:
    slow, dear = Program("slow", steps((9**9, 20.0))), Program("dear", once(1, 1.0))
    told = answer([case(slow, (64,), baseline=True), case(dear, (64,))])
    by = told.reading("process")
    assert by is not None
    assert by.ranges == []
    assert [one.cheapest for one in by.estimates] == ["slow", "dear"]
    (row,) = [one.text for one in lines(told) if one.label == "by calls"]
    assert row.startswith("no answer yet (best guess: slow, dear from about ")


def test_of_two_rounds_there_is_an_answer_where_both_put_candidates_far_apart() -> None:
    slow, dear = Program("slow", steps((9**9, 20.0))), Program("dear", once(1, 1.0))
    by = answer([case(slow, (64, 64), baseline=True), case(dear, (64, 64))]).reading("process")
    assert by is not None
    assert [one.cheapest for one in by.ranges] == [None], "not tenfold"
    dearest = Program("dear", once(1, 90.0))
    by = answer([case(slow, (64, 64), baseline=True), case(dearest, (64, 64))]).reading("process")
    assert by is not None
    assert by.cheapest_at(1) == "slow"


@pytest.mark.parametrize("program", PROGRAMS[1:], ids=lambda one: one.name)
def test_nothing_beyond_what_was_measured_is_told_with_confidence(program: Program) -> None:
    """GIVEN a rival far dearer or far cheaper THEN a total beyond is extrapolated, and says so."""
    for rival in (Program("rival", steps((9**9, 200.0))), Program("rival", steps((9**9, 0.05)))):
        group = gather("g", [case(rival, baseline=True), case(program)])
        within, beyond = (plan(group, job(calls)) for calls in (100, 5_000))
        assert within.verdict in {"told_apart", "undecided"}
        assert beyond.verdict in {"extrapolated", "undecided"}
        assert all((one.measured_calls or 0) < 5_000 for one in beyond.totals)
        assert (
            beyond.cheapest == min((program, rival), key=lambda one: one.total_s(5_000)).name
            or beyond.verdict == "undecided"
        )


def test_the_named_case_is_no_longer_believed() -> None:
    """GIVEN 40 calls of 20 ms and then 2 ms, of which 12 were made THEN no verdict rests on it."""
    program, rival = HONEST["forty_slow_calls"], Program("rival", steps((9**9, 5.0)))
    short = [12] * 6
    group = gather("g", [case(rival, baseline=True), case(program, short)])
    found = plan(group, job(1_000))
    assert found.verdict == "extrapolated"
    n_calls = found.reason.values["n_calls"]
    assert isinstance(n_calls, int)
    assert n_calls < 40
    told = answer([case(rival, baseline=True), case(program, short)])
    by = told.reading("process")
    assert by is not None
    assert by.measured_calls is not None
    assert by.measured_calls < 40
    # Where the first process is as long as a run makes it, the total is what it truly is.
    assert middle_s(cost(program), job(1_000)) == pytest.approx(program.total_s(1_000), rel=0.03)


@pytest.mark.parametrize("name", ["forty_slow_calls", "two_tiers", "tries_kernels", "long_tier"])
def test_a_process_that_ended_early_has_what_came_then_from_the_others(name: str) -> None:
    program = HONEST[name]
    for made in ((256, 6, 6, 6, 256), (430, 10, 9, 8, 7), (256, *range(4, 12))):
        found = cost(program, made)
        for calls in (8, 60, 200, 2_000):
            assert middle_s(found, job(calls)) == pytest.approx(program.total_s(calls), rel=0.06)


def test_what_the_harness_does_between_blocks_is_no_cost_of_the_program() -> None:
    """GIVEN blocks that begin slowly, and one that begins with a compile THEN that one is paid."""
    steady = HONEST["steady"]
    seen = []
    for place in range(4):
        one = observed(steady, place, 256)
        blocks = [
            msgspec.structs.replace(
                block, samples_s=[2.5 * block.samples_s[0], *block.samples_s[1:]]
            )
            for block in one.blocks
        ]
        late = blocks[12]
        blocks[12] = msgspec.structs.replace(late, samples_s=[1.5, *late.samples_s[1:]])
        seen.append(msgspec.structs.replace(one, blocks=blocks))
    found = costs(samples.case(seen, (EMPTY, WARM)))
    assert middle_s(found, job(258)) == pytest.approx(steady.total_s(258) + 1.5, rel=0.01)


def test_processes_of_one_level_keep_their_own() -> None:
    """GIVEN a first process that is longer, and no late calls THEN others go on as they did."""
    steady = HONEST["steady"]
    found = cost(steady, (600, 30, 30, 30))
    assert middle_s(found, job(1_000)) == pytest.approx(steady.total_s(1_000), rel=0.02)


def test_a_curve_bends_where_calls_change() -> None:
    """GIVEN late calls THEN a rival is the cheapest in between, and the answer says where."""
    program = HONEST["tenth_compiles"]
    rival = Program("rival", steps((9**9, 9.0)))
    told = answer([case(rival, baseline=True), case(program)])
    by = told.reading("process")
    assert by is not None
    assert by.cheapest_at(8) == "tenth_compiles"
    assert by.cheapest_at(12) == by.cheapest_at(60) == "rival"
    assert by.cheapest_at(240) == "tenth_compiles"


def test_an_answer_says_from_where_on_it_is_extrapolated() -> None:
    dear_start = Program("dear", lambda n: 4.0 if n == 1 else 1 * MS)
    told = answer([case(Program("plain", steps((9**9, 3.0))), baseline=True), case(dear_start)])
    rows = {one.label: one for one in lines(told)}
    by = told.reading("process")
    assert by is not None
    assert by.measured_calls is not None
    assert by.measured_calls < 2_000
    assert rows["from 2,000"].text == "dear (extrapolated)"
    assert f"; beyond {by.measured_calls:,} calls extrapolated" in rows["1–1,999 calls"].text
    pieces = [piece for line in rows.values() for piece in line.pieces]
    headlines = [piece.text for piece in pieces if piece.verdict == "cheapest"]
    assert headlines == ["plain"], "what lies beyond carries no headline"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_charts_and_the_page_have_the_same_curve(program: Program) -> None:
    known = [cost(program), cost(Program("rival", steps((9**9, 4.0))))]
    for setting in grid(known, {EMPTY, WARM}, shapes=(1,), processes=(1,)):
        assert set(setting.measured) == {program.name, "rival"}
        assert set(setting.measured.values()) <= set(setting.calls)
        for at, calls in enumerate(setting.calls):
            for one in known:
                total = setting.curves[one.candidate].total_s[at]
                assert total == pytest.approx(middle_s(one, job(calls)))


def test_a_mean_far_above_the_median_stands_beside_it() -> None:
    for name, told in (("every_tenth", True), ("every_37th", True), ("steady", False)):
        found = summarise(case(HONEST[name]).observations, [EMPTY, WARM])
        uneven = [one for one in found.warnings if one.kind == "uneven"]
        assert bool(uneven) == told
        for one in uneven:
            mean, median = (one.reason.values[key] for key in ("mean_s", "median_s"))
            assert isinstance(mean, float)
            assert isinstance(median, float)
            assert mean > 1.2 * median


def test_a_burst_in_one_process_is_not_said_of_the_program() -> None:
    seen = [observed(HONEST["steady"], place, 256) for place in range(5)]
    seen.append(observed(HONEST["every_tenth"], 5, 256))
    assert not [one for one in summarise(seen, [EMPTY, WARM]).warnings if one.kind == "uneven"]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(3, 200), st.floats(0.05, 2.0)), max_size=4),
    st.lists(st.floats(1.0, 40.0), min_size=1, max_size=3),
    st.integers(3, 258),
)
def test_whatever_calls_do_the_measured_total_is_theirs(
    struck: list[tuple[int, float]], levels: list[float], calls: int
) -> None:
    """GIVEN calls that change at any number, and by any factor THEN the total has all of it."""
    ends = [30 * (at + 1) for at in range(len(levels) - 1)] + [9**9]
    usual, slow = steps(*zip(ends, levels, strict=True)), dict(struck)
    program = Program("any", lambda n: slow.get(n, usual(n)))
    found = cost(program, (256,) * 3)
    assert middle_s(found, job(calls)) == pytest.approx(program.total_s(calls), rel=0.05)


ROUNDS = st.sampled_from([set(), {0}, {1, 3}, {0, 1, 2}, {3, 4, 5}, {0, 1, 2, 3, 4, 5}])
"""Rounds of which a candidate has the figure; time may end anywhere."""


def measured(program: Program, starts: set[int], warm: set[int], *, baseline: bool) -> CaseResult:
    """Return a case that has starts of some rounds and warm calls of others."""
    seen = [
        observed(program, place, 16)
        if place in warm
        else msgspec.structs.replace(observed(program, place, 16), also_modes=[], blocks=[])
        for place in sorted(starts | warm)
    ]
    found = samples.case(seen, (EMPTY, WARM), candidate=program.name, baseline=baseline)
    return msgspec.structs.replace(found, case=f"{program.name}_job")


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(ROUNDS, ROUNDS), min_size=2, max_size=3))
def test_any_rounds_give_an_answer_or_none(rounds: list[tuple[set[int], set[int]]]) -> None:
    """GIVEN candidates whose figures are of different rounds THEN the answer names them all."""
    group = [
        measured(program, *known, baseline=place == 0)
        for place, (program, known) in enumerate(zip(PROGRAMS, rounds, strict=False))
    ]
    told, planned = answer(group), plan(gather("g", group), job(100))
    assert [line.text for line in lines(told)]
    named = {*told.candidates, *told.not_measured}
    assert named == {one.candidate for one in group}
    assert {one.candidate for one in planned.totals} == {*told.candidates}
