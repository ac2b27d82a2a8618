"""Blocks in pairs: what the machine does to both sides falls out of their ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.stats.test_summarise import WARM, observed

from coldwarm.contracts.observation import Block, Judgement, Observation, SharedCalls
from coldwarm.contracts.reasons import Reason, Value, because
from coldwarm.stats.ratio import Shared, compare_pairs, log_ratios, shared_ratios
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.summarise import compare_case

if TYPE_CHECKING:
    from coldwarm.contracts.answer import Comparison

MIRRORED = {"faster": "slower", "slower": "faster", "same": "same", "undecided": "undecided"}
CALL_S = 3e-4
N_BLOCKS = 24
PROVED = {WARM: Judgement(proved=True, reason=because("stated", text="made so"))}


def n_rounds(reason: Reason) -> Value:
    """Return how many rounds of paired blocks a verdict rests on."""
    if reason.code == "block_pairs":
        return reason.values["n_rounds"]
    return n_rounds(reason.parts[0])


def machine(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return how slow a machine is in each turn: bursts of a neighbour, and two speeds."""
    bursts = rng.random(n).round() * rng.uniform(0.1, 0.9)
    speed = np.where(np.cumsum(rng.random(n) < 0.1) % 2, 1.19, 1.0)
    return np.asarray(speed * (1 + bursts))


def process(
    rng: np.random.Generator, number: int, slowness: np.ndarray, more: float = 1.0
) -> Observation:
    """Return a warm process that does ``more`` work on a machine that is so slow by turns."""
    level = CALL_S * more * np.exp(0.004 * rng.standard_normal())
    blocks = [
        Block(
            order=100 * number + turn,
            start_s=1.0 + turn,
            batch=1,
            samples_s=(level * slow * (1 + 0.02 * rng.exponential(size=40))).tolist(),
            compiles=0,
        )
        for turn, slow in enumerate(slowness)
    ]
    return observed(number, cache_mode=WARM, also_modes=[], blocks=blocks, judgements=PROVED)


def trial(seed: int, more: float, n: int = 6) -> Comparison:
    """Judge ``more`` work against 1 on one machine, n rounds of alternating blocks."""
    rng = np.random.default_rng([seed, 7])
    turns = [machine(rng, N_BLOCKS) for _ in range(n)]
    theirs = [process(rng, number, slowness) for number, slowness in enumerate(turns)]
    ours = [process(rng, number, slowness, more) for number, slowness in enumerate(turns)]
    return compare_case("baseline", theirs, ours, [WARM])[0]


def test_five_percent_more_work_shows_on_a_bursty_machine_of_two_speeds() -> None:
    found = [trial(seed, 1.05) for seed in range(4)]
    assert {one.verdict for one in found} == {"slower"}
    assert all(one.ratio == pytest.approx(1.05, abs=0.01) for one in found)


def test_equal_work_is_hardly_ever_called_different_there() -> None:
    verdicts = [trial(seed, 1.0).verdict for seed in range(8)]
    assert set(verdicts) <= {"same", "undecided"}
    assert verdicts.count("same") > 5


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.floats(-0.5, 0.5).map(lambda x: round(x, 3)), min_size=3, max_size=6),
        min_size=2,
        max_size=9,
    ),
    st.lists(st.floats(-0.5, 0.5).map(lambda x: round(x, 3)), max_size=9),
)
def test_exchanging_the_sides_mirrors_everything(
    groups: list[list[float]], shared: list[float]
) -> None:
    pairs = {str(place): group for place, group in enumerate(groups)}
    flipped = {key: [-value for value in group] for key, group in pairs.items()}
    both = [[Shared(side * value) for value in shared] for side in (1, -1)]
    one = compare_pairs("warm.call_s", "baseline", pairs, both[0])
    other = compare_pairs("warm.call_s", "baseline", flipped, both[1])
    assert other.verdict == MIRRORED[one.verdict]
    assert one.low is not None
    assert one.high is not None
    assert other.low == pytest.approx(1 / one.high)
    assert other.high == pytest.approx(1 / one.low)


