"""How long warm processes live: as their starts and their warm-up cost, in a round alike."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from coldwarm.contracts.observation import Block
from coldwarm.runner import launch, translate
from coldwarm.runner.schedule.batches import BLOCK_S, BLOCKS, FEWEST_BLOCKS, block_count, life_s
from coldwarm.runner.schedule.options import Options
from coldwarm.runner.turns import Turns

if TYPE_CHECKING:
    from coldwarm.runner.running import Place, Running

CALL_S = 1e-3
OPTIONS = Options(block_s=BLOCK_S, blocks=BLOCKS, min_runs=3)
MOST_S = BLOCKS * BLOCK_S


class Process:
    """A process whose calls have a warm-up of so many seconds of calls."""

    def __init__(self, start_s: float, warmup_s: float) -> None:
        """Let it have made no call yet."""
        self.active_s, self.warmup_s, self.called_s, self.spawned_ns = start_s, warmup_s, 0.0, 0

    def block(self, batch: int, seconds: float) -> Block:
        """Return a block, its calls three times slower in the warm-up."""
        samples_s: list[float] = []
        while not samples_s or sum(samples_s) < seconds:
            wavering = 1 + 0.01 * (len(samples_s) % 3)
            samples_s.append(CALL_S * wavering * (3 if self.called_s < self.warmup_s else 1))
            self.called_s += samples_s[-1]
        return Block(
            order=0, start_s=self.called_s, batch=batch, samples_s=samples_s, compiles=0,
            cpu_s=seconds, wall_s=seconds,
        )  # fmt: skip


def running(label: str, start_s: float, warmup_s: float = 0.0) -> Running:
    case = SimpleNamespace(id=label, batches=True)
    process = Process(start_s, warmup_s)
    made = SimpleNamespace(slot=SimpleNamespace(case=case), process=process, blocks=[])
    return cast("Running", made)


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    def block(_place: object, one: Any, batch: int, seconds: float, _limit: int) -> Any:
        return one.process.block(batch, seconds), 0

    monkeypatch.setattr(launch, "block", block)
    monkeypatch.setattr(launch, "bind", lambda *_: None)
    monkeypatch.setattr(translate, "block", lambda reply, *_: reply)
    place = cast("Place", SimpleNamespace(options=OPTIONS))
    return Turns(place, lambda: False, lambda *_: pytest.fail("no process fails"))


def rounds(turns: Turns, n: int, *starts: tuple[str, float, float]) -> list[list[int]]:
    """Return how many blocks each process had, by round."""
    found = []
    for _ in range(n):
        live = [running(*start) for start in starts]
        live = turns.first(live, lambda some, _: list(some))
        found.append([len(one.blocks) for one in turns.run(live, lambda some, _: list(some))])
    return found


def test_a_quick_start_makes_a_short_life_from_the_second_round_on(turns: Turns) -> None:
    first, *others = rounds(turns, 3, ("a", 0.1, 0.0), ("b", 0.14, 0.0))
    assert first == [1 + BLOCKS] * 2
    assert others == [[1 + 6] * 2] * 2, "0.12 s in blocks of 0.02 s"


def test_a_dear_start_makes_a_life_as_long_as_the_first(turns: Turns) -> None:
    assert rounds(turns, 2, ("a", 9.0, 0.0), ("b", 0.1, 0.0))[1] == [1 + BLOCKS] * 2


def test_a_warmup_comes_on_top_for_all_of_the_round(turns: Turns) -> None:
    """GIVEN one candidate of two with a warm-up THEN the steady blocks of both overlap."""
    without = rounds(turns, 2, ("a", 0.1, 0.0), ("b", 0.1, 0.0))[1]
    turns = Turns(turns.place, turns.late, turns.failed)
    first, second = rounds(turns, 2, ("a", 0.1, 0.2), ("b", 0.1, 0.0))
    assert first == [1 + BLOCKS] * 2
    assert second[0] == second[1] >= without[0] + round((0.2 - 0.05) / BLOCK_S)


@pytest.mark.parametrize(
    ("start_s", "warmup_s", "seconds"),
    [(0.1, None, MOST_S), (0.1, 0.0, 0.1), (0.1, 0.15, 0.25), (5.0, 0.0, MOST_S)],
)
def test_a_life_is_as_long_as_a_start_and_the_warmup(
    start_s: float, warmup_s: float | None, seconds: float
) -> None:
    assert life_s(start_s, MOST_S, warmup_s) == pytest.approx(seconds)


def test_there_are_always_a_few_blocks_and_never_more_than_asked_for() -> None:
    assert block_count(0.3, BLOCKS, 0.1) == FEWEST_BLOCKS
    assert block_count(0.02, BLOCKS, 100.0) == BLOCKS
    assert block_count(0.15, 2, 0.3) == 2
