"""What a program measured against itself says of benches of other lengths."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.contracts.answer import Comparison
from coldwarm.contracts.reasons import because
from coldwarm.stats.noise import _BenchTime, figure
from coldwarm.stats.ratio import compare

if TYPE_CHECKING:
    from coldwarm.contracts.bench import NoiseHorizon

HALVES = st.floats(1e-6, 3.0)
PAIRS = st.integers(5, 200)


def equal_sides(half: float, threshold: float = 0.02) -> Comparison:
    """Return a comparison whose interval has this half-width, on logarithms."""
    return Comparison(
        metric="warm.call_s",
        baseline="A",
        ratio=1.0,
        low=math.exp(-half),
        high=math.exp(half),
        threshold=threshold,
        smallest_detectable=None,
        verdict="undecided",
        reason=because("interval_across", confidence_share=0.97),
    )


def at(comparison: Comparison, pairs: int, *fits: int, most: int = 10_000) -> list[NoiseHorizon]:
    """Return what is said for these numbers of pairs, a second each."""
    spent = _BenchTime(pairs, float(pairs), 0.0, most)
    return figure(comparison, spent, [fit + 0.5 for fit in fits]).horizons


def drawn(rng: np.random.Generator, pairs: int, spread: float = 0.05) -> Comparison:
    ours, theirs = (
        {str(n): [float(v)] for n, v in enumerate(np.exp(spread * rng.standard_normal(pairs)))}
        for _ in range(2)
    )
    return compare("warm.call_s", "A", ours, theirs)


@given(HALVES, PAIRS)
def test_for_the_pairs_that_were_measured_it_is_the_interval_that_was_found(
    half: float, pairs: int
) -> None:
    (one,) = at(equal_sides(half), pairs, pairs)
    assert one.pairs == pairs
    assert one.extrapolated is None
    assert one.half_width == pytest.approx(math.expm1(half))
    assert one.detectable == pytest.approx(math.expm1(half + math.log(1.02)))
    assert one.tells_same == (half < math.log(1.02)) or half == pytest.approx(math.log(1.02))


@given(HALVES, PAIRS, st.lists(st.integers(5, 2000), min_size=2, max_size=6))
def test_more_time_never_tells_less(half: float, pairs: int, fits: list[int]) -> None:
    found = at(equal_sides(half), pairs, *sorted(fits))
    for shorter, longer in pairwise(found):
        for name in ("half_width", "detectable", "reliable"):
            assert getattr(longer, name) <= getattr(shorter, name) * (1 + 1e-9)
        assert longer.tells_same >= shorter.tells_same  # type: ignore[operator]


@given(HALVES, PAIRS, st.integers(5, 2000))
def test_what_shows_reliably_is_larger_than_what_shows_in_half_and_than_the_threshold(
    half: float, pairs: int, fit: int
) -> None:
    (one,) = at(equal_sides(half), pairs, fit)
    assert one.detectable is not None
    assert one.reliable is not None
    assert 0.02 < one.detectable < one.reliable


@given(st.floats(1e-3, 0.5), PAIRS, st.integers(5, 2000))
def test_twice_the_noise_makes_intervals_twice_as_wide(half: float, pairs: int, fit: int) -> None:
    (one,), (two,) = (at(equal_sides(width), pairs, fit) for width in (half, 2 * half))
    assert one.half_width is not None
    assert two.half_width is not None
    assert math.log1p(two.half_width) == pytest.approx(2 * math.log1p(one.half_width))


@given(HALVES, PAIRS, st.integers(5, 20_000))
def test_what_goes_beyond_the_measured_pairs_says_so(half: float, pairs: int, fit: int) -> None:
    (one,) = at(equal_sides(half), pairs, fit)
    assert one.pairs == min(fit, 10_000)
    assert one.extrapolated == (one.pairs / pairs if one.pairs > pairs else None)


@pytest.mark.parametrize("measured", [8, 20, 50])
def test_the_estimate_comes_true_in_the_middle(measured: int) -> None:
    rng = np.random.default_rng(1)
    fits = (20, 100)
    foretold = np.array(
        [[h.half_width for h in at(drawn(rng, measured), measured, *fits)] for _ in range(40)],
        dtype=float,
    )
    for column, fit in enumerate(fits):
        real = [drawn(rng, fit) for _ in range(40)]
        widths = [(math.log(one.high or 1) - math.log(one.low or 1)) / 2 for one in real]
        assert np.median(foretold[:, column]) == pytest.approx(np.mean(widths), rel=0.25)


def test_what_it_calls_reliable_is_called_so_in_19_of_20() -> None:
    rng = np.random.default_rng(2)
    n, trials = 30, 200
    said = [at(drawn(rng, n, 0.02), n, n)[0] for _ in range(20)]
    reliable = np.median([one.reliable for one in said if one.reliable is not None])
    called = 0
    for _ in range(trials):
        ours, theirs = (
            {str(i): [float(v * level)] for i, v in enumerate(np.exp(0.02 * rng.normal(size=n)))}
            for level in (1 + reliable, 1.0)
        )
        called += compare("warm.call_s", "A", ours, theirs).verdict == "slower"
    assert called / trials == pytest.approx(0.95, abs=0.05)


def test_where_no_pair_fits_it_says_so() -> None:
    spent = _BenchTime(10, 100.0, 4.0, 200)
    short, long = figure(equal_sides(0.1), spent, [10.0, 60.0]).horizons
    assert (short.pairs, short.half_width, short.reliable) == (0, None, None)
    assert short.null_reasons["half_width"] == because("few_pairs_fit", n_pairs=0, n_needed=5)
    assert long.pairs == 5


def test_a_bench_starts_no_more_pairs_than_it_may() -> None:
    (one,) = at(equal_sides(0.1), 10, 500, most=200)
    assert one.pairs == 200


def test_one_pair_says_nothing() -> None:
    alone = compare("warm.call_s", "A", {"0": [1.0]}, {"0": [1.0]})
    found = figure(alone, _BenchTime(1, 1.0, 1.0, 200))
    assert found.pair_s is None
    assert found.null_reasons == {"pair_s": because("few_pairs", n_pairs=1, n_needed=5)}
    assert all(one.half_width is None and one.null_reasons for one in found.horizons)
