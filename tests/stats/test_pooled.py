"""An effect over machines: as sure as it is, and never surer than its machines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.pooling import BETWEEN, simulated
from hypothesis import given
from hypothesis import strategies as st

from coldwarm.stats.pooled import pool

EFFECTS = st.lists(st.tuples(st.floats(-1.0, 1.0), st.floats(0.001, 0.1)), min_size=3, max_size=20)


@given(EFFECTS, st.floats(-1.0, 1.0))
def test_what_is_added_to_all_is_added_to_the_middle(
    machines: list[tuple[float, float]], more: float
) -> None:
    effects, errors = (list(side) for side in zip(*machines, strict=True))
    found, moved = pool(effects, errors), pool([one + more for one in effects], errors)
    turned = pool([-one for one in effects], errors)
    assert moved.middle == pytest.approx(found.middle + more, abs=1e-9)
    assert moved.high - moved.low == pytest.approx(found.high - found.low, rel=1e-6, abs=1e-9)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-9)
    assert found.low <= found.middle <= found.high
    assert min(effects) - 1e-9 <= found.middle <= max(effects) + 1e-9
    assert found.predicted_low <= found.low + 1e-9
    assert found.predicted_high >= found.high - 1e-9
    assert 0 <= found.share <= 1


@given(st.floats(0.001, 0.1), st.integers(3, 20))
def test_equal_machines_do_not_differ(error: float, n: int) -> None:
    found = pool([0.2] * n, [error] * n)
    assert (found.between, found.share) == (0.0, 0.0)
    half = (found.high - found.low) / 2
    assert half >= error / math.sqrt(n), "no surer than their errors"


def test_it_is_what_the_formulas_give() -> None:
    effects, errors = np.array([0.1, 0.3, 0.35, 0.65]), np.array([0.1, 0.15, 0.1, 0.2])
    fixed = 1 / errors**2
    scatter = float(np.sum(fixed * (effects - np.average(effects, weights=fixed)) ** 2))
    between = (scatter - 3) / (fixed.sum() - (fixed**2).sum() / fixed.sum())
    weights = 1 / (errors**2 + between)
    middle = np.average(effects, weights=weights)
    refined = np.sum(weights * (effects - middle) ** 2) / 3
    half = 3.182446 * math.sqrt(max(1.0, refined) / weights.sum())
    found = pool(effects.tolist(), errors.tolist())
    assert found.between == pytest.approx(math.sqrt(between))
    assert (found.middle, found.high) == pytest.approx((middle, middle + half), rel=1e-5)
    assert found.share == pytest.approx(1 - 3 / scatter)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_machines_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="needs 3"):
        pool([0.1] * n, [0.1] * n)


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("n", [3, 8, 20])
def test_intervals_hold_what_they_say(n: int, between: float, *, uneven: bool) -> None:
    found = simulated(n, between, uneven=uneven, runs=800)
    assert found["held"] >= 0.93 - 0.02
