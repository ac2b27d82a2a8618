"""How long warm processes live: by what a start costs and how much their blocks scatter."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np
import pytest

from coldwarm.contracts.observation import Block
from coldwarm.runner.case_list import _BLOCK_S, BLOCKS, Options
from coldwarm.runner.rounds import _FIRST_S, _block_count, _BlockPlan
from coldwarm.runner.rounds import _Turns as Turns
from coldwarm.stats.intervals import MEDIAN_ERROR

if TYPE_CHECKING:
    from coldwarm.runner.launch import Running

CALL_S = 1e-3
OPTIONS = Options(block_s=_BLOCK_S, blocks=BLOCKS, min_runs=3)
MOST_S = BLOCKS * _BLOCK_S


class Process:
    """A process whose calls have a warm-up of so many seconds of calls."""

    def __init__(self, start_s: float, warmup_s: float, scatter: float) -> None:
        """Let it have made no call yet."""
        self.active_s, self.warmup_s, self.called_s, self.spawned_ns = start_s, warmup_s, 0.0, 0
        self.scatter, self.noise = scatter, np.random.default_rng(3)
        self.call_s, self.every, self.made = CALL_S, 0, 0

    def block(self, batch: int, seconds: float) -> Block:
        """Return a block, its calls three times slower in the warm-up."""
        samples_s: list[float] = []
        level = self.call_s * (1 + self.scatter * self.noise.standard_normal())
        while not samples_s or batch * sum(samples_s) < seconds:
            self.made += batch
            slow = 3 if self.called_s < self.warmup_s else 1
            if self.every and self.made % self.every < batch:
                slow *= 50
            samples_s.append(level * slow)
            self.called_s += batch * samples_s[-1]
        return Block(
            order=0, start_s=self.called_s, batch=batch, samples_s=samples_s, compiles=0,
            cpu_s=seconds, wall_s=seconds,
        )  # fmt: skip


def running(
    label: str, start_s: float, warmup_s: float, scatter: float, call_s: float = CALL_S
) -> Running:
    case = SimpleNamespace(id=label, batches=True)
    process = Process(start_s, warmup_s, scatter)
    process.call_s = call_s
    process.noise = np.random.default_rng(ord(label))
    second = SimpleNamespace(begin_ns=0, end_ns=round(2e9 * call_s))
    start = SimpleNamespace(phases=[second])
    slot = SimpleNamespace(case=case)
    blocks: list[Block] = []

    def block(batch: int, seconds: float, *_: object) -> Block:
        blocks.append(made.process.block(batch, seconds))
        return blocks[-1]

    made: Any = SimpleNamespace(
        slot=slot, process=process, blocks=blocks, start=start, block=block, bind=lambda _: None
    )
    return cast("Running", made)


@pytest.fixture
def turns() -> Turns:
    place = cast("Any", SimpleNamespace(options=OPTIONS))
    return Turns(place, lambda: False, lambda *_: pytest.fail("no process fails"))


def rounds(
    turns: Turns, n: int, *starts: tuple[str, float, float], scatter: float = 0.01
) -> list[list[int]]:
    """Return how many blocks each process had, by round."""
    found = []
    for _ in range(n):
        live = [running(*start, scatter) for start in starts]
        live = turns.first(live, lambda some, _: list(some))
        found.append([len(one.blocks) for one in turns.run(live, lambda some, _: list(some))])
    return found


def test_a_quick_start_makes_a_short_life_from_the_second_round_on(turns: Turns) -> None:
    first, *others = rounds(turns, 3, ("a", 0.1, 0.0), ("b", 0.14, 0.0), scatter=0.003)
    assert first == [1 + BLOCKS] * 2
    assert all(1 + 4 <= n <= BLOCKS / 2 for pair in others for n in pair), others


def test_a_dear_start_makes_a_life_as_long_as_the_first(turns: Turns) -> None:
    assert rounds(turns, 2, ("a", 9.0, 0.0), ("b", 0.1, 0.0))[1] == [1 + BLOCKS] * 2


def test_blocks_that_scatter_make_a_long_life(turns: Turns) -> None:
    found = rounds(turns, 2, ("a", 0.1, 0.0), ("b", 0.1, 0.0), scatter=0.05)
    assert found[1] == [1 + BLOCKS] * 2


def test_a_warmup_comes_on_top_for_all_of_the_round(turns: Turns) -> None:
    """GIVEN one candidate of two with a warm-up THEN the steady blocks of both overlap."""
    without = rounds(turns, 2, ("a", 0.1, 0.0), ("b", 0.1, 0.0), scatter=0.002)[1]
    turns = Turns(turns.place, turns.late, turns.failed)
    first, second = rounds(turns, 2, ("a", 0.1, 0.2), ("b", 0.1, 0.0), scatter=0.002)
    assert min(first) == 1 + BLOCKS
    assert second[0] == second[1] >= without[0] + round((0.2 - 0.05) / _BLOCK_S)


def plan(*, start_s: float = 0.16, scatter: float = 0.01, warmup_s: float = 0.0) -> _BlockPlan:
    return _BlockPlan(start_s, warmup_s, scatter)


def test_there_are_as_many_blocks_as_make_a_round_worth_its_seconds() -> None:
    """GIVEN what processes and blocks scatter by THEN no other number of blocks is cheaper."""
    start_s, scatter, processes_differ = 0.16, 0.01, 0.005
    chosen = _block_count(_BLOCK_S, BLOCKS, MOST_S, plan(start_s=start_s, scatter=scatter))

    def variance_for_its_seconds(n: int) -> float:
        of_blocks = (MEDIAN_ERROR * scatter) ** 2 / n
        return (processes_differ**2 + of_blocks) * (start_s + n * _BLOCK_S)

    best = min(range(1, 100), key=variance_for_its_seconds)
    assert chosen in {best, best + 1}


def test_there_are_always_a_few_blocks_and_never_more_than_asked_for() -> None:
    assert _block_count(0.3, BLOCKS, MOST_S, plan(scatter=0.0)) == 4
    assert _block_count(_BLOCK_S, BLOCKS, MOST_S, plan(scatter=1.0)) == BLOCKS
    none = _block_count(_BLOCK_S, BLOCKS, MOST_S, plan(warmup_s=0.0))
    assert _block_count(_BLOCK_S, BLOCKS, MOST_S, plan(warmup_s=1.0)) == none + round(
        1.0 / _BLOCK_S
    )
    longest = round((MOST_S + _FIRST_S) / _BLOCK_S)
    assert _block_count(_BLOCK_S, BLOCKS, MOST_S, plan(warmup_s=99.0)) == none + longest
    assert _block_count(0.15, 2, 0.3, None) == 2


def test_a_burst_in_the_first_call_makes_no_block_longer(turns: Turns) -> None:
    """GIVEN a first block of one call, 400 times slower THEN later blocks are as long as asked."""
    one = running("a", 0.1, 0.0, 0.01)
    process = cast("Any", one.process)
    usual = process.block
    burst = Block(order=0, start_s=0.0, batch=1, samples_s=[400 * CALL_S], compiles=0)
    taken = iter([msgspec.structs.replace(burst, cpu_s=0.4, wall_s=0.4)])
    process.block = lambda batch, seconds: next(taken, None) or usual(batch, seconds)
    turns.run(turns.first([one], lambda some, _: some), lambda some, _: some)
    assert {block.wall_s for block in one.blocks[1:]} == {_BLOCK_S}
    assert BLOCKS <= len(one.blocks[1:]) <= 1.1 * BLOCKS


@pytest.mark.parametrize(
    ("call_s", "calls"), [(1e-3, 256), (5e-3, 256), (0.02, 75), (0.1, 15), (1.0, 8), (3e-6, 256)]
)
def test_the_first_process_shows_what_calls_do_late(
    turns: Turns, call_s: float, calls: int
) -> None:
    """GIVEN calls of any length THEN 256 are made, or as many as 1.5 s have."""
    one = running("a", 0.1, 0.0, 0.0, call_s)
    turns.run(turns.first([one], lambda some, _: some), lambda some, _: some)
    made = sum(block.batch * len(block.samples_s) for block in one.blocks[1:])
    assert made >= calls


def test_calls_of_which_some_are_far_slower_are_looked_at_as_long_by_each_process(
    turns: Turns,
) -> None:
    """GIVEN every hundredth call 50 times slower THEN later processes meet as many of these."""
    found = []
    for _ in range(3):
        one = running("a", 0.1, 0.0, 0.0, 4e-3)
        cast("Any", one.process).every = 100
        turns.run(turns.first([one], lambda some, _: some), lambda some, _: some)
        found.append(sum(len(block.samples_s) for block in one.blocks))
    assert min(found) >= 256