def sharing(seen: Observation, other: str, more: float, n: int = 60) -> Observation:
    """Let a process have called another candidate in turns, whose calls take ``more`` as long."""
    own_s = np.random.default_rng(seen.round).normal(1e-3, 1e-6, n)
    turns = SharedCalls(
        other=other, own_s=own_s.tolist(), other_s=(own_s * more).tolist(), compiles=0
    )
    return replace(seen, shared_calls=[turns])


def both(apart: float, shared: float, n: int = 4) -> Comparison:
    """Judge two sides whose ratio is another one between processes and in one process."""
    rng = np.random.default_rng(11)
    turns = [np.ones(N_BLOCKS)] * n
    theirs = [
        sharing(replace(process(rng, k, flat), case="b"), "a", shared)
        for k, flat in enumerate(turns)
    ]
    ours = [
        sharing(replace(process(rng, k, flat, apart), case="a"), "b", 1 / shared)
        for k, flat in enumerate(turns)
    ]
    return compare_case("b", theirs, ours, [WARM])[0]


def test_processes_that_called_both_in_turns_decide_before_rounds_can() -> None:
    found = both(1.03, 1.03)
    assert found.verdict == "slower"
    assert found.ratio == pytest.approx(1.03, abs=0.001)
    basis = found.reason.parts[0]
    assert (basis.code, basis.values) == ("shared_processes", {"n_processes": 8})
    assert both(1.0, 1.0).verdict == "same"
    assert both(1 / 1.03, 1 / 1.03).verdict == "faster"


def test_a_fork_is_a_process_that_called_both() -> None:
    rng = np.random.default_rng(11)
    seen = sharing(replace(process(rng, 0, np.ones(N_BLOCKS)), case="a"), "b", 1 / 1.03)
    (turns,) = seen.shared_calls
    forked = replace(turns, started_from_template=True)
    other = replace(seen, case="b", shared_calls=[])
    sides = [replace(seen, shared_calls=[turns, turns, forked, forked])], [other]
    found = shared_ratios(*(warm_processes(one) for one in sides))
    assert [one.forked for one in found] == [False, True, True]
    judged = compare_pairs("warm.call_s", "b", {"0": [0.02], "1": [0.04]}, found * 2)
    (basis,) = judged.reason.parts
    told = {"n_processes": 6, "n_forked": 4}
    assert (basis.code, basis.values) == ("forked_processes", told)


@pytest.mark.parametrize("n", [60, 61, 63])
def test_a_call_may_cost_more_for_being_the_second_of_its_turn(n: int) -> None:
    """Both sides are so in every other turn, and their ratio is that of equal places."""
    seen = sharing(process(np.random.default_rng(2), 0, np.ones(N_BLOCKS)), "b", 1.0, n)
    second = np.where(np.arange(n) % 2, 1.2, 1.0)
    own_s, other_s = 1e-3 * second, 1.03e-3 * (2.2 - second)
    (turns,) = seen.shared_calls
    turns = replace(turns, own_s=own_s.tolist(), other_s=other_s.tolist())
    sides = [replace(seen, case="a", shared_calls=[turns])], [replace(seen, case="b")]
    (found,) = shared_ratios(*(warm_processes(one) for one in sides))
    assert found.log_ratio == pytest.approx(-np.log(1.03))


