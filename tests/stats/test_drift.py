"""Whether the warm calls of a case are steady: simulated processes, the process as the unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.stats.test_blocks import PROVED
from tests.stats.test_summarise import WARM, observed

from coldwarm.contracts.observation import Block
from coldwarm.stats import steady, summarise
from coldwarm.stats.selection import warm_processes
from coldwarm.stats.summarise import steady_state

if TYPE_CHECKING:
    from coldwarm.contracts.result import SteadyState
    from coldwarm.stats.selection import WarmProcess

LENGTH = 120
BLOCK = 15
TIME = np.linspace(0.0, 1.0, LENGTH)
FLAT = np.ones(LENGTH)


def wandering(rng: np.random.Generator, after: float, spread: float) -> np.ndarray:
    """Return noise of one process in which each sample depends on the last, by ``after``."""
    shocks = rng.exponential(size=LENGTH + 50) - 1
    level = np.zeros(LENGTH + 50)
    for place in range(1, len(level)):
        level[place] = after * level[place - 1] + np.sqrt(1 - after**2) * shocks[place]
    return np.asarray(np.exp(spread * level[50:]))


def processes(
    seed: int, shape: np.ndarray, *, n: int = 8, after: float = 0.5, spread: float = 0.01
) -> list[WarmProcess]:
    rng = np.random.default_rng([seed, n])
    seen = []
    for number in range(n):
        level = 1e-3 * np.exp(0.01 * rng.standard_normal())
        series = level * shape * wandering(rng, after, spread)
        blocks = [
            Block(
                order=1000 * number + start,
                start_s=1.0 + start,
                batch=1,
                samples_s=series[start : start + BLOCK].tolist(),
                compiles=0,
            )
            for start in range(0, LENGTH, BLOCK)
        ]
        seen.append(
            observed(number, cache_mode=WARM, also_modes=[], blocks=blocks, judgements=PROVED)
        )
    return warm_processes(seen)


def judged(
    seed: int, shape: np.ndarray, *, n: int = 8, after: float = 0.5, spread: float = 0.01
) -> SteadyState:
    return steady_state(processes(seed, shape, n=n, after=after, spread=spread))


def flagged(shape: np.ndarray, n_trials: int, *, n: int = 8) -> float:
    found = [judged(seed, shape, n=n) for seed in range(n_trials)]
    return sum(not one.steady for one in found) / n_trials


@pytest.mark.slow
@pytest.mark.parametrize(("after", "spread"), [(0.0, 0.01), (0.9, 0.01), (0.9, 0.03), (0.97, 0.03)])
def test_flat_series_are_hardly_ever_flagged_however_much_samples_depend_on_each_other(
    after: float, spread: float
) -> None:
    made = processes(2, FLAT, n=400, after=after, spread=spread)
    rng = np.random.default_rng(7)
    for n in (3, 5, 8, 20):
        cases = [rng.choice(len(made), n, replace=False) for _ in range(400)]
        found = [steady_state([made[place] for place in case]) for case in cases]
        assert sum(not one.steady for one in found) <= 0.05 * len(found), n


def test_more_processes_do_not_make_a_case_less_steady() -> None:
    """GIVEN processes of which many are restless THEN the case is steady, with 5 and with 15."""
    for n in (5, 15):
        found = judged(1, FLAT, n=n, after=0.9, spread=0.03)
        assert found.n_steady < found.n_processes
        assert found.steady, found.reason


@pytest.mark.slow
@pytest.mark.parametrize("change", [0.04, -0.04])
def test_a_drift_of_four_percent_is_told_from_eight_processes(change: float) -> None:
    assert flagged(1 + change * TIME, 40) >= 0.95


@pytest.mark.parametrize("change", [0.04, -0.04])
def test_a_drift_is_told_with_its_size(change: float) -> None:
    found = judged(3, 1 + change * TIME)
    assert found.reason.code == "drifts_across"
    assert found.drift_share == pytest.approx(change / 2, abs=0.007)
    low, share, high = found.drift_low, found.drift_share, found.drift_high
    assert low is not None
    assert share is not None
    assert high is not None
    assert low < share < high


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        np.where(TIME < 0.45, 3.0, 1.0),
        np.where(TIME < 0.45, 1.1, 1.0),
        np.where(TIME < 0.5, 1.1 - 0.2 * TIME, 1.0),
        1 + 0.5 * np.exp(-12 * TIME),
    ],
    ids=["step", "small_step", "slope", "exponential"],
)
def test_a_warmup_that_has_settled_by_half_time_is_no_drift(shape: np.ndarray) -> None:
    assert flagged(shape, 30) == 0
    assert flagged(shape, 30, n=3) == 0


def test_levels_that_jump_in_every_process_are_not_steady() -> None:
    jumping = np.repeat([1.0, 1.6, 1.0, 1.6, 1.0, 1.6], LENGTH // 6)
    found = judged(4, jumping, after=0.0, spread=0.003)
    assert (found.steady, found.n_steady) == (False, 0)
    assert found.reason.parts[0].code == "unsteady"


def test_one_or_two_processes_speak_for_themselves() -> None:
    drifting = 1 + 0.3 * TIME
    alone = judged(5, drifting, n=1)
    assert (alone.steady, alone.drift_share) == (False, None)
    assert [part.code for part in alone.reason.parts] == ["unsteady", "drifts"]
    assert judged(5, FLAT, n=2).steady


def test_no_process_is_not_steady() -> None:
    assert steady_state([]).reason.code == "no_valid_process"


def test_what_one_process_in_five_does_is_no_drift_of_the_case() -> None:
    drifting, usual = processes(6, 1 + 0.3 * TIME, n=1), processes(7, FLAT, n=4)
    found = steady_state([*drifting, *usual])
    assert found.drift_share is not None
    assert found.reason.code != "drifts_across"
    assert found.steady


@pytest.mark.parametrize("n", [9, 10, 11, 12, 199, 200, 201])
def test_a_drift_ends_at_no_number_of_processes(n: int) -> None:
    assert judged(8, 1 + 0.2 * TIME, n=n).reason.code == "drifts_across"


def test_a_burst_does_not_turn_the_slope() -> None:
    series = np.ones(60)
    assert steady._slope(series) == 0
    series[50:58] *= 5
    assert steady._slope(series) == pytest.approx(0, abs=1e-9)
    assert steady._slope(np.exp(0.03 * np.linspace(0, 1, 60))) == pytest.approx(0.03)
    assert steady._slope(series[:4]) is None
    assert steady._slope(np.zeros(10)) is None


def test_a_drift_that_one_process_does_not_tell_is_unknown() -> None:
    assert summarise._across([0.3, 0.3, None]) is None
    found = summarise._across([0.3, 0.001, -0.002, 0.0, 0.001])
    assert found is not None
    assert not found.matters
