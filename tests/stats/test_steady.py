"""Where a series becomes steady, for shapes that real ones have."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldwarm.contracts.reasons import because, brief
from coldwarm.stats import steady
from coldwarm.stats.steady import detect

SEEDS = st.integers(0, 10_000)


def noisy(seed: int, n: int, spread: float = 0.01, spikes: float = 0.05) -> np.ndarray:
    """Return n values around 1 ms with one-sided noise and rare spikes of up to five times."""
    rng = np.random.default_rng(seed)
    noise = 1 + spread * rng.exponential(size=n)
    return 1e-3 * noise * np.where(rng.random(n) < spikes, 1 + 4 * rng.random(n), 1)


def blocks(series: np.ndarray, length: int = 20) -> list[list[float]]:
    return [series[i : i + length].tolist() for i in range(0, len(series), length)]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([20, 60, 200, 1000]))
def test_a_constant_level_is_steady_almost_at_once(seed: int, n: int) -> None:
    found = detect(blocks(noisy(seed, n)))
    assert found.steady, found.reason
    assert found.warmup <= max(4, n // 4)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(SEEDS, st.integers(4, 60), st.floats(1.15, 20))
def test_a_step_down_is_found_where_it_is(seed: int, k: int, height: float) -> None:
    series = noisy(seed, 100, spikes=0)
    series[:k] *= height
    found = detect(blocks(series))
    assert found.steady, found.reason
    assert abs(found.warmup - k) <= 5
    assert found.reason == because("steady_after", n_warmup=found.warmup, n_samples=100)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from([30, 100, 600]), st.sampled_from([0.8, 1.25]))
def test_a_trend_is_not_steady(seed: int, n: int, end: float) -> None:
    found = detect(blocks(noisy(seed, n, spikes=0) * np.linspace(1, end, n)))
    assert not found.steady
    assert found.reason.code == "drifts"
    assert (float(str(found.reason.values["change_share"])) < 0) == (end < 1)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(SEEDS, st.floats(1e-5, 1e5))
def test_the_unit_does_not_matter(seed: int, scale: float) -> None:
    series = noisy(seed, 80)
    series[:25] *= 1.3
    one, other = detect(blocks(series)), detect(blocks(series * scale))
    assert (one.steady, one.warmup, one.reentry, brief(one.reason)) == (
        other.steady,
        other.warmup,
        other.reentry,
        brief(other.reason),
    )


def test_slow_starts_of_later_blocks_are_reentry_and_not_warmup() -> None:
    parts = blocks(noisy(3, 100, spikes=0))
    for part in parts[1:]:
        part[0] *= 2.0
        part[1] *= 1.3
    found = detect(parts)
    assert found.steady
    assert found.warmup == 0
    assert 8 <= found.reentry <= 12
    assert len(found.samples) + found.reentry + found.warmup == 100
    assert max(found.samples) < 1.2e-3


def test_a_burst_is_noise_and_a_lasting_slowdown_is_told() -> None:
    burst = noisy(4, 120, spikes=0)
    burst[90:98] *= 1.5
    assert detect(blocks(burst)).warmup <= 1
    slower = noisy(5, 120, spikes=0)
    slower[60:] *= 1.2
    found = detect(blocks(slower))
    assert found.steady
    assert found.warmup == pytest.approx(60, abs=5)
    assert found.reason.code == "steady_slower"


def test_levels_that_keep_moving_are_not_steady() -> None:
    series = noisy(6, 120, spikes=0) * np.repeat([1.0, 1.4, 1.0, 1.4, 1.0, 1.4], 20)
    found = detect(blocks(series))
    assert not found.steady
    assert found.reason.code == "level_moves"


@pytest.mark.parametrize("samples", [[], [1.0], [1.0, 1.1, 1.0]])
def test_too_few_samples_cannot_be_told(samples: list[float]) -> None:
    found = detect([samples] if samples else [])
    assert not found.steady
    assert found.reason.values["n_needed"] == 5


def test_a_clock_that_reads_zero_is_told() -> None:
    assert detect([[0.0] * 20]).reason == because("below_clock")


@settings(max_examples=30, deadline=None, derandomize=True)
@given(SEEDS)
def test_two_levels_in_turn_are_flagged(seed: int) -> None:
    rng = np.random.default_rng(seed)
    series = noisy(seed, 120, spikes=0) * np.where(rng.random(120) < 0.3, 1.25, 1.0)
    levels = detect(blocks(series)).levels
    assert levels is not None
    assert levels.upper / levels.lower == pytest.approx(1.25, abs=0.03)
    assert levels.upper_share == pytest.approx(0.3, abs=0.15)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(SEEDS, st.sampled_from(["normal", "exponential", "lognormal", "uniform"]))
def test_one_skewed_mode_is_not_flagged(seed: int, shape: str) -> None:
    rng = np.random.default_rng(seed)
    noise = getattr(rng, {"normal": "standard_normal"}.get(shape, shape))(size=200)
    assert detect(blocks(1e-3 * (1 + 0.05 * np.abs(noise)))).levels is None


def test_equal_values_are_steady_from_the_first_call_and_nothing_is_lost() -> None:
    equal = detect([[1.0] * 50])
    assert (equal.steady, equal.warmup, equal.reentry) == (True, 0, 0)
    assert equal.samples == (1.0,) * 50
    long = detect([noisy(7, 1001).tolist()])
    assert long.warmup + long.reentry + len(long.samples) == 1001


def test_a_burst_does_not_turn_the_slope_of_the_second_half() -> None:
    series = np.ones(120)
    assert detect([series.tolist()]).change == 0
    series[100:108] *= 5
    assert detect([series.tolist()]).change == pytest.approx(0, abs=1e-9)
    rising = np.exp(0.03 * np.linspace(0, 2, 120))
    assert detect([rising.tolist()]).change == pytest.approx(0.03, rel=0.02)
    assert detect([[1.0] * 4]).change is None
    assert detect([[0.0] * 10]).change is None


@pytest.mark.measures
def test_a_long_series_is_quick() -> None:
    parts = blocks(noisy(8, 4000), 400)
    detect(parts)
    start = time.process_time()
    detect(parts)
    assert time.process_time() - start < 0.1


def test_pieces_cover_the_series_and_equal_values_are_one_piece() -> None:
    assert steady._segments([1.0] * 50) == [(0, 50)]
    pieces = steady._segments(noisy(7, 1001).tolist())
    assert pieces[0][0] == 0
    assert pieces[-1][1] == 1001
