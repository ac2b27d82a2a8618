"""The timed loops: what is called, how often, and what each sample holds."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import pytest

from coldwarm.worker.loop import make_loop


class Clock:
    """A clock that a call moves by 10 ns, and reading it by 1 ns."""

    def __init__(self) -> None:
        """Start at 0."""
        self.now_ns = 0

    def __call__(self) -> int:
        """Return the time."""
        self.now_ns += 1
        return self.now_ns


def run(
    n_arguments: int, *, synchronous: bool, batch: int, limit: int = 5, budget_ns: int = 10**9
) -> tuple[list[int], list[tuple[Any, ...]], list[Any]]:
    clock = Clock()
    calls: list[tuple[Any, ...]] = []
    synced: list[Any] = []

    def function(*arguments: int) -> tuple[int, ...]:
        clock.now_ns += 10
        calls.append(arguments)
        return arguments

    loop = make_loop(n_arguments, synchronous=synchronous)
    arguments = tuple(range(n_arguments))
    samples = loop(clock, repeat, function, synced.append, arguments, batch, limit, budget_ns)
    return samples, calls, synced


@pytest.mark.parametrize("n_arguments", range(5))
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("synchronous", [True, False])
def test_each_sample_holds_a_batch_of_calls(
    n_arguments: int,
    batch: int,
    synchronous: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    samples, calls, synced = run(n_arguments, synchronous=synchronous, batch=batch)
    assert samples == [10 * batch + 1] * 5
    assert calls == [tuple(range(n_arguments))] * (5 * batch)
    assert synced == ([] if synchronous else calls), "each output is waited for, in its turn"


@pytest.mark.parametrize("batch", [1, 4])
def test_the_budget_ends_a_block_and_one_sample_is_always_taken(batch: int) -> None:
    assert len(run(1, synchronous=True, batch=batch, budget_ns=0)[0]) == 1
    few = run(1, synchronous=True, batch=batch, limit=1000, budget_ns=200)[0]
    assert 200 // (10 * batch + 2) <= len(few) <= 200 // (10 * batch + 2) + 1