def test_forks_of_one_template_count_for_less_than_processes_of_their_own() -> None:
    values = np.random.default_rng(5).normal(0, 0.005, 12)
    rounds = {"0": [0.0], "1": [0.01]}

    def reach(size: int) -> float:
        shared = [Shared(float(one), process=k // size) for k, one in enumerate(values)]
        found = compare_pairs("warm.call_s", "b", rounds, shared)
        assert found.low is not None
        assert found.high is not None
        return found.high / found.low

    own = compare_pairs("warm.call_s", "b", rounds, [Shared(float(one)) for one in values])
    assert own.high is not None
    assert own.low is not None
    assert reach(1) == pytest.approx(own.high / own.low)
    assert reach(1) < reach(2) < reach(6)


def test_where_they_contradict_the_rounds_nothing_is_taken_from_them_and_that_is_told() -> None:
    found = both(1.5, 1.03)
    assert found.verdict == "undecided"
    assert found.ratio == pytest.approx(1.5, abs=0.05)
    assert "shared_otherwise" in {part.code for part in found.reason.parts}


def test_rounds_that_scatter_widely_do_not_contradict_processes_that_agree() -> None:
    rounds = (0.076, 0.179, 0.056, 0.152, 0.03, 0.043, 0.058)  # of equal sides, as measured
    pairs = {str(number): [one] for number, one in enumerate(rounds)}
    shared = [Shared(one / 1000) for one in (-46, -5, -18, -5, 2, 34, 1, -2, 4, -5, -1, -6, -4, 1)]
    assert compare_pairs("warm.call_s", "b", pairs, shared).verdict == "same"
    assert compare_pairs("warm.call_s", "b", pairs).verdict == "slower"


def test_memory_that_is_given_back_makes_them_count_for_nothing() -> None:
    rng = np.random.default_rng(11)
    seen = [
        sharing(replace(process(rng, k, np.ones(N_BLOCKS)), case="a"), "b", 1.03) for k in range(5)
    ]
    others = [replace(one, case="b", shared_calls=[]) for one in seen]
    sides = [warm_processes(one) for one in (seen, others)]
    found = shared_ratios(*sides)
    assert len(found) == 5
    other = [-one.log_ratio for one in shared_ratios(sides[1], sides[0])]
    assert [one.log_ratio for one in found] == other
    giving = [
        replace(one, blocks=[replace(block, page_faults=10**6) for block in one.blocks])
        for one in seen
    ]
    assert shared_ratios(warm_processes(giving), sides[1]) == []


def test_processes_of_other_rounds_are_not_paired() -> None:
    rng = np.random.default_rng(3)
    flat = np.ones(N_BLOCKS)
    ours = warm_processes([process(rng, number, flat) for number in (0, 1, 2)])
    theirs = warm_processes([process(rng, number, flat) for number in (5, 6, 7)])
    assert log_ratios(ours, theirs) is None
    found = log_ratios(ours, ours)
    assert found is not None
    assert sorted(found) == ["0", "1", "2"]
    assert all(value == 0 for pairs in found.values() for value in pairs)


def test_too_few_blocks_are_compared_by_their_samples() -> None:
    rng = np.random.default_rng(4)
    seen = [process(rng, number, np.ones(2)) for number in range(3)]
    assert log_ratios(warm_processes(seen), warm_processes(seen)) is None
    assert compare_case("baseline", seen, seen, [WARM])[0].reason.parts[0].code == "common_rounds"


def test_blocks_before_the_steady_state_are_not_paired() -> None:
    rng = np.random.default_rng(5)
    flat = np.ones(N_BLOCKS)
    warming = np.where(np.arange(N_BLOCKS) < N_BLOCKS // 4, 3.0, 1.0)
    ours = warm_processes([process(rng, number, warming) for number in range(3)])
    assert all(one.steadiness.steady and one.warmup > 0 for one in ours)
    theirs = warm_processes([process(rng, number, flat) for number in range(3)])
    found = log_ratios(ours, theirs)
    assert found is not None
    assert all(abs(value) < 0.1 for pairs in found.values() for value in pairs)


def uneven(number: int, call_s: float, batch: int, speeds: list[float]) -> Observation:
    """Return a process with a look of single calls, and then a block of a batch in each turn."""
    looked = Block(order=100 * number, start_s=0.5, batch=1, samples_s=[call_s] * 20, compiles=0)
    blocks = [
        Block(
            order=100 * number + 1 + turn,
            start_s=1.0 + turn,
            batch=batch,
            samples_s=[call_s * speed] * 20,
            compiles=0,
            bound_to=turn % 2,
        )
        for turn, speed in enumerate(speeds)
    ]
    seen = [looked, *blocks]
    return observed(number, cache_mode=WARM, also_modes=[], blocks=seen, judgements=PROVED)


def test_blocks_of_one_turn_are_paired_where_the_batches_differ() -> None:
    """One side's calls are batched: its look does not count, and the other side's does."""
    speeds = [1.0, 1.3] * 12
    theirs = [uneven(number, 99e-6, 8, speeds) for number in range(3)]
    ours = [uneven(number, 104e-6, 1, speeds) for number in range(3)]
    found = log_ratios(warm_processes(ours), warm_processes(theirs))
    assert found is not None
    assert all(
        value == pytest.approx(np.log(104 / 99)) for pairs in found.values() for value in pairs
    )


def slow_at_first(number: int, n_calls: int) -> Observation:
    """Return a process of which the first calls of each block are slower, as after another one."""
    blocks = [
        Block(
            order=100 * number + turn,
            start_s=1.0 + turn,
            batch=1,
            samples_s=[9e-3, 9e-3, 9e-3, 6e-3, 6e-3, 6e-3][:n_calls],
            compiles=0,
        )
        for turn in range(8)
    ]
    return observed(number, cache_mode=WARM, also_modes=[], blocks=blocks, judgements=PROVED)


@pytest.mark.parametrize("n_calls", [3, 4, 5, 6])
def test_the_first_calls_of_a_block_weigh_as_much_in_a_longer_one(n_calls: int) -> None:
    """Equal programs of which one had blocks of six calls, the other of four, are equal."""
    ours = [slow_at_first(number, n_calls) for number in range(6)]
    theirs = [slow_at_first(number, 6) for number in range(6)]
    found = log_ratios(warm_processes(ours), warm_processes(theirs))
    assert found is not None
    assert {value for pairs in found.values() for value in pairs} == {0.0}
    assert compare_case("baseline", theirs, ours, [WARM])[0].verdict == "same"


def test_a_process_that_ran_alone_is_not_paired() -> None:
    rng = np.random.default_rng(5)
    flat = np.ones(N_BLOCKS)
    theirs = [process(rng, number, flat) for number in range(3)]
    late = [
        observed(
            one.round,
            cache_mode=WARM,
            also_modes=[],
            judgements=PROVED,
            blocks=[
                Block(
                    order=1000 + block.order,
                    start_s=block.start_s,
                    batch=1,
                    samples_s=block.samples_s,
                    compiles=0,
                )
                for block in one.blocks
            ],
        )
        for one in theirs
    ]
    assert log_ratios(warm_processes(late), warm_processes(theirs)) is None


def test_a_round_that_the_budget_cut_short_costs_the_others_nothing() -> None:
    rng = np.random.default_rng(6)
    turns = [machine(rng, N_BLOCKS) for _ in range(5)]
    cut = [*turns, np.ones(2)]
    theirs = [process(rng, number, slowness) for number, slowness in enumerate(cut)]
    ours = [process(rng, number, slowness, 1.05) for number, slowness in enumerate(cut)]
    found = compare_case("baseline", theirs, ours, [WARM])[0]
    assert found.verdict == "slower"
    assert n_rounds(found.reason) == 5


def test_a_candidate_that_is_settled_stays_paired_as_the_baseline_goes_on() -> None:
    rng = np.random.default_rng(7)
    turns = [machine(rng, N_BLOCKS) * rng.uniform(0.8, 1.2) for _ in range(13)]
    theirs = [process(rng, number, slowness) for number, slowness in enumerate(turns)]
    ours = [process(rng, number, slowness, 1.05) for number, slowness in enumerate(turns[:5])]
    found = compare_case("baseline", theirs, ours, [WARM])[0]
    assert (found.verdict, n_rounds(found.reason)) == ("slower", 5)
